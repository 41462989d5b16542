"""The recall tool for a loop of your own: its definition for each API, and its answers."""
from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional, Union

from ._engine import Engine, Store, members
from ._native import WeirError

_RENAMED = {"head": "head_lines", "tail": "tail_lines", "grep": "pattern",
            "context": "context_lines"}


class RecallTool:
    """`weir_recall` as a native tool. Offer it from the first request on, so that what a policy
    takes out has a way back; then answer its calls with `run`."""

    def __init__(self, engine: Engine, store: Optional[Store] = None, *,
                 tenant: Optional[str] = None) -> None:
        facts = json.loads(engine.call("recall_tool").json)
        self.name: str = facts["name"]
        self.description: str = facts["description"]
        self.schema: Dict[str, Any] = facts["schema"]
        self._page_tokens: int = facts["page_tokens"]
        self._engine, self._store, self._tenant = engine, store, tenant

    def chat(self) -> Dict[str, Any]:
        """Of Chat Completions."""
        return {"type": "function", "function": {
            "name": self.name, "description": self.description, "parameters": self.schema}}

    def responses(self) -> Dict[str, Any]:
        """Of the Responses API."""
        return {"type": "function", "name": self.name, "description": self.description,
                "parameters": self.schema, "strict": False}

    def messages(self) -> Dict[str, Any]:
        """Of Anthropic's Messages."""
        return {"name": self.name, "description": self.description, "input_schema": self.schema}

    def run(self, arguments: Union[str, Mapping[str, Any], None] = None, **more: Any) -> str:
        """The answer to a model's call: always a text, also where the call was wrong, so that the
        model can ask better."""
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else dict(arguments or {})
            if not isinstance(given, dict):
                return "weir_recall takes an object with `handle`"
            given.update(more)
            # A model asks for what the schema has, and for nothing else: not for another tenant.
            unknown = sorted(set(given) - set(self.schema["properties"]))
            if unknown:
                return f"weir_recall has no argument '{unknown[0]}'"
            asked = {_RENAMED.get(name, name): value for name, value in given.items()
                     if value not in (None, "", 0)}
            answer = self._engine.call("recall", None, members(
                **asked, page_tokens=self._page_tokens, tenant=self._tenant), self._store)
            text = (answer.text or b"").decode("utf-8", "replace")
            if asked.get("pattern") and not json.loads(answer.json)["matches_count"]:
                return "no line matches"
            return text
        except (WeirError, ValueError, TypeError) as error:
            return f"weir_recall: {error}"
