//! The instants at which something is drawn, and how far apart their marks must stand.

use crate::report::charts::picture::text_width;
use crate::report::charts::plot::Instant;
use crate::report::scene::Scene;
use crate::report::scene::server::ServerKind;

/// Rows on which marks must not touch. Each worker has two, of marks and of bars.
const SERVERS: usize = usize::MAX / 2;
const STORE: usize = usize::MAX - 1;
const FAULTS: usize = usize::MAX;

/// The room behind the mark before it, in pixels.
const MARK: f64 = 13.0;
const EDGE: f64 = 9.0;
const TICK: f64 = 4.0;

/// Bars are not stretched further than this for the sake of the number on them.
const NUMBER_MAX: f64 = 60.0;

pub(super) fn instants(scene: &Scene) -> Vec<Instant> {
    let mut all = of_workers(scene);
    let server = |name: &str| {
        let place = scene.servers.iter().position(|server| server == name);
        SERVERS + place.unwrap_or(0)
    };
    let mut add = |at, row, room| all.push(Instant { at, row, room });
    for mark in &scene.server {
        let room = match mark.kind {
            ServerKind::Extended => TICK,
            ServerKind::Grant | ServerKind::Deleted | ServerKind::Flushed => MARK,
        };
        add(mark.at, server(&mark.server), room);
    }
    for reign in scene.reigns.iter().filter(|reign| reign.took_over) {
        add(reign.from, server(&reign.server), MARK);
    }
    for write in scene.writes.iter().filter(|write| write.applied.is_some()) {
        add(write.at(), STORE, MARK);
    }
    for read in scene.beside.iter().filter(|mark| mark.is_read()) {
        add(read.at, STORE, MARK);
    }
    for fault in &scene.faults {
        let own = match (&fault.worker, &fault.server) {
            (Some(worker), _) => scene.lane(worker).map(marks),
            (None, Some(name)) => Some(server(name)),
            (None, None) => None,
        };
        let over = fault.over().filter(|_| fault.lasts);
        for at in [Some(fault.stands()), over].into_iter().flatten() {
            add(at, FAULTS, MARK);
            if let Some(row) = own {
                add(at, row, EDGE);
            }
        }
    }
    all
}

fn marks(lane: usize) -> usize {
    2 * lane
}

fn of_workers(scene: &Scene) -> Vec<Instant> {
    let mut all = Vec::new();
    let mut add = |at, worker: &str, bar: usize, room| {
        if let Some(lane) = scene.lane(worker) {
            let row = marks(lane) + bar;
            all.push(Instant { at, row, room });
        }
    };
    for write in scene.writes.iter().filter(|write| !write.seal) {
        add(write.at(), &write.worker, 0, MARK);
    }
    for mark in &scene.beside {
        add(mark.at, &mark.worker, 0, MARK);
    }
    for park in scene.parks.iter().filter(|park| park.awaited) {
        add(park.from, &park.worker, 0, MARK);
    }
    for death in &scene.deaths {
        add(death.at, &death.worker, 0, EDGE);
    }
    for loss in &scene.losses {
        add(loss.at, &loss.worker, 1, EDGE);
    }
    for held in &scene.frames {
        add(held.at, &held.worker, 1, EDGE);
    }
    for tenure in &scene.tenures {
        let Some(worker) = &tenure.worker else {
            continue;
        };
        let number = tenure.fencing.map_or(0.0, |token| {
            text_width(&token.to_string(), 11.0, true) + 9.0
        });
        add(tenure.from, worker, 1, TICK);
        add(tenure.until, worker, 1, number.clamp(TICK, NUMBER_MAX));
        if tenure.entitled > tenure.until {
            add(tenure.entitled, worker, 1, TICK);
        }
    }
    for belief in &scene.beliefs {
        add(belief.until, &belief.worker, 1, TICK);
    }
    all
}
