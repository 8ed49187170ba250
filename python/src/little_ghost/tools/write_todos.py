"""A plan that an agent keeps, for whoever follows its work."""

from __future__ import annotations

import copy
from typing import Any

from ..context import RunContext
from ..errors import ToolError
from .base import Tool

STATE_KEY = "little_ghost.plan"
"""Where `RunContext.state` has the plan: a dict with `plan_title` and `todos`."""


class WriteTodos(Tool):
    """A tool with which an agent keeps a plan that the application can show.

    Each call replaces the whole plan, which `RunContext.state` has under `STATE_KEY`.
    """

    name = "write_todos"
    description = (
        "Replace the plan of your work: its title and its todos, each with an id that stays the same "
        "from call to call. At most one todo is in progress."
    )
    exclusive = True
    input_schema = {
        "type": "object",
        "properties": {
            "plan_title": {
                "type": "string",
                "minLength": 1,
                "maxLength": 80,
                "pattern": r"^[^\x00-\x1f\x7f]*$",
                "description": "What the plan is about, for people to read.",
            },
            "todos": {
                "type": "array",
                "maxItems": 20,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {
                            "type": "string",
                            "maxLength": 64,
                            "pattern": "^[a-z0-9][a-z0-9_-]*$",
                            "description": "Stays the same when the plan is written again.",
                        },
                        "title": {"type": "string", "minLength": 1, "maxLength": 48},
                        "status": {
                            "type": "string",
                            "enum": ["pending", "in_progress", "completed"],
                        },
                        "details": {"type": ["string", "null"], "maxLength": 4000},
                    },
                    "required": ["id", "title", "status"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["plan_title", "todos"],
        "additionalProperties": False,
    }

    def call(self, input: dict[str, Any], context: RunContext) -> dict[str, Any]:
        """Replaces the plan, and gives it back.

        Raises:
            ToolError: Two todos have one id, several are in progress, or a title is blank.
        """
        todos = [{**todo, "title": todo["title"].strip()} for todo in input["todos"]]
        plan = {"plan_title": input["plan_title"].strip(), "todos": todos}
        if not plan["plan_title"] or not all(todo["title"] for todo in todos):
            raise ToolError("titles must not be blank")
        identifiers = [todo["id"] for todo in todos]
        if len(set(identifiers)) != len(identifiers):
            raise ToolError("each todo needs an id of its own")
        if sum(todo["status"] == "in_progress" for todo in todos) > 1:
            raise ToolError("at most one todo may be in progress")
        context.state[STATE_KEY] = plan
        return copy.deepcopy(plan)
