//! ZooKeeper's encoding: numbers in network order, bytes and text behind their length, of which a
//! negative one is nothing.

/// What is sent, as it grows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Put(Vec<u8>);

impl Put {
    pub(crate) fn int(mut self, number: i32) -> Put {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(crate) fn long(mut self, number: i64) -> Put {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(crate) fn flag(mut self, is_so: bool) -> Put {
        self.0.push(u8::from(is_so));
        self
    }

    /// What is longer than the server takes is refused by the server.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Put {
        let mut put = self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        put.0.extend(bytes);
        put
    }

    pub(crate) fn text(self, text: &str) -> Put {
        self.bytes(text.as_bytes())
    }

    /// Behind it, as they are.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Put {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What was received and is not yet read. Nothing is given that is not there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    fn some(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn int(&mut self) -> Option<i32> {
        let bytes = self.some(4)?.try_into().ok()?;
        Some(i32::from_be_bytes(bytes))
    }

    pub(crate) fn long(&mut self) -> Option<i64> {
        let bytes = self.some(8)?.try_into().ok()?;
        Some(i64::from_be_bytes(bytes))
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        Some(self.some(1)?.first()? != &0)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.int()?;
        self.some(usize::try_from(length).unwrap_or(0))
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// What the server knows of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The change that made it.
    pub(crate) made: i64,
    /// The session that it ends with; 0: none.
    pub(crate) session: i64,
}

impl Stat {
    pub(crate) fn take(from: &mut Take<'_>) -> Option<Stat> {
        let made = from.long()?;
        // Last change, both times, three versions.
        from.some(8 + 8 + 8 + 3 * 4)?;
        let session = from.long()?;
        // Length, number of children, last change of those.
        from.some(4 + 4 + 8)?;
        Some(Stat { made, session })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_and_no_more() {
        let put = Put::default()
            .int(-2)
            .long(1 << 40)
            .flag(true)
            .text("ä")
            .bytes(b"");
        let mut take = Take(put.as_bytes());
        assert_eq!(take.int(), Some(-2));
        assert_eq!(take.long(), Some(1 << 40));
        assert_eq!(take.flag(), Some(true));
        assert_eq!(take.text(), Some("ä"));
        assert_eq!(take.bytes(), Some(&b""[..]));
        assert_eq!((take.int(), take.flag(), take.bytes()), (None, None, None));
    }

    #[test]
    fn a_length_that_is_not_there_gives_nothing() {
        let put = Put::default().int(5).raw(b"abc");
        assert_eq!(Take(put.as_bytes()).bytes(), None);
        let nothing = Put::default().int(-1);
        assert_eq!(Take(nothing.as_bytes()).bytes(), Some(&b""[..]));
    }
}
