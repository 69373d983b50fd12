//! One direction of one connection: what has been read and not been written, and when it may be.

use std::collections::VecDeque;

/// Above this many bytes nothing more is read, and the sender feels it.
const FULL: usize = 4 << 20;
/// Small neighbours are joined up to this size.
const JOINED: usize = 64 * 1024;
/// Not before the heal.
const NEVER: u64 = u64::MAX;

/// What happens to what arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// Passes.
    #[default]
    Open,
    /// Passes so many ns later.
    After(u64),
    /// Waits for the heal.
    Keep,
    /// Is thrown away.
    Sink,
}

/// What may be written next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// Nothing now.
    Nothing,
    /// These bytes.
    Bytes(&'a [u8]),
    /// The stream has ended in good order.
    End,
    /// The stream was reset.
    Reset,
}

#[derive(Debug, PartialEq, Eq)]
enum Load {
    Bytes { bytes: Vec<u8>, written: usize },
    End,
    Reset,
}

#[derive(Debug)]
struct Piece {
    due_ns: u64,
    load: Load,
    /// The chosen frame that ends with this piece.
    tag: Option<u64>,
}

/// One direction; at first empty and open.
#[derive(Debug, Default)]
pub struct Lane {
    gate: Gate,
    pieces: VecDeque<Piece>,
    queued: usize,
    /// Bytes of a frame that is not complete, in a lane that looks at whole frames.
    partial: Vec<u8>,
    /// Nothing more will be read.
    source_ended: bool,
    /// The end has been written, or nobody is there to read.
    finished: bool,
    /// Bytes are missing: what follows must never arrive.
    torn: bool,
}

impl Lane {
    /// Changes the gate for what arrives from now on.
    pub fn set_gate(&mut self, gate: Gate) {
        self.gate = gate;
    }

    /// Also what is here already waits for the heal.
    pub fn keep_all(&mut self) {
        self.gate = Gate::Keep;
        for piece in &mut self.pieces {
            piece.due_ns = NEVER;
        }
    }

    /// Also what is here already is thrown away: how many bytes.
    pub fn sink_all(&mut self) -> usize {
        self.gate = Gate::Sink;
        let dropped = self.drop_bytes();
        self.torn = dropped > 0;
        for piece in &mut self.pieces {
            piece.due_ns = NEVER;
        }
        dropped
    }

    /// Everything that is here may go, and what arrives passes.
    pub fn release(&mut self, now_ns: u64) {
        self.gate = Gate::Open;
        self.flush_partial(now_ns);
        for piece in &mut self.pieces {
            piece.due_ns = piece.due_ns.min(now_ns);
        }
    }

    /// Bytes arrived, to be passed on; the tag names the chosen frame that ends with them. How many
    /// were thrown away.
    pub fn push(&mut self, bytes: &[u8], tag: Option<u64>, now_ns: u64) -> usize {
        if bytes.is_empty() {
            return 0;
        }
        if self.finished || self.gate == Gate::Sink {
            self.torn = true;
            return bytes.len();
        }
        self.queued += bytes.len();
        let due_ns = self.due(now_ns);
        if let Some(last) = self.pieces.back_mut()
            && last.due_ns == due_ns
            && last.tag.is_none()
            && let Load::Bytes { bytes: before, .. } = &mut last.load
            && before.len() + bytes.len() <= JOINED
        {
            before.extend_from_slice(bytes);
            last.tag = tag;
            return 0;
        }
        let load = Load::Bytes {
            bytes: bytes.to_vec(),
            written: 0,
        };
        self.pieces.push_back(Piece { due_ns, load, tag });
        0
    }

    /// Bytes of a frame that is not complete.
    pub fn collect(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
    }

    /// The bytes of the frame that is complete now.
    pub fn take_partial(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.partial)
    }

    /// Passes an incomplete frame on as it is; how many bytes were thrown away.
    pub fn flush_partial(&mut self, now_ns: u64) -> usize {
        let partial = self.take_partial();
        self.push(&partial, None, now_ns)
    }

    /// The source has ended, in good order or by a reset. An end is never lost, only late.
    pub fn end(&mut self, reset: bool, now_ns: u64) {
        self.source_ended = true;
        let due_ns = self.due(now_ns);
        let load = if reset { Load::Reset } else { Load::End };
        if self.pieces.back().is_none_or(|last| last.load != load) {
            let tag = None;
            self.pieces.push_back(Piece { due_ns, load, tag });
        }
    }

    /// Nobody reads what this lane writes any more: how many bytes were thrown away.
    pub fn give_up(&mut self) -> usize {
        self.finished = true;
        let dropped = self.take_partial().len() + self.drop_bytes();
        self.pieces.retain(|piece| piece.load == Load::Reset);
        dropped
    }

    /// What may be written now.
    pub fn next(&self, now_ns: u64) -> Next<'_> {
        match self.pieces.front() {
            Some(piece) if piece.due_ns <= now_ns => match &piece.load {
                Load::Bytes { bytes, written } => Next::Bytes(&bytes[*written..]),
                Load::End => Next::End,
                Load::Reset => Next::Reset,
            },
            _ => Next::Nothing,
        }
    }

    /// When something may be written that may not be now.
    pub fn wake_at(&self, now_ns: u64) -> Option<u64> {
        let due_ns = self.pieces.front()?.due_ns;
        (due_ns != NEVER && due_ns > now_ns).then_some(due_ns)
    }

    /// So many bytes of [`Lane::next`] have been written; the chosen frame that ended with them.
    pub fn wrote(&mut self, n: usize) -> Option<u64> {
        let piece = self.pieces.front_mut()?;
        let Load::Bytes { bytes, written } = &mut piece.load else {
            return None;
        };
        *written += n;
        self.queued = self.queued.saturating_sub(n);
        if *written < bytes.len() {
            return None;
        }
        self.pieces.pop_front()?.tag
    }

    /// The end has been written.
    pub fn ended(&mut self) {
        self.pieces.pop_front();
        self.finished = true;
    }

    /// Whether more may be read.
    pub fn wants(&self) -> bool {
        // Nothing stays in a sink, and a frame that has begun must get its end.
        !self.source_ended && (self.queued < FULL || !self.partial.is_empty())
    }

    /// Nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.finished && self.pieces.is_empty()
    }

    /// Whether what arrives passes at once.
    pub fn is_flowing(&self) -> bool {
        self.gate == Gate::Open && !self.finished
    }

    /// Whether bytes are missing.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// Bytes read and neither written nor thrown away.
    pub fn waiting(&self) -> usize {
        self.queued + self.partial.len()
    }

    fn due(&self, now_ns: u64) -> u64 {
        match self.gate {
            Gate::Open => now_ns,
            Gate::After(ns) => now_ns.saturating_add(ns),
            Gate::Keep | Gate::Sink => NEVER,
        }
    }

    fn drop_bytes(&mut self) -> usize {
        let ends = |piece: &Piece| !matches!(piece.load, Load::Bytes { .. });
        self.pieces.retain(ends);
        std::mem::take(&mut self.queued)
    }
}
