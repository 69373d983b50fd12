//! report
pub fn write_all(_d: &std::path::Path, _r: &crate::verdict::DrillResult) -> std::io::Result<()> {
    Ok(())
}
pub mod junit {
    pub fn write(_d: &std::path::Path, _r: &[crate::verdict::DrillResult]) -> std::io::Result<()> {
        Ok(())
    }
}
