//! Every picture of every golden and every recorded run, as it is laid out: no text lies on another
//! or outside, and in a run that is not crowded no mark hides another.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use lockdrill::report::charts::picture::{Area, Form, Picture, Words, inside, touch};
use lockdrill::report::charts::{ALL, signal, swimlane};
use lockdrill::report::model::Model;
use lockdrill::report::scene::Scene;
use lockdrill::report::signals;
use lockdrill::report::story::moment;
use lockdrill::verdict;
use std::path::Path;

/// More marks than this crowd each other, and some are drawn as one.
const CROWD: usize = 160;

/// Two marks nearer than this hide each other.
const APART: f64 = 6.0;

fn models() -> Vec<(String, Model)> {
    let root = tempfile::tempdir().unwrap();
    let goldens = golden::all().into_iter().chain([golden::long::run(2_000)]);
    let mut models: Vec<(String, Model)> = goldens
        .map(|run| (run.name.to_owned(), run.model(root.path())))
        .collect();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/runs");
    for run in std::fs::read_dir(recorded).unwrap() {
        let run = run.unwrap().path();
        let result = verdict::judge_run_dir(&run).unwrap();
        let model = Model::read(&run, &result).unwrap();
        models.push((run.display().to_string(), model));
    }
    models
}

/// Every picture of a run, by a name that says which it is, and its scene if it shows one.
fn pictures(model: &Model) -> Vec<(String, Picture, Option<Scene>)> {
    let mut all = Vec::new();
    for arm in &model.arms {
        let name = &arm.result.arm;
        let near = moment::of(arm).and_then(|moment| moment.near);
        for scene in [Some(arm.scene.clone()), near].into_iter().flatten() {
            for narrow in [false, true] {
                let options = swimlane::Options {
                    narrow,
                    heading: Some(("heading".to_owned(), vec!["why".to_owned()])),
                    ..swimlane::Options::default()
                };
                let picture = swimlane::draw(&scene, &options);
                let shown = (!narrow).then(|| scene.clone());
                all.push((format!("{name} narrow={narrow}"), picture, shown));
            }
        }
        for chart in ALL {
            let drawn = (chart.draw)(&arm.scene);
            all.extend(drawn.map(|picture| (format!("{name} {}", chart.file), picture, None)));
        }
        let record = arm.record.iter();
        for signal in record.flat_map(|record| signals::of(&record.history, &arm.scene)) {
            let drawn = signal::draw(&signal);
            all.extend(drawn.map(|picture| (format!("{name} {}", signal.name), picture, None)));
        }
    }
    all
}

fn texts(picture: &Picture) -> Vec<&Words> {
    let forms = picture.shapes.iter();
    forms
        .filter_map(|shape| match &shape.form {
            Form::Text(words) => Some(words),
            _ => None,
        })
        .collect()
}

/// Texts that cannot be read: cut, on another, or too small.
fn unreadable(picture: &Picture) -> Vec<String> {
    let canvas = Area {
        x: 0.0,
        y: 0.0,
        w: picture.width,
        h: picture.height,
    };
    let texts = texts(picture);
    let mut bad = Vec::new();
    for (index, words) in texts.iter().enumerate() {
        let area = words.area();
        if !inside(area, canvas) {
            bad.push(format!("{:?} leaves the canvas", words.text));
        }
        if words.size < 10.0 {
            bad.push(format!("{:?} is too small", words.text));
        }
        for other in texts[..index]
            .iter()
            .filter(|other| touch(area, other.area()))
        {
            bad.push(format!("{:?} lies on {:?}", words.text, other.text));
        }
    }
    bad
}

/// Marks of different events that lie on each other, and writes without any mark.
fn hidden(picture: &Picture, scene: &Scene) -> Vec<String> {
    let marks: Vec<(u64, &str, (f64, f64))> = picture
        .shapes
        .iter()
        .filter_map(|shape| {
            let at = match &shape.form {
                Form::Disc(x, y, ..) | Form::Ring(x, y, ..) | Form::Cross(x, y, ..) => (*x, *y),
                Form::Outline(area, ..) if area.w < 12.0 => (area.x + 4.5, area.y + 4.5),
                _ => return None,
            };
            Some((shape.event?, shape.note.as_deref()?, at))
        })
        .collect();
    let mut bad = Vec::new();
    for (index, (event, note, (x, y))) in marks.iter().enumerate() {
        let near = marks[..index].iter().filter(|(other, _, at)| {
            other != event && (at.0 - x).abs() < APART && (at.1 - y).abs() < APART
        });
        bad.extend(near.map(|(_, other, _)| format!("{note:?} lies on {other:?}")));
    }
    for write in scene.writes.iter().filter(|write| !write.seal) {
        if !marks.iter().any(|(event, ..)| *event == write.event) {
            bad.push(format!("{} has no mark", write.write));
        }
    }
    bad
}

#[test]
fn every_text_can_be_read_and_no_mark_hides_another() {
    let mut bad = Vec::new();
    for (run, model) in models() {
        for (name, picture, scene) in pictures(&model) {
            let mut found = unreadable(&picture);
            let quiet = |scene: &&Scene| {
                scene.writes.len() + scene.beside.len() + scene.server.len() <= CROWD
            };
            if let Some(scene) = scene.as_ref().filter(quiet) {
                found.extend(hidden(&picture, scene));
            }
            bad.extend(
                found
                    .into_iter()
                    .map(|what| format!("{run}, {name}: {what}")),
            );
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
