//! The follower on files as a server writes them.

use super::*;
use std::io::Write;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const PREFIX: &str = "lab:";

struct Server {
    folder: tempfile::TempDir,
    out: UnboundedReceiver<Observed>,
    marks: Marks,
}

fn resp(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let body: String = words
        .iter()
        .map(|word| format!("${}\r\n{word}\r\n", word.len()))
        .collect();
    format!("*{}\r\n{body}", words.len())
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        files(folder.path(), 1, "");
        let (sender, mut out) = unbounded_channel();
        let marks = follow(folder.path(), ("redis-1", PREFIX), sender).unwrap();
        let first = out.blocking_recv().unwrap();
        assert!(matches!(first, Observed::Synced(_)), "{first:?}");
        Server { folder, out, marks }
    }

    fn writes(&self, generation: u64, text: &str) {
        let path = self.folder.path().join(FOLDER);
        let path = path.join(format!("appendonly.aof.{generation}.incr.aof"));
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Everything seen until the follower has read all.
    fn seen(&mut self) -> Vec<String> {
        self.marks.send("here".to_owned()).unwrap();
        let mut seen = Vec::new();
        loop {
            match self.out.blocking_recv().unwrap() {
                Observed::Mark(name) if name == "here" => return seen,
                Observed::Effect(_, Event::Effect { key, change, .. }) => {
                    let change = serde_json::to_value(change).unwrap();
                    let kind = change.as_object().map(|map| map.keys().next().cloned());
                    let kind = kind.flatten().unwrap_or_else(|| change.to_string());
                    seen.push(format!("{key} {kind}"));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A new set of files; what the server has copied stands in the base.
fn files(folder: &Path, generation: u64, base: &str) {
    let folder = folder.join(FOLDER);
    let name = |kind| format!("appendonly.aof.{generation}.{kind}.aof");
    fs::write(folder.join(name("base")), base).unwrap();
    fs::write(folder.join(name("incr")), "").unwrap();
    let text = format!(
        "file {} seq {generation} type b\nfile {} seq {generation} type i\n",
        name("base"),
        name("incr")
    );
    fs::write(folder.join("temp"), text).unwrap();
    fs::rename(folder.join("temp"), folder.join(MANIFEST)).unwrap();
}

#[test]
fn what_was_written_is_seen_once_and_in_order() {
    let mut server = Server::start();
    server.writes(1, &resp("SELECT 0"));
    server.writes(1, &resp("INCR lab:{k}:fence"));
    server.writes(1, &resp("SET lab:{k} o:1 PXAT 9000"));
    // The end of a command may come later than its begin.
    let (first, second) = ("*2\r\n$3\r\nDEL\r\n$7\r\nla", "b:{k}\r\n");
    server.writes(1, first);
    assert_eq!(server.seen(), ["k counter", "k set"]);
    server.writes(1, second);
    assert_eq!(server.seen(), ["k \"deleted\""]);
    assert!(server.seen().is_empty());
}

#[test]
fn a_server_that_copies_another_tells_what_it_holds_since() {
    let mut server = Server::start();
    server.writes(1, &resp("SET lab:{k} o:1 PXAT 9000"));
    server.writes(1, &resp("SET lab:{other} o:1 PXAT 9000"));
    let base = resp("SET lab:{k} p:7") + &resp("PEXPIREAT lab:{k} 9500");
    files(server.folder.path(), 2, &base);
    server.writes(2, &resp("DEL lab:{k}"));
    let told = [
        "k set",
        "other set",
        "k copied",
        "other copied",
        "k \"deleted\"",
    ];
    assert_eq!(server.seen(), told);
}

#[test]
fn a_file_that_is_no_stream_is_a_gap() {
    let mut server = Server::start();
    server.writes(1, "nonsense\r\n");
    loop {
        match server.out.blocking_recv().unwrap() {
            Observed::Gap(_, why) => return assert!(why.contains("nonsense"), "{why}"),
            Observed::Synced(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
