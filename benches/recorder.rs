//! How fast the recorder takes events: encode and batched write to a real file.

use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::run::recorder::Recorder;
use lockdrill::timeline::event::{By, Call, Event};

fn main() {
    divan::main();
}

fn write(n: u64) -> (By, Event) {
    let event = Event::Invoke {
        op: n,
        step: Some("write.2".to_owned()),
        call: Call::Write {
            write: "a.write.2".to_owned(),
            based_on: Some("a.write.1".to_owned()),
            grant: Some(GrantId("a.1".to_owned())),
            fencing: Some(FencingToken(n)),
        },
    };
    (By::Worker("a".to_owned()), event)
}

#[divan::bench(sample_count = 20, args = [100_000])]
fn append(bencher: divan::Bencher, events: u64) {
    bencher
        .counter(divan::counter::ItemsCount::new(events))
        .with_inputs(|| {
            let events: Vec<(By, Event)> = (0..events).map(write).collect();
            let file = tempfile::tempfile().expect("a temporary file");
            (events, Recorder::new(file))
        })
        .bench_local_values(|(events, mut recorder)| {
            for (at, (by, event)) in (0_u64..).zip(events) {
                recorder.append(at, by, event).expect("space on disk");
            }
            recorder.flush().expect("space on disk");
        });
}
