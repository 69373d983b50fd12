//! What a fault tells a server, and what the server says of itself afterwards: whatever was set is
//! read back at once, just before the heal and after it, so that a setting that somebody changed
//! meanwhile is not taken for one that lasted.

use super::DirectorError;
use super::players::{FaultState, Standing, Struck};
use super::scene::Scene;
use super::until;
use crate::env::action::Action;
use crate::env::control::Control;
use crate::faults;
use crate::plan::Target;
use crate::timeline::event::Event;
use std::time::Duration;

/// What a server forgets is in its stream at once, unless the host is busy.
const FORGOTTEN_MAX: Duration = Duration::from_secs(2);

/// One command to the server, on the record with its answer; what it set is read back. The inner
/// error is why it was not done.
pub async fn ask(
    scene: &mut Scene,
    words: &[&str],
    (fault, struck): (&str, &Struck),
) -> Result<Result<String, String>, DirectorError> {
    let (name, control) = match controlled(scene, struck)? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let lock = control.lock_key(&scene.plan.lock.key);
    let counter = format!("{lock}:fence");
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace("{lock}", &lock).replace("{counter}", &counter))
        .collect();
    let (answer, ok) = control.tell(&words).await?;
    said(scene, (fault, &name), words.join(" "), (&answer, ok))?;
    if !ok {
        return Ok(Err(answer));
    }
    if let ["CONFIG", "SET", setting, _value] =
        words.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        read_back(scene, (fault, &name), &control, setting).await?;
    }
    Ok(Ok(answer))
}

/// Reads back every setting that these actions had changed.
pub async fn read_all_back(
    scene: &mut Scene,
    actions: &[Action],
    (fault, struck): (&str, &Struck),
) -> Result<(), DirectorError> {
    for action in actions {
        if let Action::Ask(["CONFIG", "SET", setting, _value]) = action
            && let Ok((name, control)) = controlled(scene, struck)?
        {
            read_back(scene, (fault, &name), &control, setting).await?;
        }
    }
    Ok(())
}

async fn read_back(
    scene: &mut Scene,
    fault_and_server: (&str, &str),
    control: &Control,
    setting: &str,
) -> Result<(), DirectorError> {
    // A server that does not say it is shown to have kept nothing.
    let Ok(Some(value)) = control.setting(setting).await else {
        return Ok(());
    };
    let command = format!("CONFIG GET {setting}");
    said(scene, fault_and_server, command, (&value, true))
}

/// How often the server has told somebody that it does not know a script.
pub async fn count_unknown_scripts(
    scene: &mut Scene,
    (fault, struck): (&str, &Struck),
) -> Result<(), DirectorError> {
    if let Ok((name, control)) = controlled(scene, struck)?
        && let Ok(Some(count)) = control.unknown_scripts().await
    {
        let count = count.to_string();
        let command = "INFO errorstats NOSCRIPT".to_owned();
        said(scene, (fault, &name), command, (&count, true))?;
    }
    Ok(())
}

/// The same for every fault that asked for it and has begun, after the drill.
pub async fn count_unknown_scripts_again(scene: &mut Scene) -> Result<(), DirectorError> {
    let counts = |name: &str| {
        let kind = faults::find(name);
        kind.is_some_and(|kind| kind.onset.contains(&Action::CountUnknownScripts))
    };
    let counted = scene.faults.iter().filter_map(|fault| {
        let over = matches!(fault.state, FaultState::Over);
        match &fault.plan.target {
            Target::Server(service) if over && counts(&fault.plan.kind) => {
                Some((fault.plan.name.clone(), *service))
            }
            _other => None,
        }
    });
    let counted: Vec<_> = counted.collect();
    for (fault, service) in counted {
        let server = scene.server_name(service).map(str::to_owned);
        let found = server.and_then(|name| Some((name.clone(), scene.servers.get(&name)?.pid?)));
        if let Some((name, pid)) = found {
            count_unknown_scripts(scene, (&fault, &Struck::Server(name, pid))).await?;
        }
    }
    Ok(())
}

/// Waits until the server's own stream shows that it has forgotten a counter since a lab time.
pub async fn forgotten(
    scene: &mut Scene,
    struck: &Struck,
    since: u64,
) -> Result<Result<(), String>, DirectorError> {
    let name = struck.server()?;
    let forgot = |scene: &Scene| scene.truth.forgot(name).is_some_and(|at| at >= since);
    until::said(scene, FORGOTTEN_MAX, forgot).await?;
    Ok(if forgot(scene) {
        Ok(())
    } else {
        Err(format!(
            "{name} was not seen to forget its counter of fencing tokens"
        ))
    })
}

/// What a server was told, and what it answered.
pub fn said(
    scene: &mut Scene,
    (fault, server): (&str, &str),
    command: String,
    (answer, ok): (&str, bool),
) -> Result<(), DirectorError> {
    scene.record_lab(Event::ServerAsked {
        fault: fault.to_owned(),
        server: server.to_owned(),
        command,
        answer: answer.to_owned(),
        ok,
    })
}

/// The server and the observer's connection to it; the inner error is why there is none.
fn controlled(
    scene: &Scene,
    struck: &Struck,
) -> Result<Result<(String, Control), String>, DirectorError> {
    let name = struck.server()?;
    let server = scene.servers.get(name);
    let Some(server) = server.filter(|server| server.standing == Standing::Up) else {
        return Ok(Err(format!("there is no server {name} that answers")));
    };
    let control = server.control.clone();
    Ok(control
        .map(|control| (name.to_owned(), control))
        .ok_or_else(|| format!("{name} cannot be told anything")))
}
