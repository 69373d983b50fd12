//! Follows the log of a ZooKeeper's changes, which the server writes before it carries them out:
//! whatever was answered stands there, also after a SIGKILL, and in the server's own order. The
//! changes are numbered without a gap, so that one that is missing shows.

use super::effects::Effects;
use super::log;
use super::observe::Control;
use crate::clock::monotonic_ns;
use crate::env::seen::{Observed, Seen};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

/// Between two looks at the file.
const STEP: Duration = Duration::from_millis(3);
/// In front of the number of a file's first change.
const FILE: &str = "log.";

/// How far a server's changes have been read; outlives those who read them.
#[derive(Debug)]
pub struct Place {
    effects: Effects,
    /// The number of the last change that was read.
    number: i64,
}

/// The same place for those who read one after the other.
pub type Shared = Arc<Mutex<Place>>;

/// Nothing has been read yet.
pub fn beginning(server: &str, prefix: &str) -> Shared {
    Arc::new(Mutex::new(Place {
        effects: Effects::new(server, prefix),
        number: 0,
    }))
}

/// Follows the server whose log is in this folder, until the server ends; every message goes to
/// `out`. It is in sync once it has read what had been changed before it came.
pub async fn follow(
    control: Control,
    folder: PathBuf,
    place: Shared,
    out: UnboundedSender<Observed>,
) {
    let why = match read(&control, &folder, (&place, &out)).await {
        Ok(()) => "the server has ended".to_owned(),
        Err(error) => error.to_string(),
    };
    // The receiver is gone only when the arm has ended; then nobody misses this.
    let _ = out.send(Observed::Gap(monotonic_ns(), why));
}

async fn read(
    control: &Control,
    folder: &Path,
    (place, out): (&Shared, &UnboundedSender<Observed>),
) -> io::Result<()> {
    // It says nothing, and shows the end of the server's process.
    let mut silent = TcpStream::connect(control.address()).await?;
    let mark = Seen::sync_mark(monotonic_ns());
    control
        .mark(&mark)
        .await
        .map_err(|error| io::Error::other(error.what))?;
    let mut reader = Reader::new(folder);
    let mut byte = [0; 1];
    loop {
        let is_over = tokio::select! {
            _ended = silent.read(&mut byte) => true,
            () = sleep(STEP) => out.is_closed(),
        };
        reader.read_all(&mut lock(place), |seen| {
            if let Some(observed) = seen.told(monotonic_ns(), &mark) {
                let _ = out.send(observed);
            }
        })?;
        if is_over {
            return Ok(());
        }
    }
}

/// One who reads the files, one behind the other.
struct Reader {
    folder: PathBuf,
    /// The file that is read, the number of its first change, and how far.
    at: Option<(File, i64, u64)>,
}

impl Reader {
    fn new(folder: &Path) -> Reader {
        Reader {
            folder: folder.to_owned(),
            at: None,
        }
    }

    /// Reads to the end of what the server has written so far, over into newer files.
    fn read_all(&mut self, place: &mut Place, mut tell: impl FnMut(Seen)) -> io::Result<()> {
        loop {
            let after = self.at.as_ref().map_or(0, |(_, first, _)| *first);
            // Asked first: when there is a newer file, nothing more comes to this one.
            let newer = newer(&self.folder, after)?;
            if let Some((file, _, read)) = &mut self.at {
                read_file(file, read, place, &mut tell)?;
            }
            let Some(first) = newer else {
                return Ok(());
            };
            let file = File::open(self.folder.join(format!("{FILE}{first:x}")))?;
            self.at = Some((file, first, 0));
        }
    }
}

/// The file that comes next after the one with this first change.
fn newer(folder: &Path, after: i64) -> io::Result<Option<i64>> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        // Nothing has been changed yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut firsts = Vec::new();
    for file in files {
        let name = file?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(FILE));
        firsts.extend(number.and_then(|number| i64::from_str_radix(number, 16).ok()));
    }
    Ok(firsts.into_iter().filter(|first| *first > after).min())
}

fn read_file(
    file: &mut File,
    read: &mut u64,
    place: &mut Place,
    tell: &mut impl FnMut(Seen),
) -> io::Result<()> {
    file.seek(SeekFrom::Start(*read))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut rest = &bytes[..];
    if *read == 0 {
        match log::is_log(rest) {
            None => return Ok(()),
            // Its head may still have to be written.
            Some(false) if rest.iter().all(|byte| *byte == 0) => return Ok(()),
            Some(false) => return Err(io::Error::other("its log is none")),
            Some(true) => {}
        }
        rest = &rest[log::HEAD..];
        *read = log::HEAD as u64;
    }
    while let Some((step, length)) = log::next(rest).map_err(io::Error::other)? {
        rest = &rest[length..];
        *read += length as u64;
        if step.number <= place.number {
            continue;
        }
        if step.number != place.number + 1 {
            let (last, next) = (place.number, step.number);
            let why = format!("its log tells of change {next} after {last}");
            return Err(io::Error::other(why));
        }
        place.number = step.number;
        place.effects.read(&step).into_iter().for_each(&mut *tell);
    }
    Ok(())
}

fn lock(place: &Shared) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::effects::MARK;
    use super::super::log::tests::mark_record;
    use super::*;
    use std::io::Write;

    fn file(folder: &Path, first: i64, marks: &[(i64, &str)], cut: usize) {
        let mut bytes = b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0".to_vec();
        for (number, mark) in marks {
            bytes.extend(mark_record(*number, MARK, mark));
        }
        bytes.truncate(bytes.len() - cut);
        let mut file = File::create(folder.join(format!("{FILE}{first:x}"))).unwrap();
        file.write_all(&bytes).unwrap();
        file.write_all(&[0; 64]).unwrap();
    }

    fn told(reader: &mut Reader, place: &Shared) -> Result<Vec<String>, String> {
        let mut told = Vec::new();
        let read = reader.read_all(&mut lock(place), |seen| match seen {
            Seen::Mark(name) => told.push(name),
            other => panic!("{other:?}"),
        });
        read.map(|()| told).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_read_one_behind_the_other_and_each_change_once() {
        let folder = tempfile::tempdir().unwrap();
        let (place, mut reader) = (beginning("zookeeper", ""), Reader::new(folder.path()));
        assert_eq!(told(&mut reader, &place), Ok(vec![]), "nothing yet");
        file(folder.path(), 1, &[(1, "a"), (2, "b")], 1);
        assert_eq!(told(&mut reader, &place), Ok(vec!["a".to_owned()]));
        file(folder.path(), 1, &[(1, "a"), (2, "b")], 0);
        assert_eq!(told(&mut reader, &place), Ok(vec!["b".to_owned()]));
        file(folder.path(), 3, &[(3, "c")], 0);
        assert_eq!(told(&mut reader, &place), Ok(vec!["c".to_owned()]));
        // Another one goes on where this one ended.
        file(folder.path(), 17, &[(4, "d")], 0);
        let mut again = Reader::new(folder.path());
        assert_eq!(told(&mut again, &place), Ok(vec!["d".to_owned()]));
    }

    #[test]
    fn a_change_that_is_missing_is_told_and_so_is_what_is_no_log() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), 1, &[(1, "a"), (3, "c")], 0);
        let place = beginning("zookeeper", "");
        let why = told(&mut Reader::new(folder.path()), &place).unwrap_err();
        assert!(why.contains("change 3 after 1"), "{why}");
        fs::write(folder.path().join("log.1"), [7; 64]).unwrap();
        let why = told(&mut Reader::new(folder.path()), &place).unwrap_err();
        assert!(why.contains("none"), "{why}");
    }
}
