//! Servers to reach, and a client that reaches them through a gateway, as a child in a sandbox would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::network::Gateway;
use crate::network::authority::Leaf;
use crate::network::envoy::EnvoyGateway;

/// Envoy's executable; `None`, said aloud, where there is none.
pub(super) fn envoy() -> Option<String> {
    let envoy = std::env::var("LITTLE_GHOST_ENVOY").ok();
    if envoy.is_none() {
        eprintln!("skipped: LITTLE_GHOST_ENVOY names no Envoy; script/install/envoy fetches one");
    }
    envoy
}

/// A server that answers each request with `200` and its own head, and tells the test about it.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Receiver<String>,
}

impl Server {
    pub(super) fn plain() -> Self {
        Self::start(None)
    }

    /// A server with TLS and this certificate.
    pub(super) fn tls(leaf: &Leaf) -> Self {
        let certificate = CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(leaf.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Self::start(Some(Arc::new(config)))
    }

    fn start(tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, sender) = (tls.clone(), sender.clone());
                thread::spawn(move || match tls {
                    None => converse(stream, &sender),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        converse(StreamOwned::new(connection, stream), &sender);
                    }
                });
            }
        });
        Self { address, requests }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads that came so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.try_iter().collect()
    }
}

fn converse(stream: impl Read + Write, requests: &Sender<String>) {
    let mut stream = BufReader::new(stream);
    while let Some(head) = head(&mut stream) {
        let _ = requests.send(head.clone());
        let length = head.len();
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{head}");
        if stream.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Lines up to the empty one, in lower case; `None` at the end.
fn head(stream: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some(head);
        }
        head.push_str(&line.to_ascii_lowercase());
    }
}

/// What came back: a status and a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

fn answer(stream: &mut impl BufRead) -> Option<Answer> {
    let head = head(stream)?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.trim().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    Some(Answer { status, body })
}

/// A client of a gateway.
#[derive(Clone)]
pub(super) struct Client {
    socket: PathBuf,
    authority: PathBuf,
}

impl Client {
    pub(super) fn of(gateway: &EnvoyGateway) -> Self {
        let socket = gateway.proxy_socket().unwrap();
        let authority = socket.with_file_name("authority.pem");
        Self { socket, authority }
    }

    fn connect(&self) -> BufReader<UnixStream> {
        let stream = UnixStream::connect(&self.socket).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        BufReader::new(stream)
    }

    /// Sends bytes to the proxy itself and reads its answer.
    pub(super) async fn send(&self, bytes: impl Into<String>) -> Answer {
        let (client, bytes) = (self.clone(), bytes.into());
        blocking(move || {
            let mut stream = client.connect();
            stream.get_mut().write_all(bytes.as_bytes()).unwrap();
            answer(&mut stream).unwrap()
        })
        .await
    }

    /// Opens a tunnel; the status of the proxy's answer.
    pub(super) async fn tunnel_status(&self, destination: &str) -> u16 {
        self.send(format!(
            "CONNECT {destination} HTTP/1.1\r\nhost: {destination}\r\n\r\n"
        ))
        .await
        .status
    }

    /// Sends bytes through a tunnel.
    pub(super) async fn through(&self, destination: &str, bytes: impl Into<String>) -> Answer {
        let (client, destination, bytes) = (self.clone(), destination.to_owned(), bytes.into());
        blocking(move || {
            let mut stream = client.tunnel(&destination);
            stream.get_mut().write_all(bytes.as_bytes()).unwrap();
            answer(&mut stream).unwrap()
        })
        .await
    }

    fn tunnel(&self, destination: &str) -> BufReader<UnixStream> {
        let mut stream = self.connect();
        let request = format!("CONNECT {destination} HTTP/1.1\r\nhost: {destination}\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        assert_eq!(answer(&mut stream).unwrap().status, 200);
        stream
    }

    /// Sends bytes through a tunnel with TLS to `name`. `None` when TLS fails.
    pub(super) async fn tls(
        &self,
        destination: &str,
        name: &str,
        bytes: impl Into<String>,
    ) -> Option<Answer> {
        let (client, destination, bytes) = (self.clone(), destination.to_owned(), bytes.into());
        let name = ServerName::try_from(name.to_owned()).unwrap();
        blocking(move || {
            let stream = client.tunnel(&destination).into_inner();
            let config = Arc::new(trusting(&client.authority));
            let connection = ClientConnection::new(config, name).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            stream.write_all(bytes.as_bytes()).ok()?;
            answer(&mut BufReader::new(stream))
        })
        .await
    }

    /// The protocol that a client with these gets in a tunnel to `host`.
    pub(super) async fn protocol(&self, host: &str, known: &[&str]) -> Option<String> {
        let client = self.clone();
        let known: Vec<Vec<u8>> = known.iter().map(|name| name.as_bytes().to_vec()).collect();
        let host = host.to_owned();
        blocking(move || {
            let mut stream = client.tunnel(&format!("{host}:443")).into_inner();
            let mut config = trusting(&client.authority);
            config.alpn_protocols = known;
            let name = ServerName::try_from(host).unwrap();
            let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
            while connection.is_handshaking() {
                connection.complete_io(&mut stream).unwrap();
            }
            let chosen = connection.alpn_protocol()?;
            Some(String::from_utf8(chosen.to_vec()).unwrap())
        })
        .await
    }

    /// Asks for a path of the inspected host.
    pub(super) async fn get(&self, host: &str, path: &str, headers: &str) -> Answer {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n");
        self.tls(&format!("{host}:443"), host, request)
            .await
            .unwrap()
    }
}

fn trusting(authority: &Path) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let pem = std::fs::read(authority).unwrap();
    roots
        .add(CertificateDer::from_pem_slice(&pem).unwrap())
        .unwrap();
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// A server of names on the loopback address that knows exactly one: its address is 127.0.0.1.
pub(super) fn names(known: &str) -> SocketAddr {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let mut wanted = Vec::new();
    for label in known.split('.') {
        wanted.push(u8::try_from(label.len()).unwrap());
        wanted.extend_from_slice(label.as_bytes());
    }
    wanted.push(0);
    thread::spawn(move || {
        let mut buffer = [0_u8; 512];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer) {
            let query = &buffer[..length];
            let end = 12 + query[12..].iter().position(|byte| *byte == 0).unwrap() + 1;
            let is_known = query[12..end].eq_ignore_ascii_case(&wanted);
            let is_address = query[end..end + 2] == [0, 1];
            let answers = u8::from(is_known && is_address);
            let code = if is_known { 0 } else { 3 };
            let mut reply = query[..2].to_vec();
            reply.extend_from_slice(&[0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]);
            reply.extend_from_slice(&query[12..end + 4]);
            if answers == 1 {
                reply.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            let _ = socket.send_to(&reply, peer);
        }
    });
    address
}

/// Connects over TCP, to show that a server is there for whoever may reach it.
pub(super) fn reachable(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok()
}
