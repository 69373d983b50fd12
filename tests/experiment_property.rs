//! No input panics: whatever the bytes, the answer is an experiment or a problem that points to a
//! place that exists.

use lockdrill::experiment::{self, LoadRequest, Overrides};
use proptest::prelude::*;
use std::fs;

const DRILL: &str = include_str!("../experiments/pause.toml");

/// Pieces that a file is made of, the sound and the unsound.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "=",
    "\"",
    "\"\"\"",
    "'",
    ",",
    ".",
    "#",
    "\n",
    "\r\n",
    "\\",
    "\\u0000",
    "\\U0010FFFF",
    "\u{feff}",
    "é",
    "🔒",
    "\t",
    "-",
    "0",
    "1e400",
    "inf",
    "nan",
    "true",
    "1979-05-27",
    "0ms",
    "2000",
    "18446744073709551615s",
    "18446744073709551615s1000ms",
    "1.5s",
    "\"\"",
    "\" \"",
    "holder",
    "a.write.2.armed",
    "a.write.99999999999999999999.armed",
    "b.b.b.b.b",
    "...",
    "hold until ",
    "await ",
    "enter ",
    "store.fence",
    "control.unfenced.set",
    "[worker.c]\n",
    "[fault.x]\n",
    "[control.y]\n",
    "[checks]\n",
    "[bounds]\n",
    "[limit]\n",
    "optional = [\"evidence\"]\n",
    "patience = \"1ms\"\n",
    "also = [\"recovers\"]\n",
];

/// Answers, and points to places that exist if it refuses.
fn sound(text: &str, overrides: &Overrides) {
    let Err(refused) = experiment::read("x", "x.toml", text, overrides) else {
        return;
    };
    assert!(!refused.is_empty());
    let lines: Vec<&str> = text.split('\n').collect();
    for problem in refused.problems() {
        if problem.file != "x.toml" {
            continue;
        }
        let line = lines.get(problem.line.wrapping_sub(1));
        let line = line.unwrap_or_else(|| panic!("no such line: {problem}"));
        let columns = line.chars().count() + 1;
        assert!((1..=columns).contains(&problem.column), "{problem}");
        assert!(!problem.message.contains('\n'), "{problem}");
    }
    let rendered = refused.render(false);
    assert!(!rendered.contains('\u{1b}'), "no escape sequences");
    assert!(refused.render(true).len() >= rendered.len());
}

/// The drill with some of its bytes replaced, removed or moved; still text.
fn mutated() -> impl Strategy<Value = String> {
    let cut = (0..DRILL.len(), 0..40_usize, 0..PIECES.len() + 1);
    prop::collection::vec(cut, 1..6).prop_map(|cuts| {
        let mut text = DRILL.to_owned();
        for (at, length, piece) in cuts {
            let from = boundary(&text, at);
            let to = boundary(&text, from + length);
            let piece = PIECES.get(piece).copied().unwrap_or("");
            text.replace_range(from..to, piece);
        }
        text
    })
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_in_a_file(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("x.toml"), &bytes).expect("a file");
        let request = LoadRequest {
            drills: vec!["x.toml".to_owned()],
            root: folder.path().to_owned(),
            ..LoadRequest::default()
        };
        let refused = experiment::load(&request).expect_err("no drill");
        prop_assert!(!refused.problems().is_empty());
        let lines = bytes.split(|byte| *byte == b'\n').count();
        for problem in refused.problems() {
            prop_assert!((1..=lines).contains(&problem.line), "{}", problem);
        }
    }

    #[test]
    fn any_text(text in "\\PC{0,300}") {
        sound(&text, &Overrides::default());
    }

    #[test]
    fn pieces_of_a_file(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        sound(&pieces.concat(), &Overrides::default());
    }

    #[test]
    fn a_good_file_with_pieces_exchanged(text in mutated()) {
        sound(&text, &Overrides::default());
    }

    #[test]
    fn any_option(path in "[a-z._ =\\[\\]\"]{0,30}", value in "\\PC{0,20}") {
        let set = vec![format!("{path}={value}"), path];
        let overrides = Overrides { set, lock: Some(value.clone()), store: Some(value), seed: None };
        sound(DRILL, &overrides);
    }

    #[test]
    fn any_duration(
        number in prop::sample::select(&["0", "1", "1500", "1.5", "18446744073709551615"][..]),
        unit in prop::sample::select(&["ms", "s", "y"][..]),
        more in prop::sample::select(&["", "1000ms", "1s", "999ns", "1y"][..]),
    ) {
        let set = vec![format!("lock.lease={number}{unit}{more}")];
        sound(DRILL, &Overrides { set, ..Overrides::default() });
    }

    #[test]
    fn any_value_of_a_good_path(
        path in prop::sample::select(&[
            "lock.lease", "lock.renew", "lock.flaw", "store.seal", "store.resource", "class",
            "worker.a.script", "worker.b.start", "worker.b.start.after", "fault.nap.when",
            "fault.nap.when.at", "fault.nap.heal", "fault.nap.for", "fault.nap.target",
            "bounds.patience",
        ][..]),
        value in prop::sample::select(PIECES),
    ) {
        let set = vec![format!("{path}={value}")];
        sound(DRILL, &Overrides { set, ..Overrides::default() });
    }
}
