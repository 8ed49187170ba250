//! Whether the proxy is there and denies.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// A destination that nobody can allow, because no name ends like this (RFC 6761).
const REQUEST: &[u8] =
    b"CONNECT probe.little-ghost.invalid:1 HTTP/1.1\r\nhost: probe.little-ghost.invalid:1\r\n\r\n";
const DENIED: &[u8] = b"HTTP/1.1 403 ";

/// Asks the proxy for something that it must deny. True only when it answers, and denies.
pub(super) async fn denies(socket: &Path, patience: Duration) -> bool {
    let answer = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.write_all(REQUEST).await?;
        let mut start = [0_u8; DENIED.len()];
        stream.read_exact(&mut start).await?;
        std::io::Result::Ok(start == DENIED)
    };
    matches!(tokio::time::timeout(patience, answer).await, Ok(Ok(true)))
}
