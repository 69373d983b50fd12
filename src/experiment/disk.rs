//! A file on disk to text. Whatever is no page of text is refused before it is parsed: folders,
//! devices, megabytes, bytes that are no UTF-8.

use super::files::missing;
use crate::problem::Problem;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Largest file that is looked at; a drill is a page of text.
const BYTES_MAX: u64 = 1 << 20;

/// Reads a file; `shown` stands in problems.
pub(super) fn from_disk(root: &Path, path: &Path, shown: &str) -> Result<String, Problem> {
    let refuse = |message: String| Problem::whole(shown, message);
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(missing(root, path, shown));
        }
        Err(error) => return Err(refuse(format!("cannot be read: {error}"))),
    };
    if meta.is_dir() {
        let problem = refuse("this is a folder, not an experiment file".to_owned());
        return Err(problem.hint("name a file in it, or say `--all` for `experiments/*.toml`"));
    }
    if !meta.is_file() {
        return Err(refuse("this is not a regular file".to_owned()));
    }
    let cannot = |error: std::io::Error| refuse(format!("cannot be read: {error}"));
    let file = File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if bytes.len() as u64 > BYTES_MAX {
        let size = meta.len().max(bytes.len() as u64);
        let message = format!("{size} bytes are too many for an experiment file");
        return Err(refuse(message).hint("at most 1 MiB"));
    }
    text_of(shown, bytes)
}

/// The bytes as text; what is not text is refused with the place of the first bad byte.
fn text_of(shown: &str, bytes: Vec<u8>) -> Result<String, Problem> {
    let (text, bad) = match String::from_utf8(bytes) {
        Ok(text) => {
            let nul = text.find('\0');
            (text, nul)
        }
        Err(error) => {
            let bad = error.utf8_error().valid_up_to();
            let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (lossy, Some(bad))
        }
    };
    match bad {
        None => Ok(text),
        Some(bad) => {
            let message = "not a text file: a byte here belongs to no UTF-8 text";
            Err(Problem::at(shown, &text, bad..bad, message).hint("an experiment is a TOML file"))
        }
    }
}
