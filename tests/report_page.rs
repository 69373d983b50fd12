//! `report.html`: what it says of each golden run, that every link leads to its line, that it
//! needs nothing from outside and lets nothing from outside run, and how large it gets.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use golden::{Golden, long, look};
use lockdrill::report::html;
use lockdrill::timeline::event::Event;
use sha2::{Digest, Sha256};
use std::time::Instant;

fn page(golden: &Golden) -> String {
    let root = tempfile::tempdir().unwrap();
    html::page(&golden.model(root.path())).unwrap()
}

fn named(name: &str) -> Golden {
    golden::all()
        .into_iter()
        .find(|run| run.name == name)
        .unwrap()
}

/// The words of a page as a reader sees them.
fn text(page: &str) -> String {
    let body = page.split("<body>").nth(1).unwrap();
    let mut text = String::new();
    for piece in body.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, words)| words));
    }
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

#[track_caller]
fn says(name: &str, sentences: &[&str]) {
    let text = text(&page(&named(name)));
    for sentence in sentences {
        assert!(text.contains(sentence), "{name} does not say {sentence:?}");
    }
}

#[test]
fn a_pass_claims_this_run_and_no_more() {
    says(
        "pass",
        &[
            "In this 1 run, with these faults shown to have happened, no named check was violated.",
            "0 of 1 run of this schedule failed: its failure rate lies between 0 % and 97.5 %",
            "This report does not say that.",
            "a wrote with fencing token 1 at 3.29 s, 0.86 s after its lease ended and 0.85 s after b was granted 2; the store refused it.",
            "pause of a, the fault named nap, from 1.18 s to 3.28 s, for 2.10 s, seen to be gone at 3.29 s",
            "it began at a.write.2.armed (the last moment before a.write.2 left for the store) and was undone after b.write.accepted",
            "then nobody for 6 ms, then b",
            "then nobody until the record ends at 3.681 s",
            "No: 1 stale or late write tried, none accepted; 4 writes reached the store in all.",
            "Without the fence, the stale write of a was accepted at 3.29 s; a.write.2, built on a.write.1, replaced b.write.1 without having read it: b's update b.write.1 is lost (control unfenced: red, as required).",
            "a still believed that it holds, because it was stopped from 1.18 s to 3.28 s",
            "red, as required",
            "What this run did not test",
            "Run lockdrill run late-first, which tries what this drill did not",
            "lockdrill run pause --repeat 50",
            "the only run of this schedule here",
        ],
    );
}

#[test]
fn a_fail_names_what_was_violated_and_what_to_change() {
    says(
        "fail",
        &[
            "In this run, with these faults shown to have happened, no_stale_write and no_lost_update were violated.",
            "the store accepted it.",
            "Yes: 1 stale or late write tried, 1 accepted although stale; 4 writes reached the store in all.",
            "It was stale: the store had accepted b.write.1 with the newer fencing token 2.",
            "Make the store compare the fencing token in the same atomic step as the write",
        ],
    );
}

#[test]
fn a_limit_is_not_a_pass() {
    says(
        "limit",
        &[
            "LIMIT, not a pass: this design cannot hold single_holder and fencing_rises",
            "a from 0.433 s to 1.101 s (its key was flushed at 1.101 s; a was entitled until 2.436 s all the same), then no key for 51 ms, while a was still entitled, then b from 1.152 s to 1.601 s, all of it while a was entitled too",
            "protection of the worklost",
            "The store refused b.write.1 at 1.18 s although b had been granted the lock at 1.15 s and was entitled, because the store knew its fencing token 1 of another grant; and it accepted a.write.2 of the older holder a at 1.30 s, 0.20 s after its key was flushed.",
            "By the fencing tokens none; but here the tokens were wrong, not the writers: 3 writes reached the store.",
            "whom the lock server had granted the lock last, and let in a.",
            "Without the fence, the write of b was accepted at 1.18 s although the store had taken a.write.1 of another grant under the same fencing token 1; the lock server had granted the lock to b last",
            "let nobody work until it stands above every fencing token that a store knows",
            "it is what refused b.write.1",
            "key flushed; entitled until 2.436",
            "0 passed, 1 reached the limit, 0 failed",
            "1 of 1 run of this schedule reached the limit that its file names, 0 passed and 0 failed",
        ],
    );
}

#[test]
fn an_inconclusive_run_says_what_is_missing() {
    says(
        "inconclusive",
        &[
            "This run cannot tell: the fault nap was not injected",
            "Read why nap was not injected and change its when or target in the experiment file",
            "skipped",
        ],
    );
    says(
        "dead-control",
        &[
            "NOT red (inconclusive)",
            "Look at the control unfenced first",
        ],
    );
    says(
        "noisy-host",
        &["Find a quieter machine", "the host stalled for 140 ms"],
    );
}

#[test]
fn every_link_leads_to_its_line() {
    for run in golden::all() {
        let links = look::follow_links(&page(&run));
        assert!(links > 20, "{}: {links} links", run.name);
    }
    let page = page(&named("pass"));
    assert!(page.contains("href=\"#e45\"") && page.contains("href=\"#unfenced-e45\""));
}

#[test]
fn a_line_that_is_not_on_record_is_named_but_not_linked() {
    let mut run = named("pass");
    run.result.arms[0].checks[0].events = vec![3, 700_000];
    let page = page(&run);
    assert!(page.contains("700000") && !page.contains("#e700000"));
    look::follow_links(&page);
}

#[test]
fn the_policy_allows_this_style_and_this_script_and_nothing_else() {
    let page = page(&named("pass"));
    let policy = page
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'"));
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let styles = look::between(&page, "<style>", "</style>");
    let scripts = look::between(&page, "<script>", "</script>");
    assert_eq!((styles.len(), scripts.len()), (1, 1));
    assert!(policy.contains(&format!("style-src {}", hash(styles[0]))));
    assert!(policy.contains(&format!("script-src {}", hash(scripts[0]))));
    assert!(look::attributes(&page, "style").is_empty());
    assert!(look::attributes(&page, "src").is_empty());
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("@import"));
}

#[test]
fn nothing_from_outside_gets_out_of_its_place() {
    const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">&";
    let mut run = named("fail");
    for (plan, lines) in &mut run.arms {
        plan.lock.key = EVIL.into();
        plan.summary = EVIL.into();
        for line in lines {
            if let Event::Effect { key, .. } | Event::FinalKey { key, .. } = &mut line.event {
                *key = EVIL.into();
            }
            if let Event::Lost { reason, .. } = &mut line.event {
                *reason = EVIL.into();
            }
        }
    }
    run.result.why = EVIL.into();
    for arm in &mut run.result.arms {
        arm.why = EVIL.into();
        arm.earlier_attempts = vec![EVIL.into()];
        for finding in &mut arm.checks {
            finding.why = EVIL.into();
            finding.by = vec![EVIL.into()];
        }
    }
    run.result.arms[1].arm = "x\" onclick=\"alert(3)".into();
    let page = page(&run);
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert!(!page.contains("x\" onclick"));
    assert_eq!(look::between(&page, "<script>", "</script>").len(), 1);
    assert!(
        look::raw_lines(&page)[0]
            .iter()
            .any(|row| row.4.contains(EVIL))
    );
    look::follow_links(&page);
}

#[test]
fn the_raw_timeline_holds_every_line_as_recorded() {
    let run = named("pass");
    let arms = look::raw_lines(&page(&run));
    assert_eq!(arms.len(), 2);
    for (rows, (_, lines)) in arms.iter().zip(&run.arms) {
        assert_eq!(rows.len(), lines.len());
        for (row, line) in rows.iter().zip(lines) {
            assert_eq!(row.0, line.seq);
            assert_eq!(row.5, serde_json::to_string(line).unwrap());
            assert!(!row.4.is_empty(), "line {} says nothing", line.seq);
        }
    }
}

#[test]
fn ten_thousand_events_are_two_megabytes_at_most() {
    let run = long::run(10_000);
    let root = tempfile::tempdir().unwrap();
    let model = run.model(root.path());
    let begun = Instant::now();
    let page = html::page(&model).unwrap();
    println!("{} bytes in {:?}", page.len(), begun.elapsed());
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    assert_eq!(look::raw_lines(&page)[0].len(), run.arms[0].1.len());
    assert!(look::follow_links(&page) > 100);
}

#[test]
fn of_a_longer_record_the_windows_around_the_findings_are_shown() {
    let run = long::run(30_000);
    let page = page(&run);
    let rows = &look::raw_lines(&page)[0];
    assert!(rows.len() < 2_000, "{} lines", rows.len());
    let late = run.result.arms[0].checks[1].events[1];
    assert!(rows.iter().any(|row| row.0 == late));
    assert!(text(&page).contains("around the findings are on this page"));
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    look::follow_links(&page);
}

/// In the order of the fencing tokens, but after its lease: honest reports tell both.
#[test]
fn a_late_write_in_legal_order_is_told_apart_from_a_stale_one() {
    let mut run = named("fail");
    for line in &mut run.arms[0].1 {
        let Event::StoreAttempt {
            n,
            highest,
            write,
            applied,
            ..
        } = &mut line.event
        else {
            continue;
        };
        // a's late write comes between b's grant and b's first write.
        match write.as_str() {
            "a.write.2" => (*n, *applied) = (2, 2_450_000_000),
            "b.write.1" => *n = 3,
            _ => continue,
        }
        *highest = Some(lockdrill::ids::FencingToken(1));
    }
    let text = text(&page(&run));
    for sentence in [
        "1 write was accepted after its writer's lease had ended",
        "It was late but not stale: the store had not heard of a fencing token above 1 yet",
        "b.write.1, built on a.write.1, replaced a.write.2 without having read it: a's update a.write.2 is lost.",
        "accepted although late (its lease was over)",
    ] {
        assert!(text.contains(sentence), "{sentence}");
    }
}
