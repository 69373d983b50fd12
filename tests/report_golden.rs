//! The six golden runs, rendered.
#![allow(clippy::unwrap_used)]

#[path = "support/golden/mod.rs"]
mod golden;

use lockdrill::report::charts::{paint_png, paint_svg, swimlane};
use lockdrill::report::scene::Scene;

#[test]
fn draw_all() {
    for run in golden::all() {
        let scene = Scene::read(&run.arms[0].0, &run.arms[0].1);
        for narrow in [false, true] {
            let options = swimlane::Options { narrow, heading: (!narrow).then(|| (format!("pause: {}", run.name), vec!["a wrote with fencing token 1 at 4.81 s, 1.31 s after its lease ended and 0.94 s after b was granted 2; the store refused it".into()])), plain: false };
            let picture = swimlane::draw(&scene, &options);
            let base = format!("/tmp/rep/{}-{}", run.name, narrow);
            std::fs::create_dir_all("/tmp/rep").unwrap();
            std::fs::write(format!("{base}.svg"), paint_svg::standalone(&picture, &|seq| format!("e{seq}"))).unwrap();
            std::fs::write(format!("{base}.png"), paint_png::paint(&picture, 1.43).unwrap()).unwrap();
        }
    }
}
