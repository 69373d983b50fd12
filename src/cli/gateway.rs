//! `lockdrill gateway`

use crate::exit::Exit;
use crate::say;
use crate::store::http::gateway;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where it listens.
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Where the service behind it keeps its data.
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs the subcommand; it ends when it is killed.
pub(super) fn exec(args: &Args) -> Exit {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served =
        runtime.and_then(|runtime| runtime.block_on(gateway::serve(args.listen, &args.folder)));
    match served {
        Ok(()) => Exit::Ok,
        Err(error) => {
            // The lab reads it in the log.
            say::err(format_args!("gateway on {}: {error}", args.listen));
            Exit::Environment
        }
    }
}
