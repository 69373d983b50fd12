//! Lines from a write or a read on its worker's lane down to the store. They run behind everything:
//! what they pass on their way has nothing to do with them.

use super::beside::beside_ink;
use super::store::{WRITE_INKS, write_ink};
use super::{Canvas, merge};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::Form;

impl Canvas<'_> {
    pub(super) fn stems(&mut self) {
        for row in 0..self.scene.workers.len() {
            for ink in WRITE_INKS {
                self.write_stems(row, ink);
            }
            self.read_stems(row);
        }
    }

    fn write_stems(&mut self, row: usize, ink: Ink) {
        let scene = self.scene;
        let own = scene.writes.iter().filter(|write| {
            let drawn = write.applied.is_some() && !write.seal;
            drawn && write.worker == scene.workers[row] && write_ink(write) == ink
        });
        let at_x: Vec<_> = own.map(|write| (self.axis.x(write.at()), write)).collect();
        for group in merge(at_x, self.merge.max(4.0)) {
            let width = if ink == Ink::Accepted { 1.0 } else { 1.4 };
            self.stem(group.x, row, self.store_line(group.first), (ink, width));
        }
    }

    fn read_stems(&mut self, row: usize) {
        let scene = self.scene;
        let own = scene.beside.iter();
        let own = own.filter(|mark| mark.is_read() && mark.worker == scene.workers[row]);
        let at_x: Vec<_> = own.map(|mark| (self.axis.x(mark.at), mark)).collect();
        for group in merge(at_x, self.merge.max(4.0)) {
            self.stem(
                group.x,
                row,
                self.read_line(),
                (beside_ink(group.first), 1.0),
            );
        }
    }

    fn stem(&mut self, x: f64, row: usize, to: f64, (ink, width): (Ink, f64)) {
        let points = vec![(x, self.mark_line(row)), (x, to)];
        self.picture.add(Form::Path(points, ink, width));
    }
}
