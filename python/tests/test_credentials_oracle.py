"""The vendors' own packages judge where credentials are found, and how requests for them are proven."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError
from botocore.session import Session
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt
from google.oauth2 import service_account
from loopback import Recorded, loopback

from little_ghost import AwsCredentials, CredentialError, GoogleCredentials

ROLE = """<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>
<Credentials><AccessKeyId>{role}</AccessKeyId><SecretAccessKey>hush-role</SecretAccessKey>
<SessionToken>hush-session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
</{action}Result></{action}Response>"""

PAIR = {"AWS_ACCESS_KEY_ID": "ENVIRONMENT", "AWS_SECRET_ACCESS_KEY": "hush-environment"}
KEYS = "aws_access_key_id = {0}\naws_secret_access_key = hush-{0}\n"
PROCESS = (
    'credential_process = printf %s \'{{"Version": 1, "AccessKeyId": "{0}", '
    '"SecretAccessKey": "hush-{0}"}}\'\n'
)

# What the credentials file, the config file and the environment have.
PLACES = {
    "environment": ("[default]\n" + KEYS.format("FILE"), "", PAIR),
    "credentials file": (
        "[default]\n" + KEYS.format("FILE"),
        "[default]\n" + KEYS.format("CONFIG"),
        {},
    ),
    "config file": ("", "[default]\n" + KEYS.format("CONFIG"), {}),
    "process": ("", "[default]\n" + KEYS.format("CONFIG") + PROCESS.format("PROGRAM"), {}),
    "credentials before process": (
        "[default]\n" + KEYS.format("FILE"),
        "[default]\n" + PROCESS.format("PROGRAM"),
        {},
    ),
    "profile of the environment": (
        "[default]\n" + KEYS.format("FILE") + "[work]\n" + KEYS.format("WORK"),
        "",
        {"AWS_PROFILE": "work"},
    ),
    "quoted profile": (
        "",
        '[profile "two words"]\n' + KEYS.format("TWO"),
        {"AWS_PROFILE": "two words"},
    ),
    "environment before profile": (
        "[work]\n" + KEYS.format("WORK"),
        "",
        {"AWS_PROFILE": "work", **PAIR},
    ),
    "role": (
        "[base]\n" + KEYS.format("BASE"),
        "[default]\nrole_arn = arn:aws:iam::1:role/ROLE\nsource_profile = base\nregion = eu-west-1\n",
        {},
    ),
    "role before keys": (
        "[default]\n" + KEYS.format("FILE"),
        "[default]\nrole_arn = arn:aws:iam::1:role/ROLE\nsource_profile = default\nregion = eu-west-1\n",
        {},
    ),
    "roles in a row": (
        "[base]\n" + KEYS.format("BASE"),
        "[default]\nrole_arn = x:role/OUTER-ROLE-OF-TWO\nsource_profile = inner\nregion = eu-west-1\n"
        "[profile inner]\nrole_arn = x:role/INNER-ROLE-OF-TWO\nsource_profile = base\n",
        {},
    ),
    "role of a process": (
        "",
        "[default]\nrole_arn = arn:aws:iam::1:role/ROLE\nsource_profile = base\nregion = eu-west-1\n"
        "[profile base]\n" + PROCESS.format("PROGRAM"),
        {},
    ),
    "web identity": (
        "[default]\n" + KEYS.format("FILE"),
        "",
        {
            "AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/token",
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/IDENTITY",
            "AWS_REGION": "eu-west-1",
            "AWS_DEFAULT_REGION": "eu-west-1",
        },
    ),
    "unknown profile": ("[default]\n" + KEYS.format("FILE"), "", {"AWS_PROFILE": "gone"}),
    "circle": (
        "",
        "[default]\nrole_arn = x\nsource_profile = b\n[profile b]\nrole_arn = x\nsource_profile = default\n",
        {},
    ),
    "process that fails": (
        "",
        "[default]\n" + KEYS.format("CONFIG") + "credential_process = false\n",
        {},
    ),
    "nothing": ("", "", {}),
}


def sts(request: Recorded) -> tuple[int, str]:
    """Keys that are called like the role."""
    form = request.form
    role = form["RoleArn"].rsplit("/", 1)[1]
    return 200, ROLE.format(action=form["Action"], role=role.ljust(16, "X"))


def theirs(variables: Mapping[str, str]) -> str | None:
    with mock.patch.dict("os.environ", variables, clear=True):
        try:
            found = Session().get_credentials()
            return None if found is None else found.get_frozen_credentials().access_key
        except BotoCoreError:
            return None


def ours(variables: Mapping[str, str]) -> str | None:
    try:
        return AwsCredentials(environment=variables)().access_key_id
    except CredentialError:
        return None


@pytest.mark.parametrize("place", PLACES)
def test_keys_are_found_where_botocore_finds_them(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials, config, variables = PLACES[place]
    home = tmp_path / ".aws"
    home.mkdir()
    (home / "credentials").write_text(credentials)
    (home / "config").write_text(config)
    (tmp_path / "token").write_text("hush-identity")
    with loopback(sts) as server:
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_STS": server.url,
            **{name: value.format(home=tmp_path) for name, value in variables.items()},
        }
        expected = theirs(environment)
        assert ours(environment) == expected
        if place not in ("unknown profile", "circle", "process that fails", "nothing"):
            assert expected is not None, "the case proves nothing"


def test_botocore_makes_the_same_signature_and_the_same_request(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text("[base]\n" + KEYS.format("BASE"))
    (tmp_path / ".aws/config").write_text(
        "[default]\nrole_arn = arn:aws:iam::1:role/Ä ROLE-OF-THE-TEST\nsource_profile = base\n"
        "region = eu-west-1\nrole_session_name = tester\nexternal_id = a b&c\nduration_seconds = 900\n"
    )
    with loopback(sts) as server:
        environment = {
            "HOME": str(tmp_path),
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_STS": server.url,
        }
        assert theirs(environment) == ours(environment)
        their_request, our_request = server.requests
        assert our_request.form == their_request.form
        assert our_request.headers["content-type"] == their_request.headers["content-type"]
        signed = our_request.headers
        request = AWSRequest(
            method="POST",
            url=f"{server.url}/",
            data=our_request.body,
            headers={"content-type": signed["content-type"]},
        )
        request.context["timestamp"] = signed["x-amz-date"]
        at = datetime.datetime.strptime(signed["x-amz-date"], "%Y%m%dT%H%M%SZ")
        with mock.patch("botocore.auth.get_current_datetime", return_value=at):
            SigV4Auth(ReadOnlyCredentials("BASE", "hush-BASE", None), "sts", "eu-west-1").add_auth(
                request
            )
        assert signed["authorization"] == request.headers["Authorization"]


def test_google_accepts_the_proof_and_makes_the_same(tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    answer = json.dumps({"access_token": "hush-token", "expires_in": 3600})
    with loopback(lambda _: (200, answer)) as server:
        account = {
            "type": "service_account",
            "client_email": "app@project.iam.gserviceaccount.com",
            "private_key": pem.decode(),
            "private_key_id": "key-1",
            "token_uri": f"{server.url}/token",
        }
        path = tmp_path / "account.json"
        path.write_text(json.dumps(account))
        environment = {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}
        assert GoogleCredentials(environment=environment)() == "hush-token"
        form = server.requests[0].form
    credentials = service_account.Credentials.from_service_account_info(
        account, scopes=["https://www.googleapis.com/auth/cloud-platform"]
    )
    their_proof = credentials._make_authorization_grant_assertion()
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    our_claims = jwt.decode(form["assertion"], certs=public, audience=account["token_uri"])
    their_claims = jwt.decode(their_proof, certs=public)
    assert jwt.decode_header(form["assertion"]) == jwt.decode_header(their_proof)
    assert our_claims.keys() == their_claims.keys()
    assert our_claims["exp"] - our_claims["iat"] == their_claims["exp"] - their_claims["iat"]
    for name in ("iss", "scope"):
        assert our_claims[name] == their_claims[name]
