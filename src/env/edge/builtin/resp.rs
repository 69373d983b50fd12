//! Where one RESP frame ends and the next begins: RESP2 and RESP3, any nesting, bytes in any
//! chunks. Nothing is interpreted but lengths and the first words of an array.

/// Words that are kept of an array, and bytes that are kept of each.
const WORDS: usize = 3;
const WORD_BYTES: usize = 16;
/// The longest line that carries a length.
const LENGTH_BYTES: usize = 20;
/// The longest line that carries text.
const LINE_BYTES: usize = 64 * 1024;
/// The longest bulk string, as `proto-max-bulk-len` allows it at most by default, doubled.
const BULK_BYTES: u64 = 1 << 30;
const DEPTH: usize = 32;

/// Who sends the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Requests: arrays of bulk strings, never empty.
    Client,
    /// Replies and pushes: any value.
    Server,
}

/// One whole frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// Its type byte.
    pub kind: u8,
    /// The first bulk strings of it, in lower case and cut.
    pub words: Vec<String>,
}

/// Not RESP, or not as this side may send it: why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken(pub &'static str);

#[derive(Debug, Clone, Copy)]
enum State {
    /// The next byte is the type of a value.
    Type,
    /// Inside the first line of a value of this type; so many bytes of it seen.
    Line { kind: u8, seen: usize, cr: bool },
    /// Inside a bulk string: bytes left, with the line end.
    Bulk { left: u64 },
}

/// Reads one direction of a connection.
#[derive(Debug)]
pub struct Scanner {
    sender: Sender,
    state: State,
    /// Values still to come, outermost first.
    open: Vec<u64>,
    length: Vec<u8>,
    word: Vec<u8>,
    frame: Frame,
}

impl Scanner {
    /// At the start of a connection.
    pub fn new(sender: Sender) -> Self {
        Scanner {
            sender,
            state: State::Type,
            open: Vec::new(),
            length: Vec::new(),
            word: Vec::new(),
            frame: Frame::default(),
        }
    }

    /// Whether a frame has begun and not ended.
    pub fn mid_frame(&self) -> bool {
        !self.open.is_empty() || !matches!(self.state, State::Type)
    }

    /// Reads on, to the end of the bytes or of a frame, whichever is first: how many bytes were
    /// used, and the frame that ended with them. Uses at least one byte if there is one.
    ///
    /// # Errors
    /// When this is no RESP. The scanner is of no use afterwards.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<(usize, Option<Frame>), Broken> {
        let mut used = 0;
        while used < bytes.len() {
            let ended = match self.state {
                State::Type => {
                    self.begin(bytes[used])?;
                    used += 1;
                    false
                }
                State::Line { kind, seen, cr } => {
                    let byte = bytes[used];
                    used += 1;
                    self.line(kind, seen, cr, byte)?
                }
                State::Bulk { left } => {
                    let some = usize::try_from(left).unwrap_or(usize::MAX);
                    let part = &bytes[used..bytes.len().min(used.saturating_add(some))];
                    used += part.len();
                    self.bulk(left, part)?
                }
            };
            if ended && self.value_ended() {
                return Ok((used, Some(std::mem::take(&mut self.frame))));
            }
        }
        Ok((used, None))
    }

    fn begin(&mut self, kind: u8) -> Result<(), Broken> {
        let wanted = match (self.sender, self.open.len()) {
            (Sender::Server, _) => b"+-:,#_($!=*~>%|".as_slice(),
            (Sender::Client, 0) => b"*",
            (Sender::Client, _) => b"$",
        };
        if !wanted.contains(&kind) {
            return Err(Broken(match self.sender {
                Sender::Client => "a request that is no array of bulk strings",
                Sender::Server => "a reply of an unknown type",
            }));
        }
        if self.open.is_empty() {
            self.frame.kind = kind;
        }
        self.length.clear();
        self.state = State::Line {
            kind,
            seen: 0,
            cr: false,
        };
        Ok(())
    }

    /// One byte of a first line; whether a value ended with it.
    fn line(&mut self, kind: u8, seen: usize, cr: bool, byte: u8) -> Result<bool, Broken> {
        let text = b"+-:,#_(".contains(&kind);
        match (cr, byte) {
            (true, b'\n') if text => {
                self.state = State::Type;
                return Ok(true);
            }
            (true, b'\n') => return self.length(kind),
            (true, _) => return Err(Broken("a line that does not end as lines do")),
            (false, b'\r') => {}
            (false, _) if text => {}
            (false, _) => self.length.push(byte),
        }
        let longest = if text { LINE_BYTES } else { LENGTH_BYTES };
        if seen >= longest {
            return Err(Broken("a line that is too long"));
        }
        self.state = State::Line {
            kind,
            seen: seen + 1,
            cr: byte == b'\r',
        };
        Ok(false)
    }

    /// The first line of a value with a length is complete; whether the value is, too.
    fn length(&mut self, kind: u8) -> Result<bool, Broken> {
        let text = std::str::from_utf8(&self.length).ok();
        let length = text.and_then(|text| text.parse::<i64>().ok());
        let length = length.ok_or(Broken("a length that is no number"))?;
        self.state = State::Type;
        let Ok(length) = u64::try_from(length) else {
            return match (self.sender, length) {
                (Sender::Server, -1) => Ok(true),
                _ => Err(Broken("a negative length")),
            };
        };
        if b"$!=".contains(&kind) {
            if length > BULK_BYTES {
                return Err(Broken("a string that is too long"));
            }
            self.word.clear();
            self.state = State::Bulk { left: length + 2 };
            return Ok(false);
        }
        let values = match kind {
            b'%' => length.checked_mul(2),
            // The attributes, and the value that they belong to.
            b'|' => length.checked_mul(2).and_then(|twice| twice.checked_add(1)),
            _ => Some(length),
        };
        match (values, self.sender) {
            (None, _) => Err(Broken("a length that is too large")),
            (Some(0), Sender::Client) => Err(Broken("an empty request")),
            (Some(0), Sender::Server) => Ok(true),
            (Some(_), _) if self.open.len() >= DEPTH => Err(Broken("a value nested too deeply")),
            (Some(values), _) => {
                self.open.push(values);
                Ok(false)
            }
        }
    }

    /// A part of a bulk string; whether it ended with it.
    fn bulk(&mut self, left: u64, part: &[u8]) -> Result<bool, Broken> {
        if left > 2 && self.frame.words.len() < WORDS {
            let text = usize::try_from(left - 2).unwrap_or(usize::MAX);
            let room = WORD_BYTES - self.word.len();
            let taken = part.len().min(text).min(room);
            self.word.extend_from_slice(&part[..taken]);
        }
        let body = usize::try_from(left.saturating_sub(2)).unwrap_or(usize::MAX);
        let line_end = if left >= 2 { b"\r\n".as_slice() } else { b"\n" };
        if let Some(end) = part.get(body..)
            && end != &line_end[..end.len()]
        {
            return Err(Broken("a string that is longer than it said"));
        }
        let left = left.saturating_sub(u64::try_from(part.len()).unwrap_or(u64::MAX));
        if left > 0 {
            self.state = State::Bulk { left };
            return Ok(false);
        }
        self.state = State::Type;
        if self.frame.words.len() < WORDS {
            let word = String::from_utf8_lossy(&self.word).to_lowercase();
            self.frame.words.push(word);
        }
        Ok(true)
    }

    /// A value ended; whether the frame did.
    fn value_ended(&mut self) -> bool {
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.open.pop();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(sender: Sender, bytes: &[u8]) -> Result<Vec<(String, Frame)>, Broken> {
        let mut scanner = Scanner::new(sender);
        let (mut found, mut begun, mut at) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            let (used, frame) = scanner.scan(&bytes[at..])?;
            at += used;
            if let Some(frame) = frame {
                let text = String::from_utf8_lossy(&bytes[begun..at]).into_owned();
                found.push((text, frame));
                begun = at;
            }
        }
        assert_eq!(scanner.mid_frame(), begun < bytes.len());
        Ok(found)
    }

    #[test]
    fn every_type_ends_where_it_ends() {
        for value in [
            "+OK\r\n",
            "-ERR no\r\n",
            ":1\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "$4\r\n\r\n\r\n\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*2\r\n*1\r\n:1\r\n$1\r\nx\r\n",
            "%1\r\n+a\r\n*1\r\n_\r\n",
            "~2\r\n#t\r\n,1.5\r\n",
            ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n",
            "=6\r\ntxt:ab\r\n",
            "!3\r\nERR\r\n",
            "(12345678901234567890\r\n",
            "|1\r\n+ttl\r\n:1\r\n*1\r\n:2\r\n",
        ] {
            let twice = format!("{value}{value}:7\r\n");
            let found = frames(Sender::Server, twice.as_bytes()).unwrap();
            let texts: Vec<_> = found.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(texts, [value, value, ":7\r\n"]);
        }
    }

    #[test]
    fn the_first_words_of_a_request_are_known() {
        let bytes = b"*3\r\n$6\r\nCLIENT\r\n$5\r\nReply\r\n$20\r\nabcdefghijklmnopqrst\r\n";
        let found = frames(Sender::Client, bytes).unwrap();
        let words = &found[0].1.words;
        assert_eq!(*words, ["client", "reply", "abcdefghijklmnop"]);
    }

    #[test]
    fn what_is_no_request_or_no_reply_is_refused() {
        for bytes in [
            "PING\r\n",
            "*1\r\n:1\r\n",
            "*0\r\n",
            "*-1\r\n",
            "*1\r\n$-1\r\n",
            "*1\r\n$4\r\nPINGxx",
            "*x\r\n",
            "*1\rx",
            "*123456789012345678901234567890",
            "*1\r\n$99999999999\r\n",
        ] {
            let read = frames(Sender::Client, bytes.as_bytes());
            assert!(read.is_err(), "{bytes:?}: {read:?}");
        }
        assert!(frames(Sender::Server, b"?\r\n").is_err());
        assert!(frames(Sender::Server, "*1\r\n".repeat(40).as_bytes()).is_err());
        assert!(frames(Sender::Server, &[b'+'; 70_000]).is_err());
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[+-][a-z ]{0,9}\r\n",
            ":[0-9]{1,9}\r\n",
            Just("$-1\r\n".to_owned()),
            "[a-z\r\n*$]{0,40}".prop_map(|text| format!("${}\r\n{text}\r\n", text.len())),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            let list = |kind: char, values: Vec<String>, per: usize| {
                format!("{kind}{}\r\n{}", values.len() / per, values.concat())
            };
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(move |v| list('*', v, 1)),
                prop::collection::vec(inner.clone(), 0..6).prop_map(move |v| list('>', v, 1)),
                prop::collection::vec((inner.clone(), inner), 0..3)
                    .prop_map(move |v| v.into_iter().flat_map(|(a, b)| [a, b]).collect())
                    .prop_map(move |v| list('%', v, 2)),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_in_any_chunks_end_where_they_end(
            values in prop::collection::vec(value(), 1..8),
            cuts in prop::collection::vec(1_usize..9, 1..40),
        ) {
            let bytes = values.concat().into_bytes();
            let mut scanner = Scanner::new(Sender::Server);
            let (mut at, mut ends) = (0, Vec::new());
            let mut cuts = cuts.iter().cycle();
            while at < bytes.len() {
                let chunk = bytes.len().min(at + cuts.next().unwrap());
                while at < chunk {
                    let (used, frame) = scanner.scan(&bytes[at..chunk]).unwrap();
                    prop_assert!(used > 0);
                    at += used;
                    ends.extend(frame.map(|_| at));
                }
            }
            let wanted: Vec<usize> = values
                .iter()
                .scan(0, |sum, value| { *sum += value.len(); Some(*sum) })
                .collect();
            prop_assert_eq!(ends, wanted);
        }

        #[test]
        fn no_bytes_are_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            sender in prop_oneof![Just(Sender::Client), Just(Sender::Server)],
        ) {
            let _ = frames(sender, &bytes);
        }
    }
}
