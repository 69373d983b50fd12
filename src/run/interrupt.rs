//! Ctrl-C: the first one heals, records what there is and reports it; the second one ends the
//! arms at once.

use super::arm::Running;
use crate::say;
use nix::sys::signal::{SigSet, Signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether, and how often, the user has interrupted.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<AtomicUsize>);

impl Interrupts {
    /// The user wants to stop.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Takes over SIGINT, SIGTERM and SIGHUP of this process. To be called before any other thread is
    /// started: threads inherit the mask. (Children do not: `Command` clears it.)
    ///
    /// # Errors
    /// When the mask cannot be set or the thread cannot be started.
    pub fn watch(running: Arc<Running>) -> std::io::Result<Self> {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGINT);
        signals.add(Signal::SIGTERM);
        // The terminal is gone; the drill is to end as well as by Ctrl-C.
        signals.add(Signal::SIGHUP);
        signals.thread_block()?;
        let interrupts = Interrupts::default();
        let counter = interrupts.clone();
        std::thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || {
                while signals.wait().is_ok() {
                    let before = counter.0.fetch_add(1, Ordering::SeqCst);
                    say::err(format_args!("{}", told(before)));
                    running.interrupt(before > 0);
                }
            })?;
        Ok(interrupts)
    }
}

const fn told(before: usize) -> &'static str {
    if before == 0 {
        "interrupted: healing and collecting what there is (once more to end at once)"
    } else {
        "interrupted again: ending the arms at once"
    }
}
