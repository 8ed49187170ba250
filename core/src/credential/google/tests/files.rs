use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::*;
use crate::credential::test_support::{Answer, Server};
use crate::error::ErrorKind;

const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
const TOKEN: &str = r#"{"access_token": "hush-token", "expires_in": 3599, "token_type": "Bearer"}"#;

fn service_account(key: &str, url: &str) -> Value {
    json!({
        "type": "service_account",
        "client_email": "app@project.iam.gserviceaccount.com",
        "private_key": key,
        "private_key_id": "key-1",
        "token_uri": format!("{url}/token"),
        "quota_project_id": "from-file",
    })
}

fn user(url: &str) -> Value {
    json!({
        "type": "authorized_user",
        "client_id": "client",
        "client_secret": "hush-client",
        "refresh_token": "hush-refresh",
        "token_uri": url,
    })
}

fn segment(text: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

#[tokio::test]
async fn a_service_account_proves_itself_with_its_key() {
    let der: Vec<u8> = {
        let digits: String = PKCS1.lines().filter(|line| !line.contains("---")).collect();
        base64::engine::general_purpose::STANDARD
            .decode(digits)
            .unwrap()
    };
    let pair = RsaKeyPair::from_der(&der).unwrap();
    for key in [PKCS1, PKCS8] {
        let (home, server) = (
            Home::new(),
            Server::start(|_| Answer::new(200, TOKEN)).await,
        );
        let path = home.write("key.json", &service_account(key, &server.url).to_string());
        let before = SystemTime::now();
        let token = find(&home, &[(VARIABLE, &path)]).await.unwrap();
        assert_eq!(token.token().expose(), "hush-token");
        assert_eq!(token.user_project(), Some("from-file"));
        let life = token.expiry().unwrap().duration_since(before).unwrap();
        assert!(life >= Duration::from_secs(3_599) && life < Duration::from_secs(3_660));
        let request = &server.requests()[0];
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/token")
        );
        let form = request.form();
        assert_eq!(
            form["grant_type"],
            "urn:ietf:params:oauth:grant-type:jwt-bearer"
        );
        let (message, signature) = form["assertion"].rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public())
            .verify(message.as_bytes(), &signature)
            .unwrap();
        let (header, claims) = message.split_once('.').unwrap();
        assert_eq!(
            segment(header),
            json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"})
        );
        let claims = segment(claims);
        assert_eq!(claims["iss"], "app@project.iam.gserviceaccount.com");
        assert_eq!(claims["aud"], format!("{}/token", server.url));
        assert_eq!(
            claims["scope"],
            "https://www.googleapis.com/auth/cloud-platform"
        );
        let life = claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
        assert_eq!(life, 3_600);
    }
}

#[tokio::test]
async fn a_person_is_found_where_gcloud_keeps_them() {
    let (home, server) = (
        Home::new(),
        Server::start(|_| Answer::new(200, TOKEN)).await,
    );
    let name = "application_default_credentials.json";
    home.write(
        &format!(".config/gcloud/{name}"),
        &user(&server.url).to_string(),
    );
    let quota = ("GOOGLE_CLOUD_QUOTA_PROJECT", "from-environment");
    let token = find(&home, &[quota]).await.unwrap();
    assert_eq!(token.token().expose(), "hush-token");
    assert_eq!(token.user_project(), Some("from-environment"));
    let form = server.requests()[0].form();
    let expected = [
        ("client_id", "client"),
        ("client_secret", "hush-client"),
        ("grant_type", "refresh_token"),
        ("refresh_token", "hush-refresh"),
    ];
    assert!(
        form.iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .eq(expected)
    );
    home.write(&format!("other/{name}"), "{}");
    let other = home.path().join("other");
    let other = [("CLOUDSDK_CONFIG", other.to_str().unwrap())];
    failure(
        find(&home, &other).await,
        &["other/application_default", "has no type"],
    );
}

#[tokio::test]
async fn a_sign_in_that_is_over_says_what_to_do() {
    let home = Home::new();
    let server = Server::start(|_| {
        let said = r#"{"error": "invalid_grant", "error_description": "Revoked: hush-refresh"}"#;
        Answer::new(400, said)
    })
    .await;
    let path = home.write("user.json", &user(&server.url).to_string());
    let error = failure(
        find(&home, &[(VARIABLE, &path)]).await,
        &[
            "gcloud auth application-default login",
            "invalid_grant: Revoked: [redacted]",
            VARIABLE,
        ],
    );
    assert_eq!(
        (error.kind(), error.status()),
        (ErrorKind::Credential, Some(400))
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn files_of_another_kind_name_what_is_wrong() {
    let home = Home::new();
    let account = service_account(PKCS8, "https://token.example.test");
    let with = |name: &str, value: Value| {
        let mut account = account.clone();
        account[name] = value;
        account.to_string()
    };
    let external = json!({"type": "external_account", "x": "hush"}).to_string();
    for (text, part) in [
        (external, "\"external_account\" are not supported"),
        ("hush".to_owned(), "no JSON object"),
        ("[\"hush\"]".to_owned(), "no JSON object"),
        ("{\"x\": \"hush\"}".to_owned(), "has no type"),
        (
            with("private_key", json!("hush")),
            "private_key is no RSA key",
        ),
        (
            with("private_key", json!(null)),
            "the file has no private_key",
        ),
        (
            with("client_email", json!(" ")),
            "the file has no client_email",
        ),
        (
            with("token_uri", json!("http://example.test/hush")),
            "token_uri uses plain http",
        ),
    ] {
        let path = home.write("file.json", &text);
        let error = failure(find(&home, &[(VARIABLE, &path)]).await, &[VARIABLE, part]);
        assert_eq!(error.kind(), ErrorKind::Credential);
    }
    failure(
        find(&home, &[(VARIABLE, "/gone")]).await,
        &["there is no such file"],
    );
}

#[tokio::test]
async fn answers_without_a_token_are_refused() {
    let home = Home::new();
    for (body, part) in [
        ("hush", "answered no JSON"),
        (r#"{"x": "hush"}"#, "gave no access_token"),
    ] {
        let server = Server::start(move |_| Answer::new(200, body)).await;
        let path = home.write("user.json", &user(&server.url).to_string());
        failure(find(&home, &[(VARIABLE, &path)]).await, &[part]);
    }
}
