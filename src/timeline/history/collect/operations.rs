//! What workers say: operations, losses, points. An operation's `return` finds its `invoke` by
//! worker and number; on a damaged record either may be missing, doubled or early.

use super::{Collector, Stamp};
use crate::timeline::event::{Answer, Call, Event, Outcome};
use crate::timeline::history::clock_map::Sample;
use crate::timeline::history::seen::{Loss, PointSeen};
use crate::timeline::history::{Copies, Operation, Returned};

impl Collector<'_> {
    pub(super) fn invoke(
        &mut self,
        stamp: &Stamp,
        id: (usize, u64),
        step: Option<String>,
        call: Call,
    ) {
        let index = self.history.operations.len();
        let (worker, op) = id;
        self.history.operations.push(Operation {
            worker,
            op,
            step,
            call,
            seq: stamp.seq,
            invoked: stamp.at,
            returned: self.orphans.remove(&id),
        });
        if let Some(earlier) = self.numbers[worker].insert(op, index)
            && self.history.workers[worker].lives.len() < 2
        {
            let events = vec![self.history.operations[earlier].seq, stamp.seq];
            let name = self.history.worker_name(worker);
            let what = format!("{name} numbered two operations {op}");
            self.defect(events, what);
        }
    }

    pub(super) fn returned(
        &mut self,
        stamp: &Stamp,
        id: (usize, u64),
        outcome: Outcome,
        answer: Answer,
    ) {
        let returned = Returned {
            seq: stamp.seq,
            at: stamp.at,
            outcome,
            answer,
        };
        let Some(index) = self.numbers[id.0].get(id.1) else {
            self.orphans.insert(id, returned);
            return;
        };
        let operation = &mut self.history.operations[index];
        let invoked = operation.seq;
        let wrong = if operation.returned.is_some() {
            "returned twice"
        } else if stamp.at < operation.invoked {
            "returned before it was invoked"
        } else {
            operation.returned = Some(returned);
            return;
        };
        let name = self.history.worker_name(id.0);
        let what = format!("operation {} of {name} {wrong}", id.1);
        self.defect(vec![invoked, stamp.seq], what);
    }

    /// The lab let a worker go on.
    fn went(&mut self, stamp: &Stamp, worker: &str, point: String) {
        let worker = self.worker(worker);
        self.history.gos.push(PointSeen {
            seq: stamp.seq,
            at: stamp.at,
            worker,
            point,
            waits: false,
        });
    }

    pub(super) fn worker_said(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        if let Event::Go { worker, point } = event {
            return self.went(stamp, &worker, point);
        }
        let Some(worker) = self.speaker(stamp) else {
            return;
        };
        match event {
            Event::Lost {
                grant,
                reason,
                deadline,
            } => self.history.losses.push(Loss {
                seq,
                at,
                worker,
                grant,
                reason,
                deadline,
            }),
            Event::WallClock {
                before,
                after,
                wall_us,
            } => self.history.workers[worker].clock.push(Sample {
                seq,
                before,
                after,
                server_us: wall_us,
            }),
            Event::Copies {
                grant,
                wanted,
                have,
            } => self.history.workers[worker].copies.push(Copies {
                seq,
                grant,
                wanted,
                have,
            }),
            Event::AskedToEnd => self.history.workers[worker].asked_to_end.push((seq, at)),
            Event::Point { point, waits } => self.history.points.push(PointSeen {
                seq,
                at,
                worker,
                point,
                waits,
            }),
            Event::Resumed { point } => self.history.resumed.push(PointSeen {
                seq,
                at,
                worker,
                point,
                waits: false,
            }),
            _other => {}
        }
    }
}
