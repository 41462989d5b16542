"""Messages of a framework through a projection and back.

A framework's message becomes one of Chat Completions (a dict). What comes back is compared with
what went in: a message that is still the same is the framework's own object; one that was changed
is its object with another text or other arguments; one that is new (a notice, a summary) is made
anew; one that is gone is left out. Messages are found again by the ids of their calls, which are
unique, or else by being equal, in their order.
"""
from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

Chat = Dict[str, Any]


def key_of(message: Chat) -> Tuple[Any, ...]:
    """By what a message is found again; it does not change when its text does."""
    if message.get("tool_call_id"):
        return ("result", message["tool_call_id"])
    if message.get("tool_calls"):
        return ("calls", *(call["id"] for call in message["tool_calls"]))
    return (message.get("role"), repr(message.get("content")))


def align(before: Sequence[Chat], after: Sequence[Chat]) -> List[Tuple[Optional[int], Chat]]:
    """For each message that comes back the number of the one that it was, or None."""
    places: Dict[Tuple[Any, ...], List[int]] = {}
    for index, message in enumerate(before):
        places.setdefault(key_of(message), []).append(index)
    found: List[Tuple[Optional[int], Chat]] = []
    last = -1
    for message in after:
        later = [index for index in places.get(key_of(message), ()) if index > last]
        if later:
            last = later[0]
        found.append((later[0] if later else None, message))
    return found


def rebuild(originals: Sequence[Any], before: Sequence[Chat], after: Sequence[Chat],
            changed: Callable[[Any, Chat], Any], new: Callable[[Chat], Any]) -> List[Any]:
    """The framework's messages for what came back."""
    result = []
    for index, message in align(before, after):
        if index is None:
            result.append(new(message))
        elif message == before[index]:
            result.append(originals[index])
        else:
            result.append(changed(originals[index], message))
    return result


# ---- Anthropic's messages, read as those of Chat Completions ----

def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(
        block["text"] for block in content or () if block.get("type") == "text")


def _assistant(content: Any) -> Chat:
    blocks = [] if isinstance(content, str) else content
    calls = [{"id": block["id"], "type": "function", "function": {
        "name": block["name"], "arguments": json.dumps(block["input"])}}
        for block in blocks if block["type"] == "tool_use"]
    signed = [block.get("signature") or block.get("data") for block in blocks
              if block["type"] in ("thinking", "redacted_thinking")]
    return {"role": "assistant", "content": _text(content) or None, "signed": signed,
            **({"tool_calls": calls} if calls else {})}


def chat_of(messages: Sequence[Chat]) -> List[Chat]:
    """Results are messages of their own there. `signed` has the signatures of an answer's thinking,
    so that a rebuilt answer can leave out what is no longer there."""
    chat: List[Chat] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            chat.append(_assistant(content))
            continue
        results = [] if isinstance(content, str) else [
            block for block in content if block["type"] == "tool_result"]
        chat += [{"role": "tool", "tool_call_id": block["tool_use_id"],
                  "content": _text(block.get("content"))} for block in results]
        if not results or _text(content):
            chat.append({"role": "user", "content": _text(content)})
    return chat
