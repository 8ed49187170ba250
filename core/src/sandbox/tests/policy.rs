use serde_json::json;

use crate::ErrorKind;
use crate::sandbox::*;

fn refused(value: serde_json::Value) -> String {
    let error = Policy::from_value(&value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Policy, "{error}");
    error.message().to_owned()
}

#[test]
fn a_policy_opens_the_root_for_reading_and_nothing_else() {
    let policy = Policy::from_value(&json!(null)).unwrap();
    assert_eq!(policy, Policy::default());
    assert_eq!(policy.files, vec![("root".to_owned(), Access::ReadOnly)]);
    assert!(!policy.is_workspace_writable());
    assert_eq!(policy.root_filesystem, RootFilesystem::Isolated);
    assert_eq!(policy.network, None);
    assert!(!policy.environment.inherit);
}

#[test]
fn a_policy_survives_its_own_declaration() {
    let policy = Policy::from_value(&json!({
        "files": {"root": "read_write", "source": "read_only"},
        "runtime_paths": {"home": "read_write"},
        "root_filesystem": "read_only",
        "environment": {"inherit": true, "set": {"LANG": "C.UTF-8"}},
        "network": {"mode": "allowlist", "allow": ["Example.com:443", "a:1", "a:1"]},
    }))
    .unwrap();
    assert!(policy.is_workspace_writable());
    assert_eq!(
        policy.network.as_ref().unwrap().allow,
        ["a:1", "example.com:443"]
    );
    assert_eq!(Policy::from_value(&policy.to_value()).unwrap(), policy);
}

#[test]
fn what_a_policy_cannot_mean_is_refused() {
    for (value, part) in [
        (json!([]), "an object"),
        (json!({"file": {}}), "unknown key \"file\""),
        (json!({"files": ["root"]}), "files must be an object"),
        (
            json!({"files": {"root": "write"}}),
            "read_only or read_write, got \"write\"",
        ),
        (
            json!({"files": {"a": "read_only"}, "runtime_paths": {"a": "read_only"}}),
            "named twice",
        ),
        (
            json!({"root_filesystem": "none"}),
            "isolated, read_only or read_write",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": ["a:1", 3]}}),
            "a list of texts, got 3 in it",
        ),
        (
            json!({"environment": "all"}),
            "environment must be an object",
        ),
        (
            json!({"environment": {"inherit": "yes", "set": {}}}),
            "\"yes\"",
        ),
        (
            json!({"environment": {"inherit": 1}}),
            "inherit must be true or false",
        ),
        (json!({"environment": {"A=B": "1"}}), "leave out ="),
        (json!({"environment": {"A": "x\u{0}"}}), "contains NUL"),
        (json!({"network": "some"}), "none, inherit or allowlist"),
        (json!({"network": {"allow": ["a"]}}), "mode must be"),
        (
            json!({"network": {"mode": "none", "allow": ["a"]}}),
            "takes no options",
        ),
        (
            json!({"network": {"mode": "inherit", "gateway": "x"}}),
            "takes no options",
        ),
        (
            json!({"network": {"mode": "allowlist"}}),
            "at least one destination",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": [" "]}}),
            "blanks and spaces",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": ["a b"]}}),
            "blanks and spaces",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": ["a"], "inspection": "http"}}),
            "needs an authorizer",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": ["a"], "forward_headers": ["a:"]}}),
            "HTTP headers",
        ),
        (
            json!({"network": {"mode": "allowlist", "allow": ["a"], "deny": ["a"]}}),
            "unknown network option",
        ),
    ] {
        let message = refused(value.clone());
        if part != "\"yes\"" {
            assert!(message.contains(part), "{value} gave {message}");
        }
    }
}

#[test]
fn what_is_declared_of_a_gateway_is_not_shown() {
    let policy = NetworkPolicy::from_value(&json!({
        "mode": "allowlist", "allow": ["a:1"],
        "gateway": {"provider": "external", "environment": {"PROXY_TOKEN": "sk-hush"}},
    }));
    let shown = format!("{:?}", policy.unwrap());
    assert!(
        shown.contains("a:1") && !shown.contains("sk-hush"),
        "{shown}"
    );
}

#[test]
fn network_policies_are_equal_when_they_are_enforced_alike() {
    let one = NetworkPolicy::allowlist(["b:1", "A:1"]).unwrap();
    let other = NetworkPolicy::allowlist(["a:1", "b:1", "b:1"]).unwrap();
    assert_eq!(one, other);
    assert_ne!(one, NetworkPolicy::allowlist(["a:1"]).unwrap());
    assert!(NetworkPolicy::none().is_within(&one));
    assert!(!NetworkPolicy::inherit().is_within(&one));
}

#[test]
fn an_environment_is_a_plain_object_too() {
    let plain = EnvironmentPolicy::from_value(&json!({"set": "x", "N": 1, "B": true})).unwrap();
    let expected = [("set", "x"), ("N", "1"), ("B", "true")];
    assert_eq!(
        plain.values,
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert!(!format!("{plain:?}").contains("\"x\""));
}

#[tokio::test]
async fn later_variables_win_over_earlier_ones() {
    let folder = super::folder::Folder::new();
    let workspace = folder.workspace().path("skills", "skills").build().unwrap();
    let policy = EnvironmentPolicy::from_value(&json!({"LANG": "C", "A": "policy"})).unwrap();
    let program = Program::new(["env"]).variable("A", "program");
    let variables = policy.for_program(&workspace, &program);
    let value = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(value("A"), "program");
    assert_eq!(value("LANG"), "C");
    assert!(value("LITTLE_GHOST_WORKSPACE_ROOT").ends_with("/root"));
    assert!(value("LITTLE_GHOST_WORKSPACE_SKILLS").ends_with("/root/skills"));
    assert_eq!(variables.len(), 4);
    let asking = Program {
        inherit_environment: true,
        ..Program::new(["env"])
    };
    assert!(!policy.inherited_by(&asking));
    let open = EnvironmentPolicy {
        inherit: true,
        ..policy
    };
    assert!(open.inherited_by(&asking) && !open.inherited_by(&program));
}

#[test]
fn limits_are_at_least_one() {
    let map = |value: serde_json::Value| value.as_object().unwrap().clone();
    let limits = Limits::from_map(&map(json!({"read_bytes": 5}))).unwrap();
    assert_eq!(
        (
            limits.read_bytes,
            limits.write_bytes,
            limits.list_entries,
            limits.output_bytes
        ),
        (5, 1_000_000, 10_000, 1_000_000)
    );
    for value in [
        json!({"read_bytes": 0}),
        json!({"read_bytes": "5"}),
        json!({"read": 5}),
        json!({"list_entries": 1.5}),
    ] {
        assert_eq!(
            Limits::from_map(&map(value)).unwrap_err().kind(),
            ErrorKind::Argument
        );
    }
    let none = Limits {
        output_bytes: 0,
        ..Limits::default()
    };
    assert_eq!(none.check().unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn capabilities_know_short_names_and_what_two_have_in_common() {
    assert_eq!(Feature::from_name("read"), Some(Feature::FilesystemRead));
    assert_eq!(
        Feature::from_name("process_spawn"),
        Some(Feature::ProcessSpawn)
    );
    assert_eq!(Feature::from_name("denial"), None);
    let one = Capabilities::new(Feature::ALL, NetworkMode::ALL, "namespace");
    let other = Capabilities::new([Feature::ProcessExecute], [NetworkMode::None], "none");
    let both = one.intersect(&other);
    assert_eq!(
        both,
        Capabilities::new([Feature::ProcessExecute], [NetworkMode::None], "namespace")
    );
    assert!(both.enforces(NetworkMode::None) && !both.enforces(NetworkMode::Inherit));
    assert!(
        !one.clone()
            .without(Feature::ProcessSpawn)
            .supports(Feature::ProcessSpawn)
    );
    assert_eq!(Capabilities::from_value(&one.to_value()).unwrap(), one);
    assert!(Capabilities::from_value(&json!({"features": ["x"]})).is_err());
}

#[test]
fn options_are_a_policy_in_one_piece_or_in_parts() {
    let map = |value: serde_json::Value| value.as_object().unwrap().clone();
    let (parts, rest) = SandboxOptions::from_map(&map(json!({
        "files": {"root": "read_write"}, "limits": {"read_bytes": 9}, "bubblewrap": "/usr/bin/bwrap",
        "profiles": {"review": {"files": ["root"], "network": false}},
    })))
    .unwrap();
    assert_eq!(rest, map(json!({"bubblewrap": "/usr/bin/bwrap"})));
    assert_eq!(parts.policy, Policy::writable());
    assert_eq!(parts.limits.read_bytes, 9);
    assert!(parts.profiles.contains_key("review"));
    let (whole, _) =
        SandboxOptions::from_map(&map(json!({"policy": {"files": {"root": "read_write"}}})))
            .unwrap();
    assert_eq!(whole.policy, parts.policy);
    for value in [
        json!({"policy": {}, "files": {}}),
        json!({"limits": 1}),
        json!({"profiles": {"a": {"env": {}}}}),
    ] {
        assert_eq!(
            SandboxOptions::from_map(&map(value)).unwrap_err().kind(),
            ErrorKind::Policy
        );
    }
}
