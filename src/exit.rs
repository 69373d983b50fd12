//! The documented exit codes, and which one wins when several drills ran.

/// How the whole command ended. The numbers are a contract with CI systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: every drill passed, or reached the limit that its file declares.
    Ok,
    /// 1: a drill failed.
    Fail,
    /// 2: the command line or an experiment file is wrong; nothing was started.
    Usage,
    /// 3: a drill could not tell.
    Inconclusive,
    /// 4: this machine is not ready (a server is missing, a folder is not writable, …).
    Environment,
    /// 70: our own defect (`EX_SOFTWARE` of sysexits.h).
    Bug,
    /// 130: interrupted by the user (128 + SIGINT).
    Interrupted,
}

impl Exit {
    /// The process exit code.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Fail => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
            Exit::Environment => 4,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
        }
    }

    /// How bad this is; the worst of several answers wins: 70 > 1 > 4 > 3 > 0.
    ///
    /// An interruption or a usage error ends the command at once and outranks all of them.
    const fn badness(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Inconclusive => 1,
            Exit::Environment => 2,
            Exit::Fail => 3,
            Exit::Bug => 4,
            Exit::Usage => 5,
            Exit::Interrupted => 6,
        }
    }

    /// The worse of two answers.
    #[must_use]
    pub const fn worst(self, other: Exit) -> Exit {
        if other.badness() > self.badness() {
            other
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn worst_wins_in_the_documented_order() {
        let order = [
            Exit::Ok,
            Exit::Inconclusive,
            Exit::Environment,
            Exit::Fail,
            Exit::Bug,
        ];
        for (i, a) in order.iter().enumerate() {
            for b in &order[i..] {
                assert_eq!(a.worst(*b), *b);
                assert_eq!(b.worst(*a), *b);
            }
        }
        assert_eq!(order.map(Exit::code), [0, 3, 4, 1, 70]);
    }
}
