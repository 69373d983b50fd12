//! What the name of a point means, and what stands ready there.

/// What the name of a point means.
pub(super) fn place(point: &str) -> String {
    let told = |meaning: &str| format!(" ({meaning})");
    match point.rsplit_once('.') {
        Some((step, "armed")) if verb(step) == "relay" => told(&format!(
            "the last moment before {step} told the outbox what it had published"
        )),
        Some((step, "armed")) => told(&format!(
            "the last moment before {} left for {}",
            armed(step),
            leaves_for(step)
        )),
        Some((step, "before")) => told(&format!("just before the step {step}")),
        Some((step, "after")) => told(&format!("just after the step {step}")),
        Some((who, what)) => happened(who, what).map_or_else(String::new, |told_of| told(&told_of)),
        None => String::new(),
    }
}

/// What the name of an event that is no point means.
fn happened(who: &str, what: &str) -> Option<String> {
    let of_fault = |what: &str| format!("the fault {who} {what}");
    Some(match what {
        "onset" => of_fault("had begun and was seen to work"),
        "healed" => of_fault("was undone and seen to be over"),
        "held" => format!("what the fault {who} chose was held or dropped"),
        "delivered" => format!("what the fault {who} held was sent on"),
        "promoted" => format!("since {who} began another server had taken over"),
        "acquired" => format!("{who} was told that it has the lock"),
        "lost" => format!("{who} was told that its lock is lost"),
        "released" => format!("{who} had its release step behind it"),
        "exited" => format!("the process of {who} was gone"),
        "accepted" => format!("the store had taken {}", written(who)),
        "rejected" => format!("the store had refused {}", written(who)),
        _other => return None,
    })
}

/// `a.write` is any write of a, `a.write.2` is one.
fn written(of: &str) -> String {
    match of.strip_suffix(".write") {
        Some(worker) => format!("a write of {worker}"),
        None => of.to_owned(),
    }
}

/// Where what stands ready at an `armed` point leaves for.
fn leaves_for(step: &str) -> &'static str {
    match verb(step) {
        "write" | "read" => "the store",
        "publish" => "the queue",
        _ => "the lock service",
    }
}

/// `write` of `a.write.2` and of `write.2`.
fn verb(step: &str) -> &str {
    let front = step.rsplit_once('.').map_or(step, |(front, _)| front);
    front.rsplit('.').next().unwrap_or(front)
}

/// What a worker is about to do at a step's `armed` point: a relay has published by then.
pub fn ready(step: &str) -> String {
    match verb(step) {
        "relay" => format!("{step} is about to tell the outbox"),
        _ => format!("ready to send {}", armed(step)),
    }
}

/// What stands ready to leave at a step's `armed` point.
pub fn armed(step: &str) -> String {
    match verb(step) {
        "write" | "read" | "publish" | "relay" => step.to_owned(),
        _ => format!("the last command of {step}"),
    }
}
