//! A stranger who meddles with a run whenever its progress says so.

use crate::lab::Lab;
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Generous, but an arm that was healed meanwhile is not waited for.
const AT_ONCE: Duration = Duration::from_secs(5);

/// How a run ended with which somebody meddled.
pub struct Meddled {
    pub code: Option<i32>,
    pub results: String,
    pub times: usize,
}

/// Runs the main arm of a drill outside a namespace and meddles whenever a line of progress says
/// `moment`; an inconclusive arm is repeated, so the meddler must be, too.
pub fn meddled(drill: &str, moment: &str, meddle: impl Fn(&Lab)) -> Meddled {
    let lab = Lab::new();
    let drill = [drill, "--isolation", "guard"];
    let mut times = 0;
    let end = heard(&lab, &drill, |line| {
        if line.contains(moment) {
            meddle(&lab);
            times += 1;
        }
    });
    Meddled { times, ..end }
}

/// Runs the main arm of a drill and hands every line of progress to the meddler, who counts his own
/// deeds: `times` is 1.
pub fn heard(lab: &Lab, drill: &[&str], mut hear: impl FnMut(&str)) -> Meddled {
    let mut started = lab.start(&[drill, &["--no-controls"]].concat());
    for line in &started.lines {
        hear(&line);
    }
    let code = started.child.wait().unwrap().code();
    let mut results = String::new();
    for run in runs(&lab.out()) {
        results += &std::fs::read_to_string(run.join("results.json")).unwrap_or_default();
    }
    lab.assert_nothing_left();
    Meddled {
        code,
        results,
        times: 1,
    }
}

/// A drill of the test's own, as a file.
pub fn file(lab: &Lab, name: &str, text: &str) -> String {
    let file = lab.folder.path().join(format!("{name}.toml"));
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// The folder of every run.
pub fn runs(out: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect()
    };
    below(out).iter().flat_map(|drill| below(drill)).collect()
}

impl Meddled {
    /// It ended inconclusive, and says this of why.
    #[track_caller]
    pub fn is_inconclusive(&self, why: &str) {
        let results = &self.results;
        assert!(self.times > 0, "nobody meddled: {results}");
        assert_eq!(self.code, Some(3), "{results}");
        assert!(results.contains("\"inconclusive\""), "{results}");
        assert!(results.contains(why), "{why} is not named: {results}");
    }
}

/// Every file below the lab's state folder whose path ends so; waits for the first.
pub fn files(lab: &Lab, end: &str) -> Vec<PathBuf> {
    let begun = Instant::now();
    loop {
        let mut found = Vec::new();
        below(&lab.state(), end, &mut found);
        if !found.is_empty() || begun.elapsed() > AT_ONCE {
            return found;
        }
    }
}

fn below(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

/// Gives the lab's servers a command over their own socket files, and reads the beginning of the
/// answer.
pub fn tell(lab: &Lab, words: &[&str]) -> String {
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command += &format!("${}\r\n{word}\r\n", word.len());
    }
    let mut answers = String::new();
    for socket in files(lab, ".sock") {
        let Ok(mut stream) = UnixStream::connect(socket) else {
            continue;
        };
        let mut answer = [0; 4096];
        let sent = stream.write_all(command.as_bytes());
        let read = sent.and_then(|()| stream.read(&mut answer)).unwrap_or(0);
        answers += &String::from_utf8_lossy(&answer[..read]);
    }
    answers
}

/// The process of the lab whose command line has all of these words; waits for it.
pub fn process(lab: &Lab, words: &[&str]) -> Option<Pid> {
    let begun = Instant::now();
    while begun.elapsed() < AT_ONCE {
        let processes = lab.processes();
        let is_it = |line: &&String| words.iter().all(|word| line.contains(word));
        let found = processes.iter().find(is_it);
        if let Some(pid) = found.and_then(|line| line.split(' ').next()?.parse().ok()) {
            return Some(Pid::from_raw(pid));
        }
    }
    None
}

/// A server of the lab by its name; waits for it. A server that writes a title over its command line writes
/// over its environment too: it is known by its folder.
pub fn server(lab: &Lab, name: &str) -> Option<Pid> {
    let begun = Instant::now();
    while begun.elapsed() < AT_ONCE {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let pid = entry.file_name().to_string_lossy().parse();
            if let (Ok(pid), true) = (pid, folder.ends_with(name))
                && folder.starts_with(lab.state())
            {
                return Some(Pid::from_raw(pid));
            }
        }
    }
    None
}
