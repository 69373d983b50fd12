//! Proof that edges were injured as a fault says, no others were, and that they were mended.
//!
//! Shown by a stranger who tries them: on a connection of its own, and on one from before the
//! onset, of which the server itself tells whether it executed what was sent on it; and once more
//! just before the heal. A fault that
//! chooses one request is shown by what became of that request.
//!
//! What is called hit must be the target's, of every worker that it was to hit, and tried while
//! the fault was in effect: the edge of somebody else, or another time, shows nothing.

use super::Proof;
use crate::env::action::Harm;
use crate::env::edge::Way;
use crate::plan::{FaultPlan, Target};
use crate::timeline::event::{FrameFate, Seen};
use crate::timeline::history::{FaultWindow, FrameSeen, History, NEVER, Span, Tried};

/// One fault of edges, and what is to show it.
pub(super) struct Case<'a> {
    name: &'a str,
    window: &'a FaultWindow,
    /// The workers whose edges it is to hit.
    struck: Vec<&'a str>,
}

impl<'a> Case<'a> {
    pub(super) fn new(history: &'a History, plan: &'a FaultPlan, window: &'a FaultWindow) -> Self {
        let began = window.onsets.first().map_or(0, |onset| onset.began);
        let workers = history.workers.iter().enumerate();
        let struck = workers.filter(|(index, worker)| match plan.target {
            Target::Everyone => worker.lives.iter().any(|life| life.started <= began),
            Target::Holder | Target::Worker(_) | Target::Server(_) | Target::Member(_) => {
                window.worker == Some(*index)
            }
        });
        Case {
            name: &plan.name,
            window,
            struck: struck.map(|(_, worker)| worker.name.as_str()).collect(),
        }
    }

    /// Onset and effect.
    pub(super) fn injured(&self, harm: Harm, proof: &mut Proof) {
        if harm.chooses() {
            return self.chosen(harm, proof);
        }
        let name = self.name;
        let (new, old) = expected(harm);
        for tried in self.tried("cut", self.window.certain(), proof) {
            let edge = &tried.edge;
            if !tried.hit {
                proof.require(tried.fresh == Seen::Answered, || {
                    let fresh = tried.fresh;
                    format!("{name}: {edge}, which it must leave alone, was {fresh:?}")
                });
                continue;
            }
            proof.require(new.contains(&tried.fresh), || {
                format!("{name}: a new connection on {edge} was {:?}", tried.fresh)
            });
            proof.require(tried.old.is_some_and(|seen| old.contains(&seen)), || {
                format!("{name}: an old connection on {edge} was {:?}", tried.old)
            });
        }
        self.no_way_past(proof);
        // An injury that somebody took away meanwhile was not there.
        for tried in self.tried("heal", self.window.certain(), proof) {
            proof.require(!tried.hit || new.contains(&tried.fresh), || {
                let (edge, fresh) = (&tried.edge, tried.fresh);
                format!("{name}: just before the heal a new connection on {edge} was {fresh:?}")
            });
        }
    }

    /// A worker that reaches the server past its edge is not met by what is done to the edge.
    fn no_way_past(&self, proof: &mut Proof) {
        let name = self.name;
        for one in self.window.probes.iter().filter(|one| one.moment == "past") {
            proof.events.push(one.seq);
            proof.require(one.fresh == Seen::NeverArrived, || {
                format!(
                    "{name}: it is not shown that there was no way past {}",
                    one.edge
                )
            });
        }
    }

    /// The chosen frame was held or dropped while the fault was in effect; what was held was sent
    /// on by the heal, and not before.
    fn chosen(&self, harm: Harm, proof: &mut Proof) {
        let name = self.name;
        let (what, reply) = match harm {
            Harm::HoldRequest => (FrameFate::Held, false),
            Harm::HoldReply => (FrameFate::Held, true),
            Harm::LoseRequest => (FrameFate::Dropped, false),
            Harm::LoseReply => (FrameFate::Dropped, true),
            Harm::Silence(_) | Harm::Reset | Harm::Stall => return,
        };
        let (span, noun) = (
            self.window.certain(),
            if reply { "reply" } else { "request" },
        );
        let frames = || self.window.frames.iter().filter(|f| f.reply == reply);
        let in_effect = |frame: &&FrameSeen| span.is_some_and(|span| span.contains(frame.at));
        let own = |frame: &&FrameSeen| self.struck.contains(&worker(&frame.edge));
        let found = frames()
            .filter(in_effect)
            .filter(own)
            .find(|frame| frame.what == what);
        proof.events.extend(found.map(|frame| frame.seq));
        let refused = frames().find(|frame| frame.what == FrameFate::Refused);
        proof.require(found.is_some(), || match refused {
            Some(_) => {
                format!("{name}: the {noun} that it chose was an error, and no other came by")
            }
            None => {
                format!("{name}: the {noun} that it chose never came by while it was in effect")
            }
        });
        if let (Some(refused), false) = (refused, reply) {
            proof.events.push(refused.seq);
            proof.lacks(format!(
                "{name}: the server refused the {noun} that it chose: what was chosen was never done"
            ));
        }
        let (Some(held), FrameFate::Held) = (found, what) else {
            return;
        };
        let heal = self.window.heals.first().map_or(NEVER, |heal| heal.began);
        let sent = frames().find(|frame| {
            frame.what == FrameFate::Delivered && frame.edge == held.edge && frame.at >= held.at
        });
        proof.events.extend(sent.map(|frame| frame.seq));
        proof.require(sent.is_some_and(|frame| frame.at >= heal), || {
            format!("{name}: the {noun} that it held was never sent on by its heal")
        });
    }

    /// Every edge that was hit answered a stranger after the heal.
    pub(super) fn mended(&self, proof: &mut Proof) {
        let name = self.name;
        let heal = self.window.heals.first();
        let after = heal.and_then(|heal| Span::new(heal.began, heal.removed?.saturating_add(1)));
        for tried in self.tried("healed", after, proof) {
            proof.require(tried.fresh == Seen::Answered, || {
                format!("{name}: {} did not answer after the heal", tried.edge)
            });
        }
    }

    /// What a stranger saw at a moment: the edges of the target, each of them, and in its time.
    fn tried(&self, moment: &str, when: Option<Span>, proof: &mut Proof) -> Vec<&'a Tried> {
        let name = self.name;
        let probes = self.window.probes.iter();
        let tried: Vec<&Tried> = probes.filter(|tried| tried.moment == moment).collect();
        for one in &tried {
            let edge = &one.edge;
            proof.events.push(one.seq);
            proof.require(when.is_some_and(|when| when.contains(one.at)), || {
                format!("{name}: {edge} was not tried at its time as `{moment}`")
            });
            proof.require(!one.hit || self.struck.contains(&worker(edge)), || {
                format!("{name}: {edge} is no edge of its target")
            });
        }
        for struck in &self.struck {
            let mut hit = tried.iter().filter(|one| one.hit);
            proof.require(hit.any(|one| worker(&one.edge) == *struck), || {
                format!("{name}: nobody tried the edge of {struck} as `{moment}`")
            });
        }
        proof.require(!tried.is_empty(), || {
            format!("{name}: nobody tried an edge as `{moment}`")
        });
        tried
    }
}

/// What a new and an old connection may see.
const fn expected(harm: Harm) -> (&'static [Seen], &'static [Seen]) {
    match harm {
        Harm::Silence(Way::ToClient) => (&[Seen::Silent], &[Seen::ReplyLost]),
        Harm::Silence(Way::ToServer | Way::Both) | Harm::Stall => {
            (&[Seen::Silent], &[Seen::NeverArrived])
        }
        Harm::Reset => (&[Seen::Refused, Seen::Broken], &[Seen::Broken]),
        Harm::HoldRequest | Harm::HoldReply | Harm::LoseRequest | Harm::LoseReply => (&[], &[]),
    }
}

/// The worker of `<worker>><server>`.
fn worker(edge: &str) -> &str {
    edge.split_once('>').map_or(edge, |(worker, _)| worker)
}
