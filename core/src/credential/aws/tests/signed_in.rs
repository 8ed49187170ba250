use super::*;
use crate::credential::test_support::{Answer, Server};

const CONFIG: &str = "\
[default]
sso_session = work
sso_account_id = 123
sso_role_name = Reader
[sso-session work]
sso_start_url = https://work.awsapps.com/start
sso_region = eu-central-1
[profile legacy]
sso_start_url = https://old.awsapps.com/start
sso_region = eu-central-1
sso_account_id = 456
sso_role_name = Writer
[profile unknown-session]
sso_session = gone
sso_account_id = 1
sso_role_name = x
[profile incomplete]
sso_account_id = 1
sso_role_name = x
[profile different]
sso_session = work
sso_region = us-east-1
sso_account_id = 1
sso_role_name = x
";

const KEYS: &str = r#"{"roleCredentials": {"accessKeyId": "SIGNEDIN", "secretAccessKey": "hush-sso",
    "sessionToken": "hush-session", "expiration": 4070908800000}}"#;

fn file(name: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, name.as_bytes());
    format!(
        ".aws/sso/cache/{}.json",
        crate::credential::sigv4::hex(hash.as_ref())
    )
}

fn token(expiry: &str, more: &str) -> String {
    format!(r#"{{"accessToken": "hush-token", "expiresAt": "{expiry}"{more}}}"#)
}

fn home() -> Home {
    let home = Home::new();
    home.write(".aws/config", CONFIG);
    home
}

#[tokio::test]
async fn a_sign_in_gives_the_keys_of_a_role() {
    let (home, sso) = (home(), Server::start(|_| Answer::new(200, KEYS)).await);
    home.write(&file("work"), &token("2099-01-01T00:00:00Z", ""));
    home.write(
        &file("https://old.awsapps.com/start"),
        &token("2099-01-01T00:00:00UTC", ""),
    );
    let keys = find(&home, &[("AWS_ENDPOINT_URL_SSO", &sso.url)])
        .await
        .unwrap();
    assert_eq!(keys.access_key_id().expose(), "SIGNEDIN");
    assert_eq!(keys.token().unwrap().expose(), "hush-session");
    assert!(keys.expiry().is_some());
    let request = &sso.requests()[0];
    assert_eq!(
        request.path,
        "/federation/credentials?role_name=Reader&account_id=123"
    );
    assert_eq!(request.headers["x-amz-sso_bearer_token"], "hush-token");
    let legacy = [
        ("AWS_ENDPOINT_URL_SSO", sso.url.as_str()),
        ("AWS_PROFILE", "legacy"),
    ];
    assert_eq!(id(find(&home, &legacy).await), "SIGNEDIN");
    let second = sso.requests()[1].path.clone();
    assert_eq!(
        second,
        "/federation/credentials?role_name=Writer&account_id=456"
    );
}

#[tokio::test]
async fn whoever_is_not_signed_in_learns_how_to() {
    let home = home();
    let sso = Server::start(|_| Answer::new(401, r#"{"message": "hush"}"#)).await;
    let variables = [("AWS_ENDPOINT_URL_SSO", sso.url.as_str())];
    let again = "run: aws sso login --profile default";
    failure(
        find(&home, &variables).await,
        &["nobody is signed in", again],
    );
    home.write(&file("work"), "hush");
    failure(find(&home, &variables).await, &["holds no JSON", again]);
    home.write(&file("work"), &token("2001-01-01T00:00:00Z", ""));
    failure(find(&home, &variables).await, &["has expired", again]);
    assert!(sso.requests().is_empty());
    home.write(&file("work"), &token("2099-01-01T00:00:00Z", ""));
    failure(
        find(&home, &variables).await,
        &["not valid any more", again],
    );
}

#[tokio::test]
async fn a_session_is_renewed_and_kept_for_the_next_process() {
    let home = home();
    let server = Server::start(|request| match request.path.as_str() {
        "/token" => Answer::new(
            200,
            r#"{"accessToken": "hush-new", "expiresIn": 3600, "refreshToken": "hush-refresh-2"}"#,
        ),
        _ => Answer::new(200, KEYS),
    })
    .await;
    let more = r#", "clientId": "client", "clientSecret": "hush-client", "startUrl": "kept",
        "refreshToken": "hush-refresh", "registrationExpiresAt": "2099-01-01T00:00:00Z""#;
    home.write(&file("work"), &token("2001-01-01T00:00:00Z", more));
    let variables = [("AWS_ENDPOINT_URL", server.url.as_str())];
    assert_eq!(id(find(&home, &variables).await), "SIGNEDIN");
    let requests = server.requests();
    let sent: serde_json::Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(
        sent,
        serde_json::json!({"clientId": "client", "clientSecret": "hush-client",
            "grantType": "refresh_token", "refreshToken": "hush-refresh"})
    );
    assert_eq!(requests[1].headers["x-amz-sso_bearer_token"], "hush-new");
    let kept: serde_json::Value = serde_json::from_str(&home.read(&file("work"))).unwrap();
    assert_eq!(kept["accessToken"], "hush-new");
    assert_eq!(kept["refreshToken"], "hush-refresh-2");
    assert_eq!(kept["startUrl"], "kept");
    assert_eq!(id(find(&home, &variables).await), "SIGNEDIN");
    assert_eq!(
        server.requests().len(),
        3,
        "the renewed token is used as it is"
    );
}

#[tokio::test]
async fn a_session_that_cannot_be_renewed_is_used_while_it_lasts() {
    let home = home();
    let server = Server::start(|request| match request.path.as_str() {
        "/token" => Answer::new(400, r#"{"error": "invalid_grant"}"#),
        _ => Answer::new(200, KEYS),
    })
    .await;
    let soon = std::time::SystemTime::now() + std::time::Duration::from_secs(300);
    let more = r#", "clientId": "c", "clientSecret": "hush-c", "refreshToken": "hush-r",
        "registrationExpiresAt": "2099-01-01T00:00:00Z""#;
    let kept = token(&crate::credential::timestamp::extended(soon), more);
    home.write(&file("work"), &kept);
    let found = find(&home, &[("AWS_ENDPOINT_URL", server.url.as_str())]).await;
    assert_eq!(id(found), "SIGNEDIN");
    assert_eq!(home.read(&file("work")), kept);
}

#[tokio::test]
async fn settings_that_are_missing_or_differ_are_named() {
    let home = home();
    for (profile, part) in [
        ("unknown-session", "\"gone\""),
        ("incomplete", "sso_start_url"),
        ("different", "sso_region differs"),
    ] {
        failure(find(&home, &[("AWS_PROFILE", profile)]).await, &[part]);
    }
}
