//! What programs of each language can do.

use super::*;
use crate::code_mode::Engine;

/// What a program is, what it comes to.
type Case = (&'static str, Value);

async fn check(sandbox: &str, language: impl Language + Clone, cases: &[Case]) {
    let probed = crate::sandbox::probe(sandbox, &Map::new()).await;
    if !probed.is_ok_and(|probe| probe.available) {
        return;
    }
    let limits = if language.name() == "javascript" {
        json!({})
    } else {
        json!({"programs": 1_000})
    };
    let session = session_in(sandbox, language, limits);
    for (program, expected) in cases {
        let mut came = report(&session, program).await;
        let came = came.as_object_mut().unwrap();
        if came.get("output") == Some(&json!("")) {
            came.shift_remove("output");
        }
        if came["status"] == "completed" {
            came.shift_remove("status");
        }
        assert_eq!(&Value::Object(came.clone()), expected, "{program}");
    }
    session.close().await.unwrap();
}

fn error(text: &str) -> Value {
    json!({"status": "error", "error": text})
}

fn javascript_cases() -> Vec<Case> {
    vec![
        ("1 + 1", json!({"value": 2})),
        (
            "const a = await tools.echo({at: 1}); a.at",
            json!({"value": 1}),
        ),
        ("tools.echo({at: 2})", json!({"value": {"at": 2}})),
        ("return 5", json!({"value": 5})),
        (
            "text('a'); text({b: 1}); text(3)",
            json!({"output": "a\n{\"b\":1}\n3"}),
        ),
        ("text('a'); exit(); text('b')", json!({"output": "a"})),
        ("(await tools.json_text()).a", json!({"value": [1]})),
        ("await tools['json-text']()", json!({"value": {"a": [1]}})),
        (
            "try { await tools.fail({}) } catch (error) { text(error.message) }",
            json!({"output": "not today"}),
        ),
        (
            "ALL_TOOLS[0]",
            json!({"value": {"name": "echo", "description": "Does echo."}}),
        ),
        (
            "await Promise.all([1, 2, 3].map((at) => tools.echo({at})))",
            json!({"value": [{"at": 1}, {"at": 2}, {"at": 3}]}),
        ),
        ("tools.echo({at: 1}); undefined", json!({})),
        (
            "throw new Error('boom')",
            error("Error: boom\n    at <eval> (program.js:1:11)"),
        ),
        (
            "await new Promise(() => {})",
            error("the program waits for a promise that nothing will settle"),
        ),
        (
            "[typeof console, typeof process, typeof require, typeof fetch, typeof WebAssembly, typeof Uint8Array, \
             typeof ArrayBuffer, typeof Atomics, typeof setTimeout].every((kind) => kind === 'undefined')",
            json!({"value": true}),
        ),
        ("tools = 3; typeof tools.echo", json!({"value": "function"})),
        (
            "JSON.stringify = null; Promise.prototype.then = null; text('still'); 1",
            json!({"output": "still", "value": 1}),
        ),
    ]
}

fn ruby_cases() -> Vec<Case> {
    vec![
        ("1 + 1", json!({"value": 2})),
        ("tools.echo(at: 1)['at']", json!({"value": 1})),
        (
            "tools.call('tools.echo', {at: 2})",
            json!({"value": {"at": 2}}),
        ),
        (
            "tools.parallel(*(1..9).map { |at| -> { tools.echo(at: at)['at'] } })",
            json!({"value": [1, 2, 3, 4, 5, 6, 7, 8, 9]}),
        ),
        (
            "text 'a'; text 3; puts 'b'; finish(4); text 'c'",
            json!({"output": "a3b\n", "value": 4}),
        ),
        (
            "begin; tools.fail; rescue => error; text error.message; end; nil",
            json!({"output": "not today"}),
        ),
        ("ALL_TOOLS.first['name']", json!({"value": "echo"})),
        ("ALL_TOOLS.frozen?", json!({"value": true})),
        ("defined?(FRAME).inspect", json!({"value": "nil"})),
        ("system('echo out'); nil", json!({"output": "out\n"})),
        ("warn 'err'; nil", json!({"output": "err\n"})),
        ("raise ArgumentError, 'no'", error("ArgumentError: no")),
        ("tools.fail", error("RuntimeError: not today")),
        (
            "0.0 / 0",
            error("JSON::GeneratorError: NaN not allowed in JSON"),
        ),
        (":symbol", json!({"value": "symbol"})),
        ("exit 3", error("SystemExit: exit")),
        (
            "File.write('a', 'b'); File.read('a')",
            json!({"value": "b"}),
        ),
        ("File.exist?('a')", json!({"value": false})),
    ]
}

fn python_cases() -> Vec<Case> {
    vec![
        ("1 + 1", json!({"value": 2})),
        ("tools.echo(at=1)['at']", json!({"value": 1})),
        (
            "tools.call('tools.echo', {'at': 2})",
            json!({"value": {"at": 2}}),
        ),
        (
            "tools.parallel(*[lambda at=at: tools.echo(at=at)['at'] for at in range(9)])",
            json!({"value": [0, 1, 2, 3, 4, 5, 6, 7, 8]}),
        ),
        (
            "text('a'); text(3); print('b'); finish(4); text('c')",
            json!({"output": "a3b\n", "value": 4}),
        ),
        (
            "try:\n  tools.fail()\nexcept RuntimeError as error:\n  text(error)",
            json!({"output": "not today"}),
        ),
        ("ALL_TOOLS[0]['name']", json!({"value": "echo"})),
        ("'FRAME' in globals()", json!({"value": false})),
        ("raise ValueError('no')", error("ValueError: no (line 1)")),
        (
            "x = 1\ny = (",
            error("SyntaxError: '(' was never closed (line 2)"),
        ),
        (
            "[2**64, {'n': (-10**30,)}, 2**63, tools.echo(at=10**30)]",
            json!({"value": ["18446744073709551616", {"n": ["-1000000000000000000000000000000"]}, 1_u64 << 63, {"at": "1000000000000000000000000000000"}]}),
        ),
        (
            "tools.echo(1)",
            error("TypeError: tools.echo takes keywords or one dict with its arguments (line 1)"),
        ),
        (
            "float('nan')",
            error("ValueError: Out of range float values are not JSON compliant"),
        ),
        (
            "open('a', 'w').write('b'); open('a').read()",
            json!({"value": "b"}),
        ),
        ("import os; os.path.exists('a')", json!({"value": false})),
    ]
}

#[tokio::test]
async fn javascript_programs() {
    check("unrestricted", JavascriptEngine, &javascript_cases()).await;
}

#[tokio::test]
async fn javascript_programs_in_a_namespace() {
    check("bubblewrap", JavascriptEngine, &javascript_cases()).await;
}

#[tokio::test]
async fn ruby_programs() {
    check("unrestricted", RubyEngine::default(), &ruby_cases()).await;
}

#[tokio::test]
async fn ruby_programs_in_a_namespace() {
    check("bubblewrap", RubyEngine::default(), &ruby_cases()).await;
}

#[tokio::test]
async fn python_programs() {
    check("unrestricted", PythonEngine::default(), &python_cases()).await;
}

#[tokio::test]
async fn python_programs_in_a_namespace() {
    check("bubblewrap", PythonEngine::default(), &python_cases()).await;
}

#[tokio::test]
async fn frames_are_for_languages_that_have_them() {
    let framed = |text: &str| Source {
        frame: Some(json!({"user": 7})),
        ..source(text)
    };
    let ruby = session(RubyEngine::default(), json!({}));
    let shown = ruby.execute(framed("FRAME['user']")).await.unwrap();
    assert_eq!(shown.value, Some(json!(7)));
    let python = session(PythonEngine::default(), json!({}));
    let shown = python.execute(framed("FRAME['user']")).await.unwrap();
    assert_eq!(shown.value, Some(json!(7)));
    let javascript = javascript(json!({}));
    let shown = javascript.execute(framed("typeof FRAME")).await.unwrap();
    assert_eq!(shown.value, Some(json!("undefined")));
}

async fn told(engine: &dyn Engine, tools: &[Value]) -> String {
    engine.instructions(tools).await.unwrap()
}

#[tokio::test]
async fn instructions_declare_the_tools() {
    let tools = [json!({
        "name": "look-up", "description": "Finds an answer.",
        "input_schema": {
            "type": "object", "required": ["query"],
            "properties": {
                "limit": {"type": "integer", "default": 3, "minimum": 1},
                "query": {"type": "string", "description": "What to find."},
            },
        },
        "output_schema": {"type": "array", "items": {"type": "string"}},
    })];
    let ruby = told(&RubyEngine::default(), &tools).await;
    for part in [
        "# Finds an answer.",
        "#   query: string, required. What to find.",
        "#   limit: integer, optional. (default 3, minimum 1)",
        "# Returns: array of string",
        "tools.look_up(query:, limit: nil)",
        "tools.parallel",
        "finish(value)",
    ] {
        assert!(ruby.contains(part), "{part} in {ruby}");
    }
    let python = told(&PythonEngine::default(), &tools).await;
    assert!(
        python.contains("tools.look_up(*, query: str, limit: int = ...)"),
        "{python}"
    );
    let javascript = told(&JavascriptEngine, &tools).await;
    for part in [
        "look_up(input: {",
        "query: string;",
        "limit?: number;",
        "Promise<string[]>",
        "exit()",
    ] {
        assert!(javascript.contains(part), "{part} in {javascript}");
    }
}

#[tokio::test]
async fn tools_that_a_language_cannot_name_are_refused() {
    let named = |name: &str| json!({"name": name, "description": "Does it."});
    let engines: [(&dyn Engine, &str); 3] = [
        (&RubyEngine::default(), "parallel"),
        (&PythonEngine::default(), "finish"),
        (&JavascriptEngine, "exec"),
    ];
    for (engine, reserved) in engines {
        for tools in [vec![named(reserved)], vec![named("a-b"), named("a_b")]] {
            let refused = engine.instructions(&tools).await.unwrap_err();
            assert!(
                refused.is(crate::ErrorKind::Configuration),
                "{}",
                engine.language()
            );
        }
    }
}
