//! Links from sentences and pictures to the rows of the raw timeline. Only a line that is on the
//! page is linked, and every line that is linked gets its row: no link leads nowhere.

use super::glossary;
use super::units::tied;
use crate::report::model::{ArmModel, Model};
use crate::report::sentence::{Part, Sentence};
use maud::{Markup, html};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// More links than this in one list are counted, not shown.
const SHOWN: usize = 8;

/// Remembers what was linked.
pub struct Links {
    used: Vec<RefCell<BTreeSet<u64>>>,
    explained: RefCell<BTreeSet<&'static str>>,
}

impl Links {
    /// Nothing is linked yet.
    pub fn new(model: &Model) -> Self {
        Links {
            used: model.arms.iter().map(|_| RefCell::default()).collect(),
            explained: RefCell::default(),
        }
    }

    /// From here on every word is explained once more.
    pub fn begin_section(&self) {
        self.explained.borrow_mut().clear();
    }

    /// Words without any explanation; what stands between backticks is shown as typed.
    pub fn typed(&self, words: &str) -> Markup {
        glossary::typed(words)
    }

    /// Words in which each term is explained where it stands first in its section.
    pub fn explain(&self, words: &str) -> Markup {
        glossary::explain(words, &mut self.explained.borrow_mut())
    }

    /// The address of a line on this page; none if the page does not show it.
    pub fn href(&self, arm: &ArmModel, seq: u64) -> Option<String> {
        arm.place(seq)?;
        self.used.get(arm.index)?.borrow_mut().insert(seq);
        Some(format!("#{}", arm.anchor(seq)))
    }

    /// Every line of an arm that was linked.
    pub fn used(&self, arm: &ArmModel) -> BTreeSet<u64> {
        self.used
            .get(arm.index)
            .map_or_else(BTreeSet::new, |used| used.borrow().clone())
    }

    /// Words that lead to a line.
    pub fn link(&self, arm: &ArmModel, words: &str, seq: u64) -> Markup {
        html! {
            @match self.href(arm, seq) {
                Some(href) => a href=(href) { (tied(words)) },
                None => (tied(words)),
            }
        }
    }

    /// A sentence with its links.
    pub fn sentence(&self, arm: &ArmModel, sentence: &Sentence) -> Markup {
        html! {
            @for part in &sentence.parts {
                @match part {
                    Part::Text(words) => (self.explain(words)),
                    Part::Code(typed) => code { (typed) },
                    Part::Event(words, seq) => (self.link(arm, words, *seq)),
                    Part::Page(words, address) => a href=(address) { (words) },
                }
            }
        }
    }

    /// The lines that a finding rests on.
    pub fn events(&self, arm: &ArmModel, seqs: &[u64]) -> Markup {
        html! {
            @if !seqs.is_empty() {
                span.events {
                    "events "
                    @for seq in seqs.iter().take(SHOWN) {
                        (self.link(arm, &seq.to_string(), *seq)) " "
                    }
                    @if seqs.len() > SHOWN { "and " (seqs.len() - SHOWN) " more" }
                }
            }
        }
    }
}
