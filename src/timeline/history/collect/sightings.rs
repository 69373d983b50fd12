//! What the lab, the observers and the store saw: effects, clocks, the store's log, the host.

use super::{Collector, RawEffect, Stamp};
use crate::timeline::event::Event;
use crate::timeline::history::clock_map::Sample;
use crate::timeline::history::derive::GapLine;
use crate::timeline::history::roles::RoleSeen;
use crate::timeline::history::seen::{
    FinalKey, FinalValue, Impatience, Observer, Publication, Stall, StoreAttempt,
};
use crate::timeline::history::time::Span;

impl Collector<'_> {
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
            Event::ServerRole {
                server,
                primary,
                links,
                since,
            } => self
                .history
                .roles
                .entry(server)
                .or_default()
                .push(RoleSeen {
                    seq,
                    at,
                    since,
                    primary,
                    links,
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
                job,
                accepted,
                done_before,
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
                job,
                accepted,
                done_before,
                highest,
                applied,
            }),
            Event::FinalValue {
                resource,
                write,
                highest,
                jobs,
            } => self.history.final_values.push(FinalValue {
                seq,
                resource,
                write,
                highest,
                jobs,
            }),
            _other => {}
        }
    }

    pub(super) fn queue(&mut self, stamp: &Stamp, event: Event) {
        let seq = stamp.seq;
        match event {
            Event::Published {
                n,
                message,
                publish,
                known_before,
                applied,
            } => self.history.published.push(Publication {
                seq,
                n,
                message,
                publish,
                worker: None,
                known_before,
                applied,
            }),
            Event::FinalQueue { published } => self.history.queue_read = Some((seq, published)),
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
