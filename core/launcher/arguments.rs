//! The arguments of the process, and numbers in them.

use core::ptr;

/// The arguments and the environment, where the kernel put them.
pub struct Arguments {
    first: *mut *const u8,
    count: usize,
}

impl Arguments {
    /// # Safety
    /// `stack` is the stack pointer that the kernel started the process with.
    pub unsafe fn from_stack(stack: *mut *const u8) -> Self {
        // SAFETY: the first word is the number of arguments, which follow it.
        unsafe {
            Self {
                first: stack.add(1),
                count: stack.read() as usize,
            }
        }
    }

    /// The argument at `index`, empty beyond the last one.
    pub fn get(&self, index: usize) -> &[u8] {
        // SAFETY: below the count are only strings of the kernel.
        unsafe { bytes(self.pointer(index)) }
    }

    /// The argument at `index` as a C string, null beyond the last one.
    pub fn pointer(&self, index: usize) -> *const u8 {
        if index >= self.count {
            return ptr::null();
        }
        // SAFETY: below the count.
        unsafe { self.first.add(index).read() }
    }

    pub fn number(&self, index: usize) -> u64 {
        numbers(self.get(index), 10).next()
    }

    /// The null-terminated array from `index` on.
    pub fn from(&self, index: usize) -> *const *const u8 {
        // SAFETY: the array has a null behind the last argument.
        unsafe { self.first.add(index.min(self.count)) }
    }

    /// Replaces the argument at `index`, which must exist.
    pub fn replace(&self, index: usize, value: *const u8) {
        if index < self.count {
            // SAFETY: below the count, and nothing else reads it meanwhile.
            unsafe { self.first.add(index).write(value) }
        }
    }

    pub fn environment(&self) -> *const *const u8 {
        // SAFETY: the environment follows the null behind the last argument.
        unsafe { self.first.add(self.count + 1) }
    }

    /// The value of the variable whose name and `=` are `prefix`.
    pub fn variable(&self, prefix: &[u8]) -> Option<&[u8]> {
        let mut entry = self.environment();
        loop {
            // SAFETY: the environment ends with a null.
            let text = unsafe { entry.read() };
            if text.is_null() {
                return None;
            }
            // SAFETY: not null, so it is a string of the kernel.
            if let Some(value) = unsafe { bytes(text) }.strip_prefix(prefix) {
                return Some(value);
            }
            // SAFETY: the null was not reached.
            entry = unsafe { entry.add(1) };
        }
    }
}

/// The bytes of a C string; none for null.
///
/// # Safety
/// `text` is null or a C string that stays.
pub unsafe fn bytes<'a>(text: *const u8) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    let mut length = 0;
    // SAFETY: the caller's promise. A plain read would become a call of a `strlen` that is not there.
    unsafe {
        while text.add(length).read_volatile() != 0 {
            length += 1;
        }
        core::slice::from_raw_parts(text, length)
    }
}

/// Numbers with a colon between them.
pub struct Numbers<'a> {
    rest: &'a [u8],
    base: u64,
}

pub fn numbers(text: &[u8], base: u64) -> Numbers<'_> {
    Numbers { rest: text, base }
}

impl<'a> Numbers<'a> {
    /// The next number; zero if there is none.
    pub fn next(&mut self) -> u64 {
        let mut value = 0_u64;
        while let [first, rest @ ..] = self.rest {
            self.rest = rest;
            let digit = match first {
                b'0'..=b'9' => first - b'0',
                b'a'..=b'f' => first - b'a' + 10,
                _ => break,
            };
            value = value.wrapping_mul(self.base).wrapping_add(u64::from(digit));
        }
        value
    }

    /// What follows the colon after the last number. It ends with the null of the argument.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
