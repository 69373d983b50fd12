//! Live progress on stderr: a line an arm that moves on a terminal, plain lines elsewhere.

use crate::say;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

/// Where progress goes.
pub struct Console {
    live: Option<MultiProgress>,
    bars: Mutex<HashMap<String, ProgressBar>>,
}

impl Console {
    /// Spinners on a terminal outside CI; plain lines otherwise.
    pub fn new() -> Self {
        let terminal = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        Console {
            live: terminal.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr())),
            bars: Mutex::new(HashMap::new()),
        }
    }

    /// Something happened in an arm, at this lab time (ns).
    pub fn said(&self, arm: &str, at: u64, text: &str) {
        let seconds = at / 1_000_000_000;
        let hundredths = at / 10_000_000 % 100;
        let line = format!("{arm}  {seconds}.{hundredths:02} s  {text}");
        match self.bar(arm) {
            Some(bar) => bar.set_message(line),
            None => say::err(format_args!("{line}")),
        }
    }

    /// Something that is not about one arm's timeline.
    pub fn note(&self, text: &str) {
        match &self.live {
            Some(live) => {
                // A terminal that went away must not end a run.
                let _ = live.println(text);
            }
            None => say::err(format_args!("{text}")),
        }
    }

    /// An arm has ended.
    pub fn ended(&self, arm: &str) {
        let mut bars = self.bars.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some(bar) = bars.remove(arm) {
            bar.finish_and_clear();
        }
    }

    fn bar(&self, arm: &str) -> Option<ProgressBar> {
        let live = self.live.as_ref()?;
        let mut bars = self.bars.lock().unwrap_or_else(|lock| lock.into_inner());
        let bar = bars.entry(arm.to_owned()).or_insert_with(|| {
            let bar = live.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Some(bar.clone())
    }
}

impl Default for Console {
    fn default() -> Self {
        Console::new()
    }
}
