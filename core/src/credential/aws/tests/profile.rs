use super::*;
use crate::credential::test_support::{Answer, Recorded, Server};
use crate::error::ErrorKind;

const ROLES: &str = "\
[default]
region = eu-central-1
role_arn = arn:aws:iam::1:role/outer
source_profile = middle
role_session_name = tester
external_id = a b
duration_seconds = 900
[profile middle]
role_arn = arn:aws:iam::1:role/inner
source_profile = base
[profile self]
role_arn = arn:aws:iam::1:role/own
source_profile = self
aws_access_key_id = SELF
aws_secret_access_key = hush-self
[profile from-environment]
role_arn = arn:aws:iam::1:role/env
credential_source = Environment
[profile circle]
role_arn = arn:aws:iam::1:role/a
source_profile = circle2
[profile circle2]
role_arn = arn:aws:iam::1:role/b
source_profile = circle
[profile both]
role_arn = x
source_profile = base
credential_source = Environment
[profile neither]
role_arn = x
[profile lost]
role_arn = x
source_profile = gone
[profile empty-base]
role_arn = x
source_profile = empty
[profile empty]
region = x
[profile strange]
role_arn = x
credential_source = Vault
[profile mfa]
role_arn = x
source_profile = base
mfa_serial = arn:aws:iam::1:mfa/me
";

const KEYS: &str = "[base]\naws_access_key_id = BASE\naws_secret_access_key = hush-base\n";

fn home() -> Home {
    let home = Home::new();
    home.write(".aws/config", ROLES);
    home.write(".aws/credentials", KEYS);
    home
}

/// Answers each role with keys of its name.
fn roles(request: &Recorded) -> Answer {
    let form = request.form();
    let role = form["RoleArn"].rsplit('/').next().unwrap().to_uppercase();
    Answer::new(200, role_keys(&form["Action"], &role))
}

#[tokio::test]
async fn roles_are_taken_one_after_the_other() {
    let (home, sts) = (home(), Server::start(roles).await);
    let keys = find(&home, &[("AWS_ENDPOINT_URL_STS", &sts.url)])
        .await
        .unwrap();
    assert_eq!(keys.access_key_id().expose(), "OUTER");
    assert_eq!(keys.secret_access_key().expose(), "hush-role");
    assert_eq!(keys.token().unwrap().expose(), "hush-session");
    assert!(keys.expiry().is_some());
    let requests = sts.requests();
    assert_eq!(requests.len(), 2);
    let (inner, outer) = (requests[0].form(), requests[1].form());
    assert_eq!(inner["RoleArn"], "arn:aws:iam::1:role/inner");
    assert!(inner["RoleSessionName"].starts_with("little-ghost-"));
    assert_eq!(inner.len(), 4);
    assert_eq!(outer["Version"], "2011-06-15");
    assert_eq!(outer["RoleSessionName"], "tester");
    assert_eq!(outer["ExternalId"], "a b");
    assert_eq!(outer["DurationSeconds"], "900");
    let authorization = |at: usize| requests[at].headers["authorization"].clone();
    assert!(
        authorization(0).contains("Credential=BASE/"),
        "{}",
        authorization(0)
    );
    assert!(authorization(0).contains("/eu-central-1/sts/aws4_request"));
    assert!(authorization(1).contains("Credential=INNER/"));
    assert_eq!(requests[1].headers["x-amz-security-token"], "hush-session");
    assert!(!requests[0].headers.contains_key("x-amz-security-token"));
    assert_eq!(requests[0].method, "POST");
}

#[tokio::test]
async fn a_role_may_be_taken_with_own_keys_or_those_of_the_environment() {
    let (home, sts) = (home(), Server::start(roles).await);
    let own = [
        ("AWS_ENDPOINT_URL", sts.url.as_str()),
        ("AWS_PROFILE", "self"),
    ];
    assert_eq!(id(find(&home, &own).await), "OWN");
    assert!(sts.requests()[0].headers["authorization"].contains("Credential=SELF/"));
    let pair = [
        ("AWS_ENDPOINT_URL_STS", sts.url.as_str()),
        ("AWS_ACCESS_KEY_ID", "ENVIRONMENT"),
        ("AWS_SECRET_ACCESS_KEY", "hush-environment"),
    ];
    let chain = chain(&home, &pair).profile("from-environment");
    assert_eq!(id(chain.credentials(None).await), "ENV");
}

#[tokio::test]
async fn profiles_that_lead_nowhere_say_so() {
    let home = home();
    for (profile, parts) in [
        (
            "circle",
            ["leads in a circle", "circle -> circle2 -> circle"],
        ),
        (
            "both",
            ["source_profile and credential_source", "remove one"],
        ),
        ("neither", ["neither source_profile", "credential_source"]),
        ("lost", ["source_profile \"gone\"", "is not in"]),
        ("empty-base", ["source_profile \"empty\"", "has no keys"]),
        ("strange", ["\"Vault\"", "Ec2InstanceMetadata"]),
        ("mfa", ["mfa_serial", "credential_process"]),
        ("absent", ["profile \"absent\"", "credentials or "]),
        (
            "from-environment",
            ["credential_source Environment", "is not set"],
        ),
    ] {
        let error = failure(find(&home, &[("AWS_PROFILE", profile)]).await, &parts);
        assert_eq!(error.kind(), ErrorKind::Credential, "{profile}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_the_service_said() {
    let home = home();
    let sts = Server::start(|_| {
        Answer::new(
            403,
            "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>\
             <Message>not authorized &amp; hush-base</Message></Error></ErrorResponse>",
        )
    })
    .await;
    let found = find(&home, &[("AWS_ENDPOINT_URL_STS", &sts.url)]).await;
    let error = failure(
        found,
        &["AWS STS AssumeRole answered HTTP 403: AccessDenied: not authorized & [redacted]"],
    );
    assert_eq!(error.status(), Some(403));
    assert_eq!(sts.requests().len(), 1);
}

#[tokio::test]
async fn a_busy_service_is_asked_again() {
    let home = home();
    let sts = Server::start(|_| Answer::new(503, "<busy/>")).await;
    let variables = [("AWS_ENDPOINT_URL_STS", sts.url.as_str())];
    let error = failure(find(&home, &variables).await, &["HTTP 503"]);
    assert_eq!((error.kind(), error.status()), (ErrorKind::Http, Some(503)));
    assert_eq!(sts.requests().len(), 3);
}

#[tokio::test]
async fn answers_of_another_shape_are_refused_without_quoting_them() {
    let home = home();
    for (body, part) in [
        ("{\"hush\": 1}", "not well-formed"),
        ("<AssumeRoleResponse>hush</AssumeRoleResponse>", "gave no"),
    ] {
        let sts = Server::start(move |_| Answer::new(200, body)).await;
        failure(
            find(&home, &[("AWS_ENDPOINT_URL_STS", &sts.url)]).await,
            &[part],
        );
    }
    let plain = [("AWS_ENDPOINT_URL_STS", "http://sts.example.test")];
    failure(
        find(&home, &plain).await,
        &["AWS_ENDPOINT_URL_STS", "https"],
    );
}

#[tokio::test]
async fn a_workload_proves_itself_with_a_file() {
    let (home, sts) = (Home::new(), Server::start(roles).await);
    let token = home.write("token", "hush-identity\n");
    let variables = [
        ("AWS_ENDPOINT_URL_STS", sts.url.as_str()),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.as_str()),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod"),
        ("AWS_ROLE_SESSION_NAME", "pod-1"),
    ];
    assert_eq!(id(find(&home, &variables).await), "POD");
    let request = &sts.requests()[0];
    let form = request.form();
    assert_eq!(form["Action"], "AssumeRoleWithWebIdentity");
    assert_eq!(form["WebIdentityToken"], "hush-identity");
    assert_eq!(form["RoleSessionName"], "pod-1");
    assert!(!request.headers.contains_key("authorization"));
    failure(
        find(&home, &variables[..2]).await,
        &["web identity", "AWS_ROLE_ARN"],
    );
    let gone = [
        variables[0],
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/gone"),
        variables[2],
    ];
    failure(find(&home, &gone).await, &["cannot read /gone"]);
    home.write(
        ".aws/config",
        &format!("[profile pod]\nrole_arn = a/profile\nweb_identity_token_file = {token}\n"),
    );
    let profile = [variables[0], ("AWS_PROFILE", "pod")];
    assert_eq!(id(find(&home, &profile).await), "PROFILE");
}

#[tokio::test]
async fn own_keys_come_from_the_credentials_file_a_program_or_the_config_file() {
    let home = Home::new();
    let printed = r#"{"Version":1,"AccessKeyId":"PROGRAM","SecretAccessKey":"hush-program"}"#;
    let config = "aws_access_key_id = CONFIG\naws_secret_access_key = hush-config\n";
    let process = format!("credential_process = printf %s '{printed}'\n");
    home.write(".aws/config", &format!("[default]\n{config}"));
    assert_eq!(id(find(&home, &[]).await), "CONFIG");
    home.write(".aws/config", &format!("[default]\n{config}{process}"));
    assert_eq!(id(find(&home, &[]).await), "PROGRAM");
    let keys = "aws_access_key_id = FILE\naws_secret_access_key = hush-file\n";
    home.write(
        ".aws/credentials",
        &format!("[default]\n{keys}aws_session_token = t\n"),
    );
    let found = find(&home, &[]).await.unwrap();
    assert_eq!(found.access_key_id().expose(), "FILE");
    assert_eq!(found.token().unwrap().expose(), "t");
    home.write(".aws/credentials", "");
    home.write(".aws/config", "[default]\ncredential_process = false\n");
    failure(
        find(&home, &[]).await,
        &["profile \"default\"", "credential_process", "failed"],
    );
}
