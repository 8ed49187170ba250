use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::error::ErrorKind;
use crate::provider::Environment;

#[tokio::test]
async fn a_complete_pair_of_the_environment_comes_first() {
    let home = Home::new();
    home.write(
        ".aws/credentials",
        "[default]\naws_access_key_id = FILE\naws_secret_access_key = hush-file\n",
    );
    let pair = [
        ("AWS_ACCESS_KEY_ID", "ENVIRONMENT"),
        ("AWS_SECRET_ACCESS_KEY", "hush-environment"),
        ("AWS_SESSION_TOKEN", "hush-token"),
        ("AWS_CREDENTIAL_EXPIRATION", "2099-01-01T00:00:00Z"),
    ];
    let keys = find(&home, &pair).await.unwrap();
    assert_eq!(keys.access_key_id().expose(), "ENVIRONMENT");
    assert_eq!(keys.secret_access_key().expose(), "hush-environment");
    assert_eq!(keys.token().unwrap().expose(), "hush-token");
    assert!(keys.expiry().is_some());
    assert_eq!(id(find(&home, &pair[..1]).await), "FILE");
    assert_eq!(id(find(&home, &[]).await), "FILE");
    // What the application chooses goes over what happens to be set.
    let chosen = chain(&home, &pair).profile("default");
    assert_eq!(id(chosen.credentials(None).await), "FILE");
}

#[tokio::test]
async fn nothing_found_says_what_was_tried() {
    let home = Home::new();
    home.write(".aws/config", "[default]\nregion = eu-west-1\n");
    let error = failure(
        find(&home, &[("AWS_ACCESS_KEY_ID", "AKID")]).await,
        &[
            "environment: AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not",
            "web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set",
            "profile \"default\": it has no keys",
            "container: neither",
            "instance metadata: AWS_EC2_METADATA_DISABLED is true",
        ],
    );
    assert_eq!(error.kind(), ErrorKind::Credential);
    home.write(
        ".aws/credentials",
        "[default]\naws_secret_access_key = hush-file\n",
    );
    failure(find(&home, &[]).await, &["but no aws_access_key_id"]);
}

#[tokio::test]
async fn expired_or_unreadable_expiries_are_errors() {
    let home = Home::new();
    for (expiry, part) in [
        ("2001-01-01T00:00:00Z", "expired at 2001-01-01"),
        ("soon", "no time"),
    ] {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "AKID"),
            ("AWS_SECRET_ACCESS_KEY", "hush-environment"),
            ("AWS_CREDENTIAL_EXPIRATION", expiry),
        ];
        failure(find(&home, &variables).await, &[part]);
    }
}

#[tokio::test]
async fn files_have_the_places_that_are_named() {
    let home = Home::new();
    let keys =
        |id: &str| format!("[work]\naws_access_key_id = {id}\naws_secret_access_key = hush-x\n");
    let named = home.write("elsewhere/keys", &keys("NAMED"));
    home.write("own", &keys("OWN"));
    let variables = [
        ("AWS_SHARED_CREDENTIALS_FILE", named.as_str()),
        ("AWS_PROFILE", "work"),
    ];
    assert_eq!(id(find(&home, &variables).await), "NAMED");
    let own = chain(&home, &variables).credentials_file("~/own");
    assert_eq!(id(own.credentials(None).await), "OWN");
}

#[tokio::test]
async fn keys_are_remembered_until_the_environment_changes_or_they_are_refused() {
    let id_now = Arc::new(AtomicUsize::new(1));
    let asked = Arc::new(AtomicUsize::new(0));
    let (number, count) = (Arc::clone(&id_now), Arc::clone(&asked));
    let chain = AwsCredentialChain::new(Environment::new(move |name| match name {
        "AWS_ACCESS_KEY_ID" => {
            count.fetch_add(1, Ordering::SeqCst);
            Some(format!("KEY{}", number.load(Ordering::SeqCst)))
        }
        "AWS_SECRET_ACCESS_KEY" => Some("hush-hush".into()),
        _ => None,
    }));
    assert!(!chain.forget());
    assert_eq!(id(chain.credentials(None).await), "KEY1");
    assert!(chain.forget());
    assert_eq!(id(chain.credentials(None).await), "KEY1");
    id_now.store(2, Ordering::SeqCst);
    assert_eq!(id(chain.credentials(None).await), "KEY2");
    let before = asked.load(Ordering::SeqCst);
    assert_eq!(id(chain.credentials(None).await), "KEY2");
    // Looking whether something changed reads each variable once; a search reads it again.
    assert_eq!(asked.load(Ordering::SeqCst), before + 1);
}

#[test]
fn the_region_is_that_of_the_environment_or_of_the_profile() {
    let home = Home::new();
    home.write(
        ".aws/config",
        "[default]\nregion = eu-west-1\n[profile work]\nregion = eu-north-1\n",
    );
    home.write(".aws/credentials", "[work]\naws_access_key_id = x\n");
    for (variables, expected) in [
        (vec![], Some("eu-west-1")),
        (vec![("AWS_PROFILE", "work")], Some("eu-north-1")),
        (vec![("AWS_PROFILE", "none")], None),
        (vec![("AWS_DEFAULT_REGION", "us-east-2")], Some("us-east-2")),
        (
            vec![
                ("AWS_DEFAULT_REGION", "us-east-2"),
                ("AWS_REGION", " us-west-1 "),
            ],
            Some("us-west-1"),
        ),
    ] {
        assert_eq!(chain(&home, &variables).region().as_deref(), expected);
    }
    let chosen = chain(&home, &[("AWS_PROFILE", "none")]).profile("work");
    assert_eq!(chosen.region().as_deref(), Some("eu-north-1"));
}
