//! Frames: four bytes of length, the highest first, then that much JSON.

use std::io::{self, Read, Write};

/// The longest frame that is read or written.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The next frame, or nothing at the end of the input.
pub fn read() -> io::Result<Option<String>> {
    let mut input = io::stdin().lock();
    let mut header = [0; 4];
    match input.read_exact(&mut header) {
        Ok(()) => {}
        Err(problem) if problem.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(problem) => return Err(problem),
    }
    let length = u32::from_be_bytes(header) as usize;
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut payload = vec![0; length];
    input.read_exact(&mut payload)?;
    String::from_utf8(payload)
        .map(Some)
        .map_err(io::Error::other)
}

/// Sends `payload`, which must be JSON.
pub fn write(payload: &str) -> io::Result<()> {
    let length = payload.len();
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut output = io::stdout().lock();
    output.write_all(&(length as u32).to_be_bytes())?;
    output.write_all(payload.as_bytes())?;
    output.flush()
}
