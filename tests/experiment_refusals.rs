//! What is said of a wrong experiment file: the literal lines, one test a kind of mistake.

use lockdrill::experiment::{self, Overrides};

const GOOD: &str = r#"summary = "the store must refuse a late write"
class = "correctness"
[lock]
backend = "redis"
lease = "1500ms"
renew = "500ms"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "write", "check", "write", "release"]
[worker.b]
start = { after = "a.acquired" }
script = ["enter 10s", "write", "hold until a.released", "release"]
[fault.nap]
kind = "pause"
target = "holder"
when = { at = "a.write.2.armed" }
heal = { after = "b.write.accepted" }
[evidence]
require = ["a lease ended while nap", "a.write.2 reached the store after b.write.1"]
[control.unfenced]
set = { "store.fence" = "off" }
violates = { check = "no_stale_write", by = "a" }
"#;

/// Every line that is told of a text.
fn told(text: &str) -> String {
    told_with(text, &Overrides::default())
}

fn told_with(text: &str, overrides: &Overrides) -> String {
    match experiment::read("x", "x.toml", text, overrides) {
        Ok(_) => "nothing\n".to_owned(),
        Err(refused) => refused.to_string(),
    }
}

/// The good file with one piece of it replaced.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the good file");
    GOOD.replacen(from, to, 1)
}

/// The good file with one piece replaced is told exactly these lines.
#[track_caller]
fn refused(from: &str, to: &str, lines: &[&str]) {
    let told = told(&with(from, to));
    assert_eq!(told.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn more_copies_than_there_are_replicas() {
    for (backend, line) in [
        ("redis", "`redis` has 0 replicas, not 3"),
        ("redis-sentinel", "`redis-sentinel` has 2 replicas, not 3"),
        ("redis-cluster", "`redis-cluster` has 1 replicas, not 3"),
    ] {
        let told = told(&with("\"redis\"", &format!("\"{backend}\"\ncopies = 3")));
        assert!(told.contains(line), "{told}");
    }
    let told = told(&with("\"redis\"", "\"redis-cluster\"\nbackups = 1"));
    assert!(
        told.contains("has 0 replicas that need not be able to take over"),
        "{told}"
    );
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(told(GOOD), "nothing\n");
}

#[test]
fn unknown_key() {
    refused(
        "fence = ",
        "fense = ",
        &["x.toml:9:1: unknown key `fense` in [store]; did you mean `fence`?"],
    );
    refused(
        "[evidence]\n",
        "[surprise]\n",
        &[
            "x.toml:20:2: unknown key `surprise` in the file; one of `summary`, `class`, `lock`, `store`, `worker`, `fault`, `evidence`, `control`, `network`, `server`, `limit`, `checks`, `bounds`",
        ],
    );
    refused(
        "{ after = \"a.acquired\" }",
        "{ afetr = \"a.acquired\" }",
        &["x.toml:13:11: unknown key `afetr` in `start` of [worker.b]; did you mean `after`?"],
    );
}

#[test]
fn unknown_fault() {
    refused(
        "kind = \"pause\"",
        "kind = \"puase\"",
        &["x.toml:16:8: unknown fault `puase`; did you mean `pause`?"],
    );
}

#[test]
fn unknown_check() {
    refused(
        "check = \"no_stale_write\"",
        "check = \"no_stale_writes\"",
        &["x.toml:24:22: unknown check `no_stale_writes`; did you mean `no_stale_write`?"],
    );
}

#[test]
fn unknown_backend_store_and_fence() {
    refused(
        "backend = \"redis\"",
        "backend = \"reddis\"",
        &["x.toml:4:11: unknown lock `reddis`; did you mean `redis`?"],
    );
    refused(
        "kind = \"sqlite\"",
        "kind = \"sqllite\"",
        &["x.toml:8:8: unknown store `sqllite`; did you mean `sqlite`?"],
    );
    refused(
        "fence = \"atomic\"",
        "fence = \"on\"",
        &["x.toml:9:9: unknown fence `on`; one of `atomic`, `racy`, `off`"],
    );
}

#[test]
fn once_with_seal() {
    refused(
        "fence = \"atomic\"",
        "fence = \"atomic\"\nseal = true\nonce = true",
        &[
            "x.toml:11:8: `once` with `seal`: the seal uses up the fencing token that the first write would present; leave out one of the two",
        ],
    );
}

#[test]
fn unknown_flaw() {
    refused(
        "renew = \"500ms\"",
        "flaw = \"blind_relese\"",
        &["x.toml:6:8: unknown flaw `blind_relese`; did you mean `blind_release`?"],
    );
}

#[test]
fn unknown_event() {
    refused(
        "a.acquired",
        "a.aquired",
        &["x.toml:13:19: unknown event `a.aquired`; did you mean `a.acquired`?"],
    );
    refused(
        "hold until a.released",
        "hold until a.relased",
        &["x.toml:14:45: unknown event `a.relased`; did you mean `a.released`?"],
    );
    refused(
        "b.write.accepted",
        "nap.begins",
        &["x.toml:19:18: unknown event `nap.begins`; one of `nap.onset`, `nap.healed`"],
    );
}

#[test]
fn unknown_worker() {
    refused(
        "a.acquired",
        "alice.acquired",
        &[
            "x.toml:13:19: unknown worker or fault in event `alice.acquired`; one of `a`, `b`, `nap`",
        ],
    );
    refused(
        "target = \"holder\"",
        "target = \"c\"",
        &[
            "x.toml:17:10: unknown target `c`; one of `holder`, `everyone`, `lock-server`, `store-server`, `a`, `b`",
        ],
    );
    refused(
        "\"a lease ended while nap\"",
        "\"c lease ended while nap\"",
        &["x.toml:21:13: unknown worker `c`; one of `a`, `b`"],
    );
    refused(
        "by = \"a\"",
        "by = \"c\"",
        &["x.toml:24:45: `by`: no worker or fault is named `c`; one of `a`, `b`, `nap`"],
    );
}

#[test]
fn wrong_or_missing_unit() {
    refused(
        "lease = \"1500ms\"",
        "lease = \"2000\"",
        &["x.toml:5:9: `lease`: `2000` has no unit; `\"2000ms\"` or `\"2s\"`?"],
    );
    refused(
        "lease = \"1500ms\"",
        "lease = \"2 parsecs\"",
        &[
            "x.toml:5:9: `lease`: `2 parsecs` is not a duration; write a number with a unit: `1500ms`, `2s`, `1m`",
        ],
    );
    refused(
        "enter 10s",
        "enter 10",
        &["x.toml:14:18: `enter`: `10` has no unit; `10ms` or `10s`?"],
    );
}

#[test]
fn number_instead_of_string() {
    refused(
        "lease = \"1500ms\"",
        "lease = 1500",
        &[
            "x.toml:5:9: `lease`: `1500` is a number; a duration is a string with a unit: `\"1500ms\"` or `\"1500s\"`?",
        ],
    );
    refused(
        "kind = \"pause\"",
        "kind = 1",
        &["x.toml:16:8: `kind` must be a string, not a number"],
    );
}

#[test]
fn renewal_not_shorter_than_the_lease() {
    for renew in ["1500ms", "1600ms"] {
        let line = format!(
            "x.toml:6:9: renewal every {renew} is too late for a lease of 1500ms; `renew` must be shorter than `lease`"
        );
        refused(
            "renew = \"500ms\"",
            &format!("renew = \"{renew}\""),
            &[&line],
        );
    }
    assert_eq!(
        told(&with("renew = \"500ms\"", "renew = \"1499ms\"")),
        "nothing\n"
    );
    assert_eq!(
        told(&with("renew = \"500ms\"", "renew = \"0s\"")),
        "nothing\n"
    );
}

#[test]
fn no_lease() {
    refused(
        "lease = \"1500ms\"",
        "lease = \"0ms\"",
        &["x.toml:5:9: a lease of 0 is no lease; at least `1ms`"],
    );
    for lease in ["0.5ms", "100us", "1500500us"] {
        let line = format!(
            "x.toml:5:9: `lease`: `{lease}` is not a whole number of milliseconds up to one day; the smallest step is `1ms`"
        );
        refused(
            "lease = \"1500ms\"",
            &format!("lease = \"{lease}\""),
            &[&line],
        );
    }
    refused(
        "lease = \"1500ms\"",
        "lease = \"-2s\"",
        &[
            "x.toml:5:9: `lease`: `-2s` is not a duration; write a number with a unit: `1500ms`, `2s`, `1m`",
        ],
    );
}

#[test]
fn a_pause_that_cannot_outlast_the_lease() {
    for short in ["1s", "1500ms"] {
        let line = format!(
            "x.toml:19:7: `for` of {short} cannot outlast the lease of 1500ms; a `pause` shows something only if it is longer"
        );
        refused(
            "heal = { after = \"b.write.accepted\" }",
            &format!("for = \"{short}\""),
            &[&line],
        );
    }
    let longer = with(
        "heal = { after = \"b.write.accepted\" }",
        "for = \"1501ms\"",
    );
    assert_eq!(told(&longer), "nothing\n");
    refused(
        "heal = { after = \"b.write.accepted\" }",
        "for = \"15s\"",
        &[
            "x.toml:19:7: `for` of 15s does not end within the patience of 15s; raise `patience` in [bounds]",
        ],
    );
}

#[test]
fn a_fault_that_never_ends_or_ends_twice() {
    refused(
        "heal = { after = \"b.write.accepted\" }\n",
        "",
        &[
            "x.toml:15:1: [fault.nap] never ends; say `heal = { after = EVENT }` or `for = DURATION`",
        ],
    );
    refused(
        "heal = {",
        "for = \"2s\"\nheal = {",
        &["x.toml:19:7: [fault.nap] has both `heal` and `for`; one of them"],
    );
}

#[test]
fn a_heal_that_comes_too_early_or_never() {
    refused(
        "b.write.accepted",
        "a.write.accepted",
        &[
            "x.toml:19:18: `a.write.accepted` has already happened when `nap` begins; it would be healed at once",
        ],
    );
    let stopped = with("target = \"holder\"", "target = \"a\"")
        .replace("b.write.accepted", "a.write.2.accepted");
    assert_eq!(
        told(&stopped),
        "x.toml:19:18: `a.write.2.accepted` can never heal `nap`: `a` is stopped until then\n"
    );
}

#[test]
fn a_control_that_changes_nothing() {
    refused(
        "\"store.fence\" = \"off\"",
        "\"store.fence\" = \"atomic\"",
        &["x.toml:23:9: the control changes nothing: the main arm has this value already"],
    );
    refused(
        "{ \"store.fence\" = \"off\" }",
        "{}",
        &["x.toml:23:7: a control changes one path; `set` is empty"],
    );
}

#[test]
fn a_control_that_changes_more_than_one_path() {
    refused(
        "\"store.fence\" = \"off\"",
        "\"store.fence\" = \"off\", \"store.once\" = true",
        &["x.toml:23:32: a control changes one path; `set` has 2; make it two controls"],
    );
    refused(
        "\"store.fence\" = \"off\"",
        "\"lock.lease\" = \"2s\"",
        &[
            "x.toml:23:9: the control changes more than one path: `lock.lease_ms`, `patience_ms`; `patience_ms` follows the lease; set `patience` in [bounds]",
        ],
    );
    refused(
        "\"store.fence\" = \"off\"",
        "\"store.fense\" = \"off\"",
        &["x.toml:23:9: unknown path `store.fense`; did you mean `store.fence`?"],
    );
    // The value is checked like one that stands in its section.
    refused(
        "\"store.fence\" = \"off\"",
        "\"lock.renew\" = \"2s\"",
        &[
            "x.toml:23:24: renewal every 2s is too late for a lease of 1500ms; `renew` must be shorter than `lease`",
        ],
    );
}

#[test]
fn a_control_without_violates() {
    refused(
        "violates = { check = \"no_stale_write\", by = \"a\" }\n",
        "",
        &["x.toml:22:1: [control.unfenced] has no `violates`; what must go red"],
    );
    refused(
        ", by = \"a\"",
        "",
        &[
            "x.toml:24:12: `violates` of [control.unfenced] has no `by`; the worker or fault that must be its witness",
        ],
    );
    refused(
        "[control.unfenced]",
        "[control.main]",
        &["x.toml:22:10: a control cannot be named `main`: that is the whole drill"],
    );
}

#[test]
fn a_control_that_the_limit_makes_meaningless() {
    let limit = "[limit]\nchecks = [\"no_stale_write\"]\nwhy = \"no fencing\"\n[control.unfenced]";
    refused(
        "[control.unfenced]",
        limit,
        &[
            "x.toml:27:22: `no_stale_write` is violated in the main arm too; [limit] names it, so this control would show nothing",
        ],
    );
}

#[test]
fn checks_that_no_drill_may_speak_of_or_that_it_contradicts_itself_on() {
    let checks = |text: &str| format!("[checks]\n{text}\n[control.unfenced]");
    refused(
        "[control.unfenced]",
        &checks("require = [\"recovers\"]\noptional = [\"recovers\"]"),
        &["x.toml:24:13: `recovers` is both required and optional"],
    );
    refused(
        "[control.unfenced]",
        &checks("optional = [\"evidence\", \"owner_only\", \"owner_only\"]"),
        &[
            "x.toml:23:13: `evidence` cannot be named here; it decides whether an arm shows anything at all",
            "x.toml:23:39: `owner_only` is said twice",
        ],
    );
    refused(
        "\"no_stale_write\"",
        "\"records_agree\"",
        &[
            "x.toml:24:22: `records_agree` cannot be named here; its violation is a defect of the lab, never a finding",
        ],
    );
}

#[test]
fn unknown_step() {
    refused(
        "\"check\"",
        "\"chekc\"",
        &["x.toml:11:31: unknown step `chekc`; did you mean `check`?"],
    );
    refused(
        "\"check\"",
        "\"sleep 3s\"",
        &[
            "x.toml:11:31: unknown step `sleep`; one of `acquire`, `enter`, `check`, `write`, `read`, `publish`, `relay`, `refence`, `hold`, `burn`, `renew`, `await`, `release`, `stop_if_lost`",
        ],
    );
    refused("\"check\"", "\"\"", &["x.toml:11:31: an empty step"]);
    refused(
        "\"check\"",
        "\"check twice\"",
        &["x.toml:11:38: `check` takes nothing behind it, found `twice`; write `check`"],
    );
    refused(
        "enter 10s",
        "enter",
        &["x.toml:14:17: `enter` does not say how long; write `enter 10s`"],
    );
    refused(
        "hold until a.released",
        "hold until",
        &[
            "x.toml:14:44: the step does not say which event it waits for; see `lockdrill list events`",
        ],
    );
}

#[test]
fn a_script_that_gives_back_what_it_never_took() {
    refused(
        "[\"acquire\", \"write\"",
        "[\"write\"",
        &[
            "x.toml:11:38: `release` before anything was acquired; put `acquire` or `enter` before it",
            "x.toml:13:19: `a.acquired` can never happen: the script of `a` never takes the lock",
            "x.toml:21:13: the script of `a` never takes the lock",
        ],
    );
}

#[test]
fn a_point_that_does_not_exist() {
    refused(
        "a.write.2.armed",
        "a.write.3.armed",
        &[
            "x.toml:18:15: `a.write.3.armed` can never happen: the script of `a` has 2 `write` steps",
        ],
    );
    refused(
        "a.write.2.armed",
        "a.write.2",
        &[
            "x.toml:18:15: `a.write.2` can never happen: it is a step; say `a.write.2.before` or `.after`",
        ],
    );
    refused(
        "a.write.2.armed",
        "a.check.1.armed",
        &["x.toml:18:15: unknown event `a.check.1.armed`; did you mean `a.check.1.after`?"],
    );
    refused(
        "at = \"a.write.2.armed\"",
        "at = \"b.acquired\"",
        &["x.toml:18:15: `b.acquired` is not a point of a script; write `after` instead of `at`"],
    );
    refused(
        "at = \"a.write.2.armed\"",
        "after = \"a.write.2.armed\"",
        &["x.toml:18:18: `a.write.2.armed` is a point of a script; write `at` instead of `after`"],
    );
}

#[test]
fn a_step_that_can_never_be_satisfied() {
    refused(
        "\"check\"",
        "\"await b.write.3.accepted\"",
        &[
            "x.toml:11:38: `b.write.3.accepted` can never happen: the script of `b` has 1 `write` step",
        ],
    );
    refused(
        "\"check\"",
        "\"await a.acquired.2\"",
        &["x.toml:11:38: `a.acquired.2` can never happen: the script of `a` takes the lock once"],
    );
    refused(
        "\"check\"",
        "\"await a.released\"",
        &[
            "x.toml:11:38: `a.released` can never happen while this waits for it; it comes later in `a` itself",
        ],
    );
    refused(
        "start = { after = \"a.acquired\" }",
        "start = { after = \"b.acquired\" }",
        &[
            "x.toml:13:19: `b.acquired` can never happen while this waits for it; it comes later in `b` itself",
        ],
    );
}

#[test]
fn workers_that_wait_for_each_other() {
    refused(
        "\"check\"",
        "\"await b.released\"",
        &[
            "x.toml:11:38: `b.released` can never happen while this waits for it; `b` waits for `a.released`",
            "x.toml:14:45: `a.released` can never happen while this waits for it; `a` waits for `b.released`",
        ],
    );
}

#[test]
fn unknown_evidence() {
    refused(
        "a lease ended while nap",
        "a lost the lock",
        &[
            "x.toml:21:12: unknown evidence `a lost the lock`; write `W lease ended while F`, `W granted while F`, `W copied while F` (F: a fault, or a step as `a.hold.1`), `W granted N times`, `W waited N times`, `W.write.N reached the store after V.write.M` (or a `read`) or `F began within D of G`",
        ],
    );
    refused(
        "after b.write.1",
        "after b.write.2",
        &["x.toml:21:74: no script makes the write `b.write.2`; did you mean `b.write.1`?"],
    );
    refused(
        "a lease ended while nap",
        "a lease ended while d",
        &["x.toml:21:33: unknown fault `d`; there is only `nap`"],
    );
}

#[test]
fn names_that_would_be_mistaken() {
    refused(
        "[fault.nap]",
        "[fault.b]",
        &[
            "x.toml:15:8: `b` is a worker and a fault",
            "x.toml:21:33: unknown fault `nap`; there is only `b`",
        ],
    );
    refused(
        "[control.unfenced]",
        "[control.\"../../etc\"]",
        &[
            "x.toml:22:10: `../../etc` cannot be a name; a letter, then letters, digits, - or _; at most 32",
        ],
    );
}

#[test]
fn a_lock_that_workers_cannot_share() {
    refused(
        "backend = \"redis\"",
        "backend = \"memory\"",
        &[
            "x.toml:4:11: the lock `memory` exists within one process only; each worker is a process of its own: they would never meet",
        ],
    );
}

#[test]
fn nothing_in_it() {
    for text in ["", "\n\n", "# only a comment\n", "\u{feff}"] {
        assert_eq!(
            told(text),
            "x.toml:1:1: the file says nothing; start from a copy of `experiments/pause.toml`\n",
            "{text:?}"
        );
    }
}

#[test]
fn not_toml() {
    let text = with("class = \"correctness\"", "class = ")
        .replace("lease = \"1500ms\"", "lease \"1500ms\"");
    let told = told(&text);
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines.iter().all(|line| line.contains("not valid TOML: ")),
        "{told}"
    );
    assert!(lines[0].starts_with("x.toml:2:"), "{told}");
    assert!(
        lines.iter().any(|line| line.starts_with("x.toml:5:")),
        "several errors: {told}"
    );
}

#[test]
fn a_key_said_twice() {
    refused(
        "lease = \"1500ms\"",
        "lease = \"1500ms\"\nlease = \"2s\"",
        &["x.toml:6:1: not valid TOML: duplicate key `lease`"],
    );
    refused(
        "[worker.b]",
        "[worker.a]",
        &[
            "x.toml:12:9: not valid TOML: duplicate key `a`",
            "x.toml:14:1: not valid TOML: duplicate key `script`",
        ],
    );
}

#[test]
fn deep_nesting() {
    let deep = format!("{}\nx = {}{}", GOOD, "[".repeat(5_000), "]".repeat(5_000));
    assert!(told(&deep).contains("not valid TOML: "));
    let dotted = format!("{}\n{} = 1", GOOD, vec!["x"; 5_000].join("."));
    assert!(told(&dotted).contains("not valid TOML: recursion limit"));
}

#[test]
fn all_problems_are_told_in_one_go_in_order() {
    let text = with("backend = \"redis\"", "backend = \"reddis\"")
        .replace("renew = \"500ms\"", "renew = 500")
        .replace("kind = \"pause\"", "kind = \"puase\"")
        .replace("enter 10s", "entre 10s")
        .replace("a.write.2.armed", "a.write.9.armed")
        .replace("by = \"a\"", "by = \"carol\"");
    let told = told(&text);
    let places: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    assert_eq!(
        places,
        [
            "x.toml:4:11",
            "x.toml:6:9",
            "x.toml:14:11",
            "x.toml:16:8",
            "x.toml:18:15",
            "x.toml:24:45"
        ]
    );
}

#[test]
fn endless_nonsense_is_cut_short() {
    let many: String = (0..20_000).map(|n| format!("unknown_{n} = 1\n")).collect();
    let told = told(&format!("{many}{GOOD}"));
    assert_eq!(told.lines().count(), 51);
    assert!(told.ends_with("… and more problems\n"), "{told}");
}

#[test]
fn the_command_line_is_checked_like_the_file() {
    let told = |set: &str| {
        let set = vec![set.to_owned()];
        told_with(
            GOOD,
            &Overrides {
                set,
                ..Overrides::default()
            },
        )
    };
    assert_eq!(told("lock.lease=2s"), "nothing\n");
    assert_eq!(
        told("store.fense=off"),
        "--set:1:1: unknown path `store.fense`; did you mean `store.fence`?\n"
    );
    assert_eq!(
        told("store.fence=of"),
        "--set:1:13: unknown fence `of`; one of `atomic`, `racy`, `off`\n"
    );
    assert_eq!(
        told("lock.lease=2000"),
        "--set:1:12: `lease`: `2000` is a number; a duration is a string with a unit: `\"2000ms\"` or `\"2s\"`?\n"
    );
    assert_eq!(
        told("store.fence"),
        "--set:1:1: `store.fence` has no `=`; write `path=value`, as `store.fence=off`\n"
    );
    assert_eq!(
        told("evidence.require=[]"),
        "--set:1:1: unknown path `evidence.require`\n",
        "what a drill claims cannot be set"
    );
    let lock = Some("reddis".to_owned());
    assert_eq!(
        told_with(
            GOOD,
            &Overrides {
                lock,
                ..Overrides::default()
            }
        ),
        "--lock:1:1: unknown lock `reddis`; did you mean `redis`?\n"
    );
}

/// The pause of the good file made a jump of a clock.
#[track_caller]
fn jump_refused(target: &str, by: &str, line: &str) {
    let jump = format!("kind = \"jump-clock\"\n{by}\ntarget = \"{target}\"");
    let told = told(&with("kind = \"pause\"\ntarget = \"holder\"", &jump));
    assert_eq!(told.lines().collect::<Vec<_>>(), [line]);
}

#[test]
fn a_jump_says_by_how_much_and_which_way() {
    jump_refused(
        "holder",
        "by = \"31s\"",
        "x.toml:17:6: `by`: `31s` does not say which way; `\"+31s\"` is forwards, `\"-31s\"` is back",
    );
    jump_refused(
        "holder",
        "by = \"+31\"",
        "x.toml:17:6: `by`: `31` has no unit; `\"31ms\"` or `\"31s\"`?",
    );
    jump_refused(
        "holder",
        "by = \"-2d\"",
        "x.toml:17:6: `by`: `2d` is not a whole number of milliseconds up to one day; the smallest step is `1ms`",
    );
    jump_refused(
        "holder",
        "by = \"+99ms\"",
        "x.toml:17:6: `by`: a jump of 99ms cannot be seen; at least `100ms`",
    );
    jump_refused(
        "holder",
        "by = 31",
        "x.toml:17:6: `by` must be a string, not a number",
    );
    jump_refused(
        "holder",
        "",
        "x.toml:15:1: a `jump-clock` needs `by`; `by = \"+31s\"` or `by = \"-1h\"`",
    );
    refused(
        "kind = \"pause\"",
        "kind = \"pause\"\nby = \"+31s\"",
        &["x.toml:17:6: a `pause` has no `by`"],
    );
}

/// That server's clock dates the log of the store.
#[test]
fn the_clock_of_the_stores_server_stays() {
    let jump = "kind = \"jump-clock\"\nby = \"+31s\"\ntarget = \"store-server\"";
    let text = with("kind = \"pause\"\ntarget = \"holder\"", jump).replace("sqlite", "redis");
    assert_eq!(
        told(&text),
        "x.toml:18:10: `jump-clock` is done to a worker or the lock server; name a worker, `holder`, or `lock-server`\n"
    );
}

#[test]
fn a_good_jump_is_good() {
    for (target, by) in [("holder", "+31s"), ("b", "-1h"), ("lock-server", "- 1d")] {
        let jump = format!("kind = \"jump-clock\"\nby = \"{by}\"\ntarget = \"{target}\"");
        let text = with("kind = \"pause\"\ntarget = \"holder\"", &jump);
        assert_eq!(told(&text), "nothing\n", "{by} of {target}");
    }
}

#[test]
fn an_unknown_answer_to_sigterm() {
    refused(
        "[worker.a]\n",
        "[worker.a]\non_sigterm = \"finnish\"\n",
        &["x.toml:11:14: unknown answer to SIGTERM `finnish`; did you mean `finish`?"],
    );
}
#[test]
fn steps_of_reads_and_publications_are_written_as_they_are_meant() {
    refused(
        "\"check\"",
        "\"publish\"",
        &["x.toml:11:39: `publish` does not say which job; write `publish J`"],
    );
    refused(
        "\"check\"",
        "\"relay invoice-7\"",
        &["x.toml:11:38: `relay` takes nothing behind it, found `invoice-7`; write `relay`"],
    );
    refused(
        "[\"acquire\", \"write\", \"check\"",
        "[\"refence\", \"acquire\", \"write\", \"check\"",
        &[
            "x.toml:11:11: `refence` before anything was acquired; put `acquire` or `enter` before it",
        ],
    );
}

#[test]
fn a_disk_lags_only_where_the_server_flushes_now_and_then() {
    let lagging = with(
        "[fault.nap]",
        "[fault.lag]\nkind = \"lag-disk\"\ntarget = \"lock-server\"\nwhen = { after = \"a.acquired\" }\n[fault.nap]",
    );
    let line = told(&lagging);
    assert!(line.contains("`lag-disk` makes nothing of a disk that never lags; aim it at `lock-server`, with `persist = \"everysec\"` in [lock]"), "{line}");
    let flushed = lagging.replacen("[store]", "persist = \"everysec\"\n[store]", 1);
    assert_eq!(told(&flushed), "nothing\n");
    let always = flushed.replacen("everysec", "always", 1);
    assert!(told(&always).contains("never lags"));
}

#[test]
fn a_fenced_read_and_once_do_not_go_together() {
    refused(
        "fence = \"atomic\"",
        "fence = \"atomic\"\nreads = \"fenced\"\nonce = true",
        &[
            "x.toml:11:8: `once` with fenced `reads`: the read uses up the fencing token that the first write would present; leave out one of the two",
        ],
    );
}

#[test]
fn faults_that_follow_each_other_are_named_and_timed() {
    let told = |sentence: &str| {
        let lines = told(&with("a lease ended while nap", sentence));
        lines.lines().next().unwrap_or("").to_owned()
    };
    assert!(told("nap began within 1s of nip").contains("unknown fault `nip`"));
    assert!(told("nap began within 1 of nap").contains("no unit"));
    assert!(told("nap began within 0s of nap").contains("no time at all"));
}

/// A member of several servers is named only where there is one, for what is done to a process.
#[test]
fn a_member_that_there_is_not_or_that_cannot_be_asked() {
    for (backend, kind, target, told_of) in [
        ("redis", "kill-server", "redis-2", "there is no redis-2"),
        ("redis-sentinel", "kill-server", "redis-2", ""),
        ("redis-sentinel", "stop-server", "sentinel-3", ""),
        ("redis-cluster", "kill-server", "cluster-6", ""),
        ("redis-cluster", "kill-server", "lock-server", ""),
        (
            "redis-cluster",
            "kill-server",
            "redis-2",
            "`redis-cluster` has no redis-2",
        ),
        (
            "redis-sentinel",
            "kill-server",
            "redis-4",
            "`redis-sentinel` has no redis-4",
        ),
        (
            "redis-sentinel",
            "evict",
            "redis-2",
            "`evict` is done to the server that takes writes",
        ),
        (
            "redis-sentinel",
            "pause",
            "redis-2",
            "`pause` is done to a worker",
        ),
    ] {
        let fault = format!("kind = \"{kind}\"\ntarget = \"{target}\"");
        let text = with("kind = \"pause\"\ntarget = \"holder\"", &fault).replacen(
            "backend = \"redis\"",
            &format!("backend = \"{backend}\""),
            1,
        );
        let told = told(&text);
        let wrong = told
            .lines()
            .filter(|line| line.contains(": "))
            .collect::<Vec<_>>();
        match told_of {
            "" => assert!(!told.contains(target), "{backend} {kind}: {wrong:?}"),
            _ => assert!(told.contains(told_of), "{backend} {kind}: {told}"),
        }
    }
}
