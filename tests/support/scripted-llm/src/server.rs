//! Listening and accepting.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpSocket;

use crate::connection;
use crate::scenario::Registry;

/// A burst of connections past the backlog waits a second for its SYN to be
/// sent again, which would be taken for the client's slowness.
const BACKLOG: u32 = 4096;

/// Lifts the soft limit on open files to the hard one: a benchmark opens a
/// thousand streams at once, and 1,024 is a common soft limit.
pub(crate) fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without it the server still works, only with fewer connections.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Binds the loopback address, reports where, and serves until the process ends.
pub(crate) async fn run(
    port: u16,
    ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    let registry = Arc::new(Registry::new(address));
    ready(address)?;
    let mut connections = 0_u64;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections += 1;
                tokio::spawn(connection::serve(stream, registry.clone(), connections));
            }
            // Out of file descriptors, or a client that left before it was
            // accepted: wait for descriptors to come free instead of spinning.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}
