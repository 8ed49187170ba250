//! What the compiler calls for copies and comparisons, since there is no libc. Volatile accesses keep it
//! from turning these loops into calls of themselves.

/// # Safety
/// As for C's `memcpy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: the caller's promise.
        unsafe { to.add(index).write_volatile(from.add(index).read()) }
    }
    to
}

/// # Safety
/// As for C's `memmove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize) <= from as usize {
        // SAFETY: the caller's promise; ascending order reads each byte before it is overwritten.
        return unsafe { memcpy(to, from, count) };
    }
    for index in (0..count).rev() {
        // SAFETY: the caller's promise.
        unsafe { to.add(index).write_volatile(from.add(index).read()) }
    }
    to
}

/// # Safety
/// As for C's `memset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: the caller's promise.
        unsafe { to.add(index).write_volatile(value as u8) }
    }
    to
}

/// # Safety
/// As for C's `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe {
            (
                left.add(index).read_volatile(),
                right.add(index).read_volatile(),
            )
        };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// # Safety
/// As for `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { memcmp(left, right, count) }
}

/// Named by the tables of the precompiled `core`; nothing unwinds here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
