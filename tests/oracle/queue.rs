//! A queue beside the toy store: the accepted writes do jobs, and somebody publishes them, well or
//! badly. The truth is read from what was put on the record, job by job.

use super::dice::Dice;
use super::world::World;
use lockdrill::plan::{Step, StepAction};
use lockdrill::timeline::event::{AttemptKind, By, Event, Line};
use lockdrill::timeline::history::History;

const JOBS: [&str; 3] = ["j1", "j2", "j3"];

/// A world whose work is published.
pub struct Published {
    pub history: History,
    /// Some job was not published exactly once although it was done, or at all although it was not.
    pub violated: bool,
    /// The queue's log is whole.
    pub clear: bool,
}

pub fn play(world: &World, seed: u64) -> Published {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut lines = world.lines();
    let mut done = [0_u64; JOBS.len()];
    for line in &mut lines {
        if let Event::StoreAttempt {
            kind: AttemptKind::Write,
            job,
            accepted,
            ..
        } = &mut line.event
            && dice.below(2) == 0
        {
            let nth = dice.below(3) as usize;
            *job = Some(JOBS[nth].to_owned());
            done[nth] += u64::from(*accepted);
        }
    }
    let careless = dice.below(2) == 0;
    let (mut published, mut log) = ([0_u64; JOBS.len()], Vec::new());
    for (nth, job) in JOBS.iter().enumerate() {
        let due = u64::from(done[nth] > 0);
        let often = if careless { dice.below(3) } else { due };
        for _ in 0..often {
            published[nth] += 1;
            log.push((*job, false));
        }
        if often > 0 && dice.below(3) == 0 {
            log.push((*job, true));
        }
    }
    let clear = dice.below(5) > 0;
    record(&mut lines, &log, clear.then_some(log.len() as u64));
    let mut plan = world.record.plan.clone();
    if dice.below(10) > 0 {
        plan.workers[0].script = vec![Step {
            name: "relay.1".to_owned(),
            action: StepAction::Relay,
        }];
    } else if log.is_empty() {
        // Nobody publishes in this plan: there is no queue that could lack anything.
        done = [0; JOBS.len()];
    }
    let wrong = |nth: usize| published[nth] != u64::from(done[nth] > 0);
    Published {
        history: History::from_lines(&plan, lines),
        violated: (0..JOBS.len()).any(wrong),
        clear,
    }
}

/// Puts the queue's log in front of the last line.
fn record(lines: &mut Vec<Line>, log: &[(&str, bool)], read: Option<u64>) {
    let at = lines.last().map_or(0, |line| line.at);
    let published = log
        .iter()
        .zip(1..)
        .map(|((job, known), n)| Event::Published {
            n,
            message: (*job).to_owned(),
            publish: format!("a.publish.{n}"),
            known_before: *known,
            applied: at,
        });
    let end = read.map(|published| Event::FinalQueue { published });
    let place = lines.len() - 1;
    for (offset, event) in published.chain(end).enumerate() {
        let by = By::Store;
        lines.insert(
            place + offset,
            Line {
                seq: 0,
                at,
                by,
                event,
            },
        );
    }
    for (seq, line) in lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
}
