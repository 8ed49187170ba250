"""Settings, the shared runtime, hooks, and classes of requests."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted import calls, says, texts

import little_ghost
from little_ghost import (
    Agent,
    Configuration,
    ConfigurationError,
    Error,
    Hook,
    Invocation,
    InvocationError,
    Message,
    Run,
    Runtime,
    configure,
    current_configuration,
    shared_runtime,
    tool,
    with_configuration,
)


def connection(provider: Any) -> dict[str, Any]:
    return {
        "adapter": "openai_compatible",
        "base_url": provider.base_url,
        "api": "chat_completions",
        "api_key": "sk-very-secret",
    }


def settings(provider: Any, **others: Any) -> dict[str, Any]:
    return {
        "providers": {"shop": connection(provider)},
        "default_model": "shop:small",
        **others,
    }


def test_settings_are_open_until_the_first_request(scenario: Any) -> None:
    provider = scenario(says("a"), says("b"))
    with with_configuration() as configuration:
        assert current_configuration() is configuration
        assert configure(providers={"shop": connection(provider)}) is configuration
        configure(models={"support": {"target": "shop:small"}}, default_model="support")
        assert not configuration.locked
        assert Agent.ask("x").response == "a"
        assert Agent(model="shop:large").ask("x").response == "b"
        assert configuration.locked
        assert configuration.runtime is shared_runtime() is Agent().runtime
        with pytest.raises(ConfigurationError, match="before the first request"):
            configure(default_model="shop:large")
        # A module that is run again says the same again.
        configure(default_model="support")
    assert current_configuration() is not configuration
    assert [request["body"]["model"] for request in provider.journal()] == ["small", "large"]


def test_a_bad_setting_changes_nothing(scenario: Any) -> None:
    with with_configuration(default_model="shop:small") as configuration:
        for bad in (
            {"models": {"support": "shop:small"}},
            {"models": ["x"]},
            {"providers": {"x": {"adapter": "nowhere"}}, "default_model": " "},
            {"hooks": Hook},
            {"hooks": [Agent]},
            {"root": "/no/such/folder"},
            {"root": __file__},
            {"root": 3},
            {"prompt_paths": "app"},
            {"prompt_paths": [3]},
            {"session_actor": "x"},
            {"invocation": Agent},
            {"concurrency": "fiber"},
        ):
            with pytest.raises(ConfigurationError):
                configuration.update(service_name="changed", **bad)
        with pytest.raises(TypeError, match="did you mean default_model"):
            configure(defalt_model="x")  # type: ignore[call-arg]
        assert configuration.default_model == "shop:small"
        assert configuration.service_name == "little-ghost"


def test_what_a_configuration_shows() -> None:
    configuration = Configuration(providers={"x": {"adapter": "openai", "api_key": "sk-secret"}})
    assert repr(configuration) == "<Configuration providers>"
    runtime = configuration.runtime
    assert "secret" not in f"{runtime!r} {runtime.settings!r} {configuration!r}"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        configuration.nothing
    assert configuration.prompt_paths == ("app/prompts",)


def test_paths_start_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shop")
    runtime = Runtime(root=tmp_path / "link", prompt_paths=["prompts", tmp_path])
    root = (tmp_path / "shop").resolve()
    assert runtime.root == root
    assert runtime.prompt_paths == (root / "prompts", tmp_path)
    assert Runtime().root == Path.cwd().resolve()


def test_a_runtime_is_a_snapshot(scenario: Any) -> None:
    provider = scenario(says("a"))
    providers = {"shop": connection(provider)}
    configuration = Configuration(providers=providers, default_model="shop:small")
    runtime = Runtime(configuration, service_name="support")
    providers.clear()
    configuration.update(default_model="shop:large")
    assert not configuration.locked
    assert runtime.settings.locked
    assert (runtime.service_name, runtime.settings.default_model) == ("support", "shop:small")
    with pytest.raises(ConfigurationError):
        runtime.settings.update(default_model="shop:large")
    sibling = runtime.build(default_model="shop:other")
    assert sibling.service_name == "support"
    assert Agent(runtime=sibling).ask("x").response == "a"
    assert provider.journal()[0]["body"]["model"] == "other"


def test_threads_and_tasks_see_the_configuration_around_them(scenario: Any) -> None:
    provider = scenario(says("a"), says("b"), says("c"))
    seen: list[Any] = []
    with with_configuration(**settings(provider)) as configuration:
        with Agent.start_execution("x") as execution:
            assert execution.wait().response == "a"
        asyncio.run(Agent.ask_async("x"))
        # A plain thread has a context of its own.
        thread = threading.Thread(target=lambda: seen.append(current_configuration()))
        thread.start()
        thread.join()
        with with_configuration(Configuration(service_name="inner")) as inner:
            assert current_configuration() is inner
        assert Agent.ask("x").runtime is configuration.runtime
    assert seen[0] is not configuration


def test_a_failed_build_leaves_the_settings_open() -> None:
    class Broken(Hook):
        def __init__(self) -> None:
            raise LookupError("not yet")

    class Early(Hook):
        def __init__(self) -> None:
            shared_runtime()

    with with_configuration(hooks=[Broken]) as configuration:
        with pytest.raises(LookupError):
            shared_runtime()
        assert not configuration.locked
        configure(hooks=[Early])
        with pytest.raises(ConfigurationError, match="is being built"):
            shared_runtime()
        configure(hooks=None)
        assert configuration.runtime.hooks == ()


def test_a_runtime_is_built_once_for_all_threads() -> None:
    made: list[Hook] = []
    begun, go = threading.Event(), threading.Event()
    found: list[Runtime] = []

    class Slow(Hook):
        def __init__(self) -> None:
            made.append(self)
            begun.set()
            go.wait(10)

    configuration = Configuration(hooks=[Slow])
    threads = [
        threading.Thread(target=lambda: found.append(configuration.runtime)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    with pytest.raises(ConfigurationError, match="are in use"):
        configuration.update(default_model="a:b")
    # Other settings are not held up meanwhile.
    assert Configuration().runtime is not None
    go.set()
    for thread in threads:
        thread.join(10)
    assert len(made) == 1 and len(found) == 4 and len(set(map(id, found))) == 1


class Recording(Hook):
    def __init__(self, name: str = "a", seen: list[str] | None = None) -> None:
        self.name = name
        self.seen = [] if seen is None else seen

    def prepare_run(self, run: Run) -> None:
        run.register(
            f"resource {self.name}", lambda resource: self.seen.append(f"close {resource}")
        )
        self.seen.append(f"run {self.name}")

    def prepare_execution(self, run: Run) -> None:
        self.seen.append(f"execution {self.name}")
        run.state["prepared"] = True


class Waiting(Recording):
    async def prepare_execution(self, run: Run) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().prepare_execution(run)


@pytest.mark.parametrize("way", ["ask", "ask_async"])
@pytest.mark.parametrize("kind", [Recording, Waiting])
def test_hooks_prepare_runs_in_order(scenario: Any, way: str, kind: Any) -> None:
    seen: list[str] = []
    runtime = Runtime(**settings(scenario(says("a")), hooks=[kind("a", seen), kind("b", seen)]))

    def prompt(context: Any) -> str:
        seen.append(f"prompt {context.state['prepared']}")
        return "Be brief."

    agent = Agent(runtime=runtime, system_prompt=prompt)
    run = agent.ask("x") if way == "ask" else asyncio.run(agent.ask_async("x"))
    assert run.completed
    assert seen == [
        "run a",
        "run b",
        "execution a",
        "execution b",
        "prompt True",
        "close resource b",
        "close resource a",
    ]


def test_a_hook_class_is_made_once_for_a_runtime() -> None:
    runtime = Runtime(hooks=[Recording])
    assert [type(hook) for hook in runtime.hooks] == [Recording]
    assert runtime.build(service_name="other").hooks[0] is not runtime.hooks[0]


def test_hooks_that_fail(scenario: Any) -> None:
    seen: list[str] = []

    class Refusing(Hook):
        def prepare_run(self, run: Run) -> None:
            raise LookupError("no tenant")

    class Failing(Hook):
        async def prepare_execution(self, run: Run) -> None:
            raise LookupError("no connection")

    provider = scenario()
    refused = Runtime(**settings(provider, hooks=[Recording("a", seen), Refusing]))
    with pytest.raises(LookupError, match="no tenant"):
        Agent(runtime=refused).ask("x")
    assert seen == ["run a", "close resource a"]
    failed = Runtime(**settings(provider, hooks=[Failing]))
    run = Agent(runtime=failed).ask("x")
    assert run.failed and isinstance(run.error, LookupError)
    assert provider.journal() == []

    class Awkward(Hook):
        async def prepare_run(self, run: Run) -> None:  # type: ignore[override]
            pass

    with pytest.raises(ConfigurationError, match="must be a plain function"):
        Runtime(hooks=[Awkward])


def test_a_run_made_by_the_runtime(scenario: Any) -> None:
    runtime = Runtime(**settings(scenario(says("a"), says("b"), says("c"), says("d"))))
    run = runtime.build_run("x", agent=Agent, context={"account": 1})
    assert run.outcome is None
    assert run.call() is run
    assert (run.response, run.state) == ("a", {"account": 1})
    with pytest.raises(Error, match="only once"):
        run.call()
    agent = Agent(name="other")
    run = runtime.build_run({"message": "x", "actor_id": "me"}, agent=agent)
    assert asyncio.run(run.call_async()).response == "b"
    assert (run.agent, run.invocation.actor_id) == (agent, "me")
    stream = runtime.build_run("x", agent=Agent).stream()
    assert [event.type for event in stream][-1] == "run_stop"
    stopped = runtime.build_run("x", agent=Agent)
    stopped.register("x", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stopped.close()

    async def consume() -> list[str]:
        return [event.type async for event in runtime.build_run("x", agent=Agent).stream_async()]

    assert asyncio.run(consume())[-1] == "run_stop"


def test_a_context_for_work_of_ones_own(scenario: Any) -> None:
    runtime = Runtime(**settings(scenario()))
    run = runtime.build_run("x", agent=Agent, timeout=60, metadata={"a": 1})
    context = run.context(state={"b": 2})
    assert (context.run, context.state, context.metadata) == (run, {"b": 2}, {"a": 1})
    assert context.deadline_at == run.invocation.deadline_at
    run.cancellation_token.cancel()
    assert context.cancellation_token.cancelled
    run.close()


@dataclass(frozen=True)
class SupportInvocation(Invocation):
    account_id: str = ""

    def __post_init__(self) -> None:
        if not self.account_id:
            raise InvocationError("account_id is missing")


def test_requests_of_another_class(scenario: Any) -> None:
    provider = scenario(says("a"), says("b"), says("c"))
    runtime = Runtime(**settings(provider, invocation=SupportInvocation))
    agent = Agent(runtime=runtime)
    run = agent.ask("x", account_id="a-1")  # type: ignore[call-arg]
    assert isinstance(run.invocation, SupportInvocation)
    assert (run.invocation.account_id, run.invocation.session_id) == (
        "a-1",
        run.invocation.run_id,
    )
    with pytest.raises(InvocationError, match="account_id is missing"):
        agent.ask("x")
    with pytest.raises(TypeError, match="did you mean account_id"):
        agent.ask("x", acount_id="a-1")  # type: ignore[call-arg]
    given = SupportInvocation(message=Message("user", "x"), account_id="a-2", actor_id="me")
    # With any runtime, and with options that win.
    other = Agent(runtime=Runtime(**settings(provider)))
    run = other.ask(given, actor_id="you")
    assert (run.invocation.actor_id, given.actor_id) == ("you", "me")
    assert isinstance(run.invocation, SupportInvocation)
    assert runtime.parse({"message": "x", "account_id": "a"}).message.text == "x"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"history": ["x"]}, TypeError, r"history\[0\]: must be a Message or a dict, not str"),
        ({"history": [{"role": "user"}, {}]}, ValueError, r"history\[1\]: role is missing"),
        (
            {"history": [{"role": "user", "content": ["a", {"type": "image"}]}]},
            ValueError,
            r"history\[0\]\.content\[1\]: image: data is missing",
        ),
        ({"context": [1]}, TypeError, "context must be a dict, not list"),
        ({"run_id": 3}, TypeError, "run_id must be a str, not int"),
    ],
)
def test_mistakes_name_their_place(options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        Runtime().parse("x", **options)
    with pytest.raises(TypeError, match="message: content must be text"):
        Runtime().parse(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"message\.content\[0\]: text: text is missing"):
        Runtime().parse({"message": {"content": [{"type": "text"}]}})


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_inline_tools_never_leave_the_thread(scenario: Any, way: str) -> None:
    seen: list[tuple[str, int]] = []

    @tool
    def note(name: str) -> str:
        """Note it."""
        seen.append((name, threading.get_ident()))
        return name

    provider = scenario(calls(*[("note", {"name": str(n)}) for n in range(4)]), says("a"))
    agent = Agent(runtime=Runtime(**settings(provider, concurrency="inline")), tools=[note])
    run = agent.ask("x") if way == "ask" else asyncio.run(agent.ask_async("x"))
    assert run.completed
    assert seen == [(str(n), threading.get_ident()) for n in range(4)]
    assert texts(provider.journal()[1])[-4:] == ["0", "1", "2", "3"]


def test_public_names_are_all_there() -> None:
    assert {name for name in little_ghost.__all__ if not hasattr(little_ghost, name)} == set()
    listed = {name for names in little_ghost._HOMES.values() for name in names.split()}
    assert listed <= set(little_ghost.__all__)
    assert set(little_ghost.__all__) <= set(dir(little_ghost))
    with pytest.raises(AttributeError, match="no attribute 'Agnet'"):
        little_ghost.Agnet  # type: ignore[attr-defined]


def test_reads_connections_and_models_from_files(tmp_path: Path) -> None:
    folder = tmp_path / "config/little_ghost"
    folder.mkdir(parents=True)
    (folder / "providers.yml").write_text(
        "providers:\n  local: {adapter: openai, base_url: 'http://127.0.0.1:1/v1', api_key: x}\n"
    )
    (folder / "models.yml").write_text("models: [1]\n")
    with pytest.raises(ConfigurationError, match=r"models\.yml must have a mapping"):
        Runtime(root=tmp_path)
    with pytest.raises(ConfigurationError, match=r"other\.yml does not exist"):
        Runtime(root=tmp_path, models_path="other.yml")
    (tmp_path / "own.yml").write_text("default_model: fast\nmodels: {fast: {target: 'local:m'}}\n")
    assert Runtime(root=tmp_path, models_path="own.yml")


def test_what_is_blank_is_shown() -> None:
    with pytest.raises(ConfigurationError, match="a str that is not blank, not ' '"):
        Configuration(service_name=" ")
