use super::*;
use crate::credential::test_support::{Answer, Server};

const TOKEN: &str = r#"{"access_token": "hush-machine", "expires_in": "599"}"#;

fn google(status: u16, body: &str) -> Answer {
    Answer {
        headers: "Metadata-Flavor: Google\r\n",
        ..Answer::new(status, body)
    }
}

async fn on_machine(server: &Server) -> Result<AccessToken> {
    let enabled = ("NO_GCE_CHECK", "false");
    find(
        &Home::new(),
        &[("GCE_METADATA_HOST", server.address()), enabled],
    )
    .await
}

#[tokio::test]
async fn a_machine_has_an_account() {
    let server = Server::start(|_| google(200, TOKEN)).await;
    let token = on_machine(&server).await.unwrap();
    assert_eq!(token.token().expose(), "hush-machine");
    assert!(token.expiry().is_some());
    let request = &server.requests()[0];
    assert_eq!(
        request.path,
        "/computeMetadata/v1/instance/service-accounts/default/token"
    );
    assert_eq!(request.headers["metadata-flavor"], "Google");
    let disabled = find(&Home::new(), &[("GCE_METADATA_HOST", server.address())]).await;
    failure(disabled, &["metadata server: NO_GCE_CHECK is true"]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn nothing_found_says_what_was_tried() {
    for (flavored, status, part) in [
        (false, 200, "not Google's metadata server"),
        (true, 404, "no service account"),
        (true, 500, "HTTP 500"),
    ] {
        let server = Server::start(move |_| match flavored {
            true => google(status, "{}"),
            false => Answer::new(status, TOKEN),
        })
        .await;
        let parts = [
            "GOOGLE_APPLICATION_CREDENTIALS: it is not set",
            "application_default_credentials.json: there is no such file",
            "metadata server: ",
            part,
            "gcloud auth application-default login",
        ];
        failure(on_machine(&server).await, &parts);
    }
}
