//! The path of a socket file: the kernel takes a short one only.

use std::path::PathBuf;

/// Longest path of a socket file on Linux, in bytes.
const PATH_MAX: usize = 107;

/// The path, if a socket file can have it.
///
/// # Errors
/// When it is too long; the message says so.
pub fn fits(path: PathBuf) -> Result<PathBuf, String> {
    let length = path.as_os_str().len();
    if length > PATH_MAX {
        return Err(format!(
            "the path {} has {length} bytes; a socket takes {PATH_MAX}",
            path.display()
        ));
    }
    Ok(path)
}
