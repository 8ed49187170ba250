"""Where the system prompt of an agent comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted import says, texts

from little_ghost import (
    Agent,
    ConfigurationError,
    MissingPromptLocalError,
    MissingPromptTemplateError,
    RunContext,
    TrustedPath,
    prompt_local,
)


def application(root: Path, **templates: str) -> Path:
    for name, text in templates.items():
        path = root / "app/prompts" / f"{name.replace('__', '/')}.j2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def prompt_of(scenario: Any, root: Path, agent: type[Agent], **options: Any) -> list[str]:
    """The texts of the one request that the agent sends."""
    provider = scenario(says("ok"))
    runtime = provider.runtime().build(root=root)
    run = agent(runtime=runtime).ask("Hello", **options)
    assert run.completed, run.error
    return texts(provider.journal()[0])


def failure_of(scenario: Any, root: Path, agent: type[Agent]) -> BaseException | None:
    run = agent(runtime=scenario().runtime().build(root=root)).ask("Hello")
    assert run.outcome == "failed"
    return run.error


class CustomerSupportAgent(Agent):
    description = "Helps customers."
    prompt_locals = {"company": "Northstar", "tone": lambda: "warm"}

    @prompt_local
    def policy(self) -> str:
        return f"policy of {self.agent_id}"

    @prompt_local
    async def account(self, context: RunContext) -> Any:
        return context.state["account"]


def test_the_conventional_template(scenario: Any, tmp_path: Path) -> None:
    root = application(
        tmp_path,
        customer_support__system=(
            "{{ company }}, {{ tone }}, {{ policy }}, {{ account }}, {{ agent.description }} "
            "{{ invocation.text }} {{ invocation.metadata.plan }} {{ run.session_id }}"
        ),
    )
    found = prompt_of(
        scenario,
        root,
        CustomerSupportAgent,
        context={"account": "a-1", "client": object()},
        metadata={"plan": "pro"},
        session_id="s-1",
    )
    assert found == [
        "Northstar, warm, policy of customer_support, a-1, Helps customers. Hello pro s-1",
        "Hello",
    ]


def test_inline_comes_before_a_template_and_a_template_before_the_convention(
    scenario: Any, tmp_path: Path
) -> None:
    class Billing(Agent):
        system_template = "shared/billing"

    class Inline(Billing):
        system_prompt = "inline"

    class Again(Inline):
        system_template = "shared/again"

    class Silent(Billing):
        system_prompt = ""

    root = application(
        tmp_path, shared__billing="billing", shared__again="again", billing__system="convention"
    )
    assert prompt_of(scenario, root, Billing)[0] == "billing"
    assert prompt_of(scenario, root, Inline)[0] == "inline"
    assert prompt_of(scenario, root, Again)[0] == "again"
    assert prompt_of(scenario, root, Silent) == ["Hello"]


def test_without_a_template_there_is_no_system_message(scenario: Any, tmp_path: Path) -> None:
    class Plain(Agent):
        pass

    assert prompt_of(scenario, tmp_path, Plain) == ["Hello"]
    assert prompt_of(scenario, tmp_path, Agent) == ["Hello"]


def test_folders_of_one_request_come_first(scenario: Any, tmp_path: Path) -> None:
    class Plain(Agent):
        pass

    root = application(tmp_path / "usual", plain__system="usual")
    application(tmp_path / "tenant", plain__system="of the tenant")
    paths = [TrustedPath(tmp_path / "tenant/app/prompts")]
    assert prompt_of(scenario, root, Plain, template_paths=paths)[0] == "of the tenant"
    with pytest.raises(ValueError, match="TrustedPath values"):
        Plain.ask("x", template_paths=["app/prompts"])  # type: ignore[list-item]


def test_the_name_of_an_agent_made_on_the_spot(scenario: Any, tmp_path: Path) -> None:
    provider = scenario(says("ok"))
    root = application(tmp_path, orders__system="of orders")
    runtime = provider.runtime().build(root=root)
    assert Agent(name="orders", runtime=runtime).ask("Hello").completed
    assert texts(provider.journal()[0])[0] == "of orders"


def test_a_nested_class_has_a_nested_folder(scenario: Any, tmp_path: Path) -> None:
    root = application(tmp_path, shop__order_status__system="nested")
    assert prompt_of(scenario, root, Shop.OrderStatusAgent)[0] == "nested"


class Shop:
    class OrderStatusAgent(Agent):
        pass


def test_a_broken_template_fails_the_run(scenario: Any, tmp_path: Path) -> None:
    class Missing(Agent):
        system_template = "shared/missing"

    class Unknown(Agent):
        pass

    class Failing(Agent):
        @prompt_local
        def company(self) -> str:
            raise LookupError("no company")

    root = application(tmp_path, unknown__system="{{ company }}", failing__system="x")
    assert isinstance(failure_of(scenario, root, Missing), MissingPromptTemplateError)
    assert isinstance(failure_of(scenario, root, Unknown), MissingPromptLocalError)
    assert isinstance(failure_of(scenario, root, Failing), LookupError)


def test_mistakes_say_what_to_write() -> None:
    with pytest.raises(ConfigurationError, match="system_template must be a str"):
        Agent(system_template=3)  # type: ignore[typeddict-item]
    with pytest.raises(ConfigurationError, match="prompt_locals must be a dict"):
        Agent(prompt_locals=["x"])  # type: ignore[typeddict-item]
