use super::*;
use crate::credential::test_support::{Answer, Recorded, Server};

const KEYS: &str = r#"{"Code": "Success", "AccessKeyId": "MACHINE", "SecretAccessKey": "hush-machine",
    "Token": "hush-session", "Expiration": "2099-01-01T00:00:00Z"}"#;

const CONTAINER: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const INSTANCE: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

#[tokio::test]
async fn a_container_is_given_keys() {
    let (home, server) = (Home::new(), Server::start(|_| Answer::new(200, KEYS)).await);
    let url = format!("{}/v1/credentials", server.url);
    let token_file = home.write("token", "hush-file\n");
    let keys = find(&home, &[(CONTAINER, &url)]).await.unwrap();
    assert_eq!(keys.access_key_id().expose(), "MACHINE");
    assert_eq!(keys.token().unwrap().expose(), "hush-session");
    let by_variable = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hush-variable");
    id(find(&home, &[(CONTAINER, &url), by_variable]).await);
    let by_file = (
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        token_file.as_str(),
    );
    id(find(&home, &[(CONTAINER, &url), by_variable, by_file]).await);
    let sent: Vec<Option<String>> = server
        .requests()
        .iter()
        .map(|request| request.headers.get("authorization").cloned())
        .collect();
    let expected = [None, Some("hush-variable".into()), Some("hush-file".into())];
    assert_eq!(sent, expected);
    assert_eq!(server.requests()[0].path, "/v1/credentials");
}

#[tokio::test]
async fn a_container_that_gets_none_is_an_error() {
    let home = Home::new();
    let server =
        Server::start(|_| Answer::new(400, r#"{"code": "InvalidRequest", "message": "no role"}"#))
            .await;
    let parts = [
        "container: ",
        "HTTP 400: InvalidRequest: no role",
        "before it, environment:",
    ];
    failure(find(&home, &[(CONTAINER, &server.url)]).await, &parts);
    let parts = ["plain http to evil.test"];
    failure(
        find(&home, &[(CONTAINER, "http://evil.test/x")]).await,
        &parts,
    );
    let token = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hush\nhush");
    let parts = ["AWS_CONTAINER_AUTHORIZATION_TOKEN contains characters"];
    failure(
        find(&home, &[(CONTAINER, &server.url), token]).await,
        &parts,
    );
}

fn instance(request: &Recorded) -> Answer {
    let token = request.headers.get("x-aws-ec2-metadata-token");
    match (request.method.as_str(), request.path.as_str()) {
        ("PUT", "/latest/api/token") => Answer::new(200, "hush-imds"),
        ("GET", path) if token.is_some_and(|token| token == "hush-imds") => match path {
            "/latest/meta-data/iam/security-credentials/" => Answer::new(200, "my-role\n"),
            "/latest/meta-data/iam/security-credentials/my-role" => Answer::new(200, KEYS),
            _ => Answer::new(404, ""),
        },
        _ => Answer::new(401, ""),
    }
}

async fn on_instance(server: &Server) -> Result<AwsCredentials> {
    let home = Home::new();
    let enabled = ("AWS_EC2_METADATA_DISABLED", "false");
    find(&home, &[(INSTANCE, &server.url), enabled]).await
}

#[tokio::test]
async fn an_instance_has_a_role() {
    let server = Server::start(instance).await;
    assert_eq!(id(on_instance(&server).await), "MACHINE");
    let token = &server.requests()[0];
    assert_eq!(
        token.headers["x-aws-ec2-metadata-token-ttl-seconds"],
        "21600"
    );
    let home = Home::new();
    let disabled = find(&home, &[(INSTANCE, &server.url)]).await;
    failure(disabled, &["AWS_EC2_METADATA_DISABLED is true"]);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_instance_without_keys_is_one_reason_among_others() {
    for (status, role, body, part) in [
        (403, 200, "", "HTTP 403 when asked for the token"),
        (200, 404, "", "the instance has no role"),
        (200, 200, "hush", "answered no JSON"),
        (
            200,
            200,
            r#"{"Code": "AssumeRoleUnauthorizedAccess", "Message": "no trust"}"#,
            "no trust",
        ),
        (
            200,
            200,
            r#"{"AccessKeyId": "hush"}"#,
            "gave no SecretAccessKey",
        ),
    ] {
        let server = Server::start(move |request| match request.path.as_str() {
            "/latest/api/token" => Answer::new(status, "t"),
            path if path.ends_with('/') => Answer::new(role, "r"),
            _ => Answer::new(200, body),
        })
        .await;
        failure(
            on_instance(&server).await,
            &["instance metadata: ", part, "Tried: environment"],
        );
    }
}

#[tokio::test]
async fn a_machine_without_the_service_is_one_reason_among_others() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let home = Home::new();
    let enabled = ("AWS_EC2_METADATA_DISABLED", "false");
    let found = find(&home, &[(INSTANCE, &closed), enabled]).await;
    failure(found, &["instance metadata: cannot connect to 127.0.0.1"]);
}

#[tokio::test]
async fn an_address_that_stays_silent_costs_a_second() {
    // Connections are accepted by the system, and nobody answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let home = Home::new();
    let enabled = ("AWS_EC2_METADATA_DISABLED", "false");
    let begun = std::time::Instant::now();
    let found = find(&home, &[(INSTANCE, &silent), enabled]).await;
    failure(found, &["did not answer within 1 s"]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
}
