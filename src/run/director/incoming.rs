//! Everything that can reach the director comes through one channel, so that one loop owns the
//! order of events.

use crate::env::edge::EdgeEvent;
use crate::env::guard::ChildEvent;
use crate::env::seen::Observed;
use crate::worker::WorkerLine;
use std::os::fd::OwnedFd;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// One thing that reached the director.
#[derive(Debug)]
pub enum Incoming {
    /// A line of a worker's event pipe.
    Worker(String, WorkerLine),
    /// A worker's event pipe ended: every line it wrote has been read.
    WorkerClosed(String),
    /// A worker wrote something that is no event line.
    WorkerGarbage(String, String),
    /// The observer of a server.
    Observed(String, Observed),
    /// The kernel's word on a child.
    Child(ChildEvent),
    /// The host kept us from running: from, to, ns of `CLOCK_MONOTONIC`.
    Stall(u64, u64),
    /// Something happened to a chosen request or reply.
    Edge(EdgeEvent),
    /// The user asked to stop.
    Interrupt,
}

/// What is told there reaches the director as this server's observer's.
pub fn observed(server: &str, out: UnboundedSender<Incoming>) -> UnboundedSender<Observed> {
    let (sender, mut receiver) = unbounded_channel();
    let server = server.to_owned();
    tokio::spawn(async move {
        while let Some(told) = receiver.recv().await {
            if out.send(Incoming::Observed(server.clone(), told)).is_err() {
                return;
            }
        }
    });
    sender
}

/// Reads a worker's event pipe to its end.
///
/// # Errors
/// When the descriptor is no pipe.
pub fn worker_lines(
    worker: String,
    pipe: OwnedFd,
    out: UnboundedSender<Incoming>,
) -> std::io::Result<()> {
    let receiver = pipe::Receiver::from_owned_fd(pipe)?;
    tokio::spawn(async move {
        let mut lines = BufReader::new(receiver).lines();
        // A read error ends the pipe as its end does: the worker is gone.
        while let Ok(Some(text)) = lines.next_line().await {
            let incoming = match serde_json::from_str(&text) {
                Ok(line) => Incoming::Worker(worker.clone(), line),
                Err(_) => Incoming::WorkerGarbage(worker.clone(), text),
            };
            if out.send(incoming).is_err() {
                return;
            }
        }
        let _ = out.send(Incoming::WorkerClosed(worker));
    });
    Ok(())
}

/// Turns SIGINT and SIGTERM into [`Incoming::Interrupt`].
///
/// # Errors
/// When the handlers cannot be installed.
pub fn interrupts(out: UnboundedSender<Incoming>) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if out.send(Incoming::Interrupt).is_err() {
                return;
            }
        }
    });
    Ok(())
}
