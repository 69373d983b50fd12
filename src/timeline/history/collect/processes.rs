//! Processes: who was started, who ended, what the kernel told of them.

use super::{Collector, Stamp};
use crate::timeline::event::Event;
use crate::timeline::history::actors::{ChildSignal, Exited, Life};

impl Collector<'_> {
    pub(super) fn process(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::WorkerStarted {
                worker,
                pid,
                start_ticks,
            } => {
                let index = self.worker(&worker);
                let lives = &mut self.history.workers[index].lives;
                lives.push(Life::begun(seq, at, (pid, start_ticks)));
            }
            Event::ServerStarted {
                server,
                pid,
                start_ticks,
            } => {
                let lives = self.history.servers.entry(server).or_default();
                lives.push(Life::begun(seq, at, (pid, start_ticks)));
            }
            Event::WorkerExited { .. } | Event::ServerExited { .. } => self.ended(stamp, event),
            Event::ChildSignal { worker, change } => {
                let index = self.worker(&worker);
                let signals = &mut self.history.workers[index].signals;
                signals.push(ChildSignal { seq, at, change });
            }
            _other => {}
        }
    }

    fn ended(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        let (lives, process, code, signal) = match event {
            Event::WorkerExited {
                worker,
                code,
                signal,
            } => {
                let index = self.worker(&worker);
                (&mut self.history.workers[index].lives, None, code, signal)
            }
            Event::ServerExited {
                server,
                pid,
                code,
                signal,
            } => {
                let lives = self.history.servers.entry(server).or_default();
                (lives, Some(pid), code, signal)
            }
            _other => return,
        };
        let mut lives = lives.iter_mut();
        let open = |life: &&mut Life| {
            life.exit.is_none() && process.is_none_or(|process| process == life.pid)
        };
        match lives.find(open) {
            Some(life) => {
                life.exit = Some(Exited {
                    seq,
                    at,
                    code,
                    signal,
                });
            }
            None => self.defect(vec![seq], format!("line {seq}: nobody was there to exit")),
        }
    }
}
