//! Faults: onsets, heals, and what was seen of them.

use super::{Collector, Stamp};
use crate::timeline::event::Event;
use crate::timeline::history::actors::{Asked, FrameSeen, Healed, Look, Onset, Tried};

impl Collector<'_> {
    pub(super) fn fault(&mut self, stamp: &Stamp, event: Event) {
        let seq = stamp.seq;
        let name = match &event {
            Event::FaultOnset { fault, .. }
            | Event::FaultHeal { fault, .. }
            | Event::FaultNotInjected { fault, .. }
            | Event::ServerAsked { fault, .. }
            | Event::Probe { fault, .. }
            | Event::Frame { fault, .. }
            | Event::Look { fault, .. } => fault,
            _other => return,
        };
        let Some(index) = self.faults.get(name).copied() else {
            self.defect(
                vec![seq],
                format!("line {seq}: the plan has no fault `{name}`"),
            );
            return;
        };
        self.fault_line(stamp, index, event);
    }

    fn fault_line(&mut self, stamp: &Stamp, index: usize, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::FaultOnset { .. } => self.onset(seq, index, event),
            Event::FaultHeal {
                cause,
                began,
                removed,
                ..
            } => self.history.faults[index].heals.push(Healed {
                seq,
                cause,
                began,
                removed,
            }),
            Event::FaultNotInjected { why, .. } => {
                self.history.faults[index].not_injected = Some((seq, why));
            }
            Event::Probe { .. } | Event::Frame { .. } => self.tried(stamp, index, event),
            Event::ServerAsked {
                server,
                command,
                answer,
                ok,
                ..
            } => self.history.faults[index].asked.push(Asked {
                seq,
                at,
                server,
                command,
                answer,
                ok,
            }),
            Event::Look {
                moment, threads, ..
            } => self.history.faults[index].looks.push(Look {
                seq,
                at,
                moment,
                threads,
            }),
            _other => {}
        }
    }

    fn tried(&mut self, stamp: &Stamp, index: usize, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        let window = &mut self.history.faults[index];
        match event {
            Event::Probe {
                moment,
                edge,
                hit,
                fresh,
                old,
                ..
            } => window.probes.push(Tried {
                seq,
                at,
                moment,
                edge,
                hit,
                fresh,
                old,
            }),
            Event::Frame {
                edge, what, reply, ..
            } => window.frames.push(FrameSeen {
                seq,
                at,
                edge,
                what,
                reply,
            }),
            _other => {}
        }
    }

    fn onset(&mut self, seq: u64, index: usize, event: Event) {
        let Event::FaultOnset {
            worker,
            server,
            grant,
            trigger,
            began,
            effective,
            ..
        } = event
        else {
            return;
        };
        let worker = worker.map(|name| self.worker(&name));
        let window = &mut self.history.faults[index];
        if window.onsets.is_empty() {
            window.worker = worker;
            window.grant = grant;
            window.server = server;
        }
        window.onsets.push(Onset {
            seq,
            began,
            effective,
            trigger,
        });
    }
}
