//! What the name of a point means, and what stands ready there.

/// What the name of a point means.
pub(super) fn place(point: &str) -> String {
    let told = |meaning: &str| format!(" ({meaning})");
    match point.rsplit_once('.') {
        Some((step, "armed")) => told(&format!(
            "the last moment before {} left for {}",
            armed(step),
            leaves_for(step)
        )),
        Some((step, "before")) => told(&format!("just before the step {step}")),
        Some((step, "after")) => told(&format!("just after the step {step}")),
        _ => String::new(),
    }
}

/// Where what stands ready at an `armed` point leaves for.
fn leaves_for(step: &str) -> &'static str {
    match verb(step) {
        "write" | "read" => "the store",
        "publish" => "the queue",
        "relay" => "the outbox, with all of it published",
        _ => "the lock service",
    }
}

/// `write` of `a.write.2` and of `write.2`.
fn verb(step: &str) -> &str {
    let front = step.rsplit_once('.').map_or(step, |(front, _)| front);
    front.rsplit('.').next().unwrap_or(front)
}

/// What stands ready to leave at a step's `armed` point.
pub fn armed(step: &str) -> String {
    match verb(step) {
        "write" | "read" | "publish" | "relay" => step.to_owned(),
        _ => format!("the last command of {step}"),
    }
}
