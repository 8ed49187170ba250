use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use super::server::{Reply, Server, Then};
use super::{ask, chunk, last_chunk, local, model, question};
use crate::error::{Error, ErrorKind, Retry};
use crate::http::Limits;
use crate::provider::{Api, ProviderConfig};

async fn failure(config: ProviderConfig) -> Error {
    let config = config.option("max_retries", 0);
    ask(&*model(config), &question()).await.outcome.unwrap_err()
}

#[tokio::test]
async fn a_refused_connection_says_where_and_what_to_check() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = failure(local(&format!("http://{address}/v1"))).await;
    assert_eq!(error.kind(), ErrorKind::Http);
    assert_eq!((error.status(), error.retry()), (None, Retry::Backoff));
    for part in [
        address.as_str(),
        "connection refused",
        "\"primary\"",
        "base_url",
    ] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[tokio::test]
async fn https_to_a_plain_server_is_explained() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let reply = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            let _ = tokio::io::AsyncWriteExt::write_all(&mut socket, reply).await;
        }
    });
    let error = failure(local(&format!("https://{address}/v1"))).await;
    assert_eq!((error.kind(), error.status()), (ErrorKind::Http, None));
    assert!(
        error.message().contains("is this endpoint https?"),
        "{error}"
    );
}

#[tokio::test]
async fn something_else_than_http_is_explained() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let reply = b"SSH-2.0-OpenSSH_9.2\r\n";
            let _ = tokio::io::AsyncWriteExt::write_all(&mut socket, reply).await;
        }
    });
    let error = failure(local(&format!("http://{address}/v1"))).await;
    assert!(error.message().contains("not HTTP"), "{error}");
}

#[tokio::test]
async fn silence_is_bounded() {
    let before = Reply::open_stream(&[], Then::Stall);
    let within = Reply::open_stream(&[chunk("Hi")], Then::Stall);
    for reply in [before, within] {
        let server = Server::start(vec![reply]).await;
        let begun = Instant::now();
        let error = failure(local(&server.base_url()).option("read_timeout", 0.05)).await;
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(error.kind(), ErrorKind::Http);
        assert_eq!((error.status(), error.retry()), (None, Retry::Backoff));
        assert!(error.message().contains("nothing for 0.05 s"), "{error}");
        assert!(error.message().contains("read_timeout"), "{error}");
    }
}

#[test]
fn reasoning_may_be_silent_for_longer_unless_the_application_says_otherwise() {
    let limits = Limits::default();
    assert_eq!(limits.silence(false), Duration::from_secs(600));
    assert_eq!(limits.silence(true), Duration::from_secs(120));
    let chosen = Limits {
        read_timeout: Some(Duration::from_secs(7)),
        ..limits
    };
    assert_eq!(chosen.silence(false), Duration::from_secs(7));
    assert_eq!(chosen.silence(true), Duration::from_secs(7));
}

#[tokio::test]
async fn a_response_over_the_limit_is_refused() {
    let long = vec![chunk("some text that goes on and on"); 100];
    let server = Server::start(vec![Reply::open_stream(&long, Then::Stall); 2]).await;
    let config = local(&server.base_url()).option("max_response_bytes", 2_000);
    let asked = ask(&*model(config), &question()).await;
    let error = asked.outcome.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Protocol, Retry::Never)
    );
    assert!(
        error.message().contains("2000 bytes (max_response_bytes"),
        "{error}"
    );
    server.departures(1).await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(vec![Reply::stream(&[last_chunk()])]).await;
    let target = format!("{}/x?key=hush", elsewhere.base_url());
    let server = Server::start(vec![Reply::new(307, &[("location", &target)], "")]).await;
    let error = failure(local(&server.base_url())).await;
    assert_eq!(error.status(), Some(307));
    assert!(
        error.message().contains("redirects are not followed"),
        "{error}"
    );
    assert!(!error.message().contains("hush"), "{error}");
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn an_answer_of_the_wrong_kind_names_it() {
    for (kind, body, says) in [
        ("text/html", "<html>Sign in</html>", "text/html"),
        (
            "application/json",
            r#"{"ok":true}"#,
            "JSON that is no model response",
        ),
    ] {
        let reply = Reply::new(200, &[("content-type", kind)], body);
        let server = Server::start(vec![reply; 2]).await;
        for api in [Api::ChatCompletions, Api::Responses] {
            let error = failure(local(&server.base_url()).api(api)).await;
            assert_eq!(
                (error.kind(), error.retry()),
                (ErrorKind::Protocol, Retry::Never)
            );
            assert!(error.message().contains(says), "{error}");
            assert!(error.message().contains("base_url"), "{error}");
        }
    }
    let reply = Reply::new(
        200,
        &[("content-type", "application/json")],
        r#"{"error":"broken"}"#,
    );
    let server = Server::start(vec![reply]).await;
    let error = failure(local(&server.base_url())).await;
    assert!(error.message().contains("broken"), "{error}");
}

#[tokio::test]
async fn an_error_answer_is_bounded() {
    let huge = format!(r#"{{"error":"{}"}}"#, "x".repeat(200_000));
    let server = Server::start(vec![Reply::new(400, &[], &huge)]).await;
    let error = failure(local(&server.base_url())).await;
    assert_eq!(error.status(), Some(400));
    assert!(error.body().unwrap().len() <= 4_096);
    assert!(error.message().len() < 1_000);
}
