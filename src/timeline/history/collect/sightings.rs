//! What the lab, the observers and the store saw: faults, effects, clocks, the store's log, the host.

use super::{Collector, RawEffect, Stamp};
use crate::timeline::event::Event;
use crate::timeline::history::actors::{Asked, FrameSeen, Healed, Look, Onset, Tried};
use crate::timeline::history::clock_map::Sample;
use crate::timeline::history::derive::GapLine;
use crate::timeline::history::seen::{
    FinalKey, FinalValue, Impatience, Observer, Stall, StoreAttempt,
};
use crate::timeline::history::time::Span;

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
                command,
                answer,
                ok,
                ..
            } => self.history.faults[index].asked.push(Asked {
                seq,
                at,
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

    pub(super) fn server(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::ObserverSynced { server } => {
                self.observer(server).synced.push((seq, at));
            }
            Event::ObserverGap { server, why } => {
                self.gap_lines.push(GapLine {
                    seq,
                    at,
                    server,
                    why,
                });
            }
            Event::Effect {
                server,
                pos,
                key,
                change,
            } => self.effects_of(server).push(RawEffect {
                seq,
                at,
                pos,
                key,
                change,
            }),
            Event::ClockSample {
                server,
                before,
                after,
                server_us,
            } => self.samples.entry(server).or_default().push(Sample {
                seq,
                before,
                after,
                server_us,
            }),
            Event::FinalKey {
                server,
                key,
                owner,
                remaining_ms,
                exists,
            } => self.history.final_keys.push(FinalKey {
                seq,
                at,
                server,
                key,
                owner,
                remaining_ms,
                exists,
            }),
            _other => {}
        }
    }

    fn effects_of(&mut self, server: String) -> &mut Vec<RawEffect> {
        self.effects.entry(server).or_default()
    }

    fn observer(&mut self, server: String) -> &mut Observer {
        self.history.observers.entry(server).or_default()
    }

    pub(super) fn store(&mut self, stamp: &Stamp, event: Event) {
        let seq = stamp.seq;
        match event {
            Event::StoreAttempt {
                n,
                resource,
                kind,
                write,
                based_on,
                grant,
                fencing,
                accepted,
                highest,
                applied,
            } => self.history.store.push(StoreAttempt {
                seq,
                n,
                resource,
                kind,
                write,
                worker: None,
                operation: None,
                based_on,
                grant,
                fencing,
                accepted,
                highest,
                applied,
            }),
            Event::FinalValue {
                resource,
                write,
                highest,
            } => self.history.final_values.push(FinalValue {
                seq,
                resource,
                write,
                highest,
            }),
            _other => {}
        }
    }

    pub(super) fn host(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::PatienceEnded { awaited, by } => self.history.impatience.push(Impatience {
                seq,
                at,
                awaited,
                by,
            }),
            Event::Stall { from, to } => {
                if let Some(span) = Span::new(from, to) {
                    self.history.stalls.push(Stall { seq, span });
                }
            }
            Event::Sweep { left } => self.history.sweep = Some((seq, left)),
            _other => {}
        }
    }
}
