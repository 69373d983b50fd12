//! The `lockdrill` command: everything is in the library; this turns its answer into an exit code.
fn main() -> std::process::ExitCode {
    lockdrill::cli::main()
}
