//! Tells the engine how far it came.

use crate::system;

pub struct Report {
    descriptor: i32,
}

impl Report {
    pub fn new(descriptor: u64) -> Self {
        Self {
            descriptor: descriptor as i32,
        }
    }

    /// All walls stand; the command is next.
    pub fn starting(&self) {
        system::write(self.descriptor, b"s");
    }

    /// Ends the process, because a wall is missing.
    pub fn failed(&self, what: &[u8], result: isize) -> ! {
        let mut digits = [0_u8; 8];
        let mut number = result.unsigned_abs();
        for place in digits.iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
        for part in [&b"f"[..], what, b" failed with error ", &digits] {
            system::write(self.descriptor, part);
        }
        system::exit(125)
    }
}
