#!/usr/bin/env python3
"""Writes the cases of the strict replay: tests/replay/make_cases.py DIR

Coding sessions of a made-up project, one file each, the same bytes every time. A turn requires what
its next action would use: the error it mends, the line it edits, the place it opens. docs/replay.md
has the format.
"""
import base64
import hashlib
import json
import os
import sys

WORDS = ("gate sluice weir level basin intake spill crest apron sill pier flap trash rack pool "
         "head tail flow gauge stage valve drain bank berm levee canal lock chamber "
         "culvert").split()


class Dice:
    """The same numbers on every machine and in every version of Python."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 1

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % limit

    def word(self):
        return WORDS[self.below(len(WORDS))]

    def name(self):
        return f"{self.word()}_{self.word()}_{self.below(90) + 10}"

    def pick(self, items):
        return items[self.below(len(items))]


def handle_of(text):
    return "wr_" + hashlib.sha256(text.encode()).hexdigest()[:20]


# ---- what tools print ----


def source(dice, path, functions):
    """A file, and lines of it that an edit would quote."""
    lines = [f"/* {path} -- part of the control of a weir. */", '#include "control.h"', ""]
    quotable = []
    for _ in range(functions):
        name = dice.name()
        lines += [f"static int {name}(struct {dice.word()} *{dice.word()}, int level_mm)", "{"]
        for _ in range(5 + dice.below(8)):
            lines.append(f"    {dice.word()}_mm += {dice.word()}_of({dice.below(900)}) * "
                         f"{dice.name()};")
            quotable.append(lines[-1].strip())
        lines += [f"    return {dice.word()}_mm > {dice.below(5000)} ? level_mm : -1;", "}", ""]
        quotable.append(lines[-6].strip() if len(lines) > 6 else lines[0])
    numbered = "\n".join(f"{i + 1:6d}\t{line}" for i, line in enumerate(lines))
    return numbered, quotable


def build_output(dice, files, errors, root="src"):
    lines, required = [], []
    for i in range(files):
        name = f"{root}/{dice.name()}.c"
        lines.append(f"cc -std=c11 -O2 -Wall -Wextra -Iinclude -c {name} -o build/{name[:-2]}.o")
        if dice.below(6) == 0:
            lines.append(f"{name}:{dice.below(400) + 1}:9: note: expanded from macro 'LEVEL_MM'")
    for i in range(errors):
        name, symbol = f"{root}/{dice.name()}.c", dice.name()
        place = f"{name}:{dice.below(400) + 1}:{dice.below(40) + 1}"
        message = f"error: '{symbol}' undeclared (first use in this function)"
        at = dice.below(len(lines))
        lines[at:at] = [f"{place}: {message}", f"  {dice.below(400):4d} |     level_mm = {symbol};",
                        "       |                ^" + "~" * 12]
        required += [f"'{symbol}' undeclared", place]
    lines.append("make: *** [Makefile:41: all] Error 1" if errors else "ld build/control")
    return "\n".join(lines), required


def test_output(dice, tests, failures):
    lines, required = ["$ python -m pytest -v", "=" * 30 + " test session starts " + "=" * 30,
                       "platform linux -- Python 3.11.2, pytest-7.2.1",
                       f"collected {tests} items", ""], []
    failed = []
    for i in range(tests):
        name = f"tests/test_{dice.word()}.py::test_{dice.name()}"
        state = "PASSED"
        if i >= tests - failures:
            state = "FAILED"
            failed.append(name)
        lines.append(f"{name} {state} [{100 * (i + 1) // tests:3d}%]")
    if failed:
        lines.append("=" * 34 + " FAILURES " + "=" * 35)
    for name in failed:
        level = dice.below(9000)
        lines += [f"____ {name.split('::')[1]} ____", "",
                  f"    def {name.split('::')[1]}():", f"        level = read({dice.below(90)})",
                  f">       assert level == {level}", f"E       assert {level + 7} == {level}", "",
                  f"{name.split('::')[0]}:{dice.below(200) + 1}: AssertionError"]
        required += [name.split("::")[1], f"assert {level + 7} == {level}"]
    if failed:
        lines.append("=" * 27 + " short test summary info " + "=" * 27)
        lines += [f"FAILED {name} - assert" for name in failed]
    lines.append(f"=== {failures} failed, {tests - failures} passed in 3.20s ===" if failures
                 else f"=== {tests} passed in 3.11s ===")
    return "\n".join(lines), required


def crash_output(dice, noise):
    lines = []
    for i in range(noise):
        lines.append(f"2026-03-0{1 + i % 9} 10:{i % 60:02d}:07 INFO  {dice.word()}: "
                     f"{dice.word()} at {dice.below(9000)} mm, {dice.word()} "
                     f"{dice.below(100)} % open")
    name, module = dice.name(), dice.word()
    error = f"KeyError: '{dice.name()}'"
    lines += ["Traceback (most recent call last):",
              '  File "/srv/control/main.py", line 88, in <module>', "    run(load())",
              f'  File "/srv/control/{module}.py", line {dice.below(300) + 1}, in {name}',
              f"    return levels[{dice.word()}]", error]
    return "\n".join(lines), [error, f"in {name}"]


def search_output(dice, hits):
    lines = [f"src/{dice.name()}.c:{dice.below(500) + 1}:    {dice.word()}_mm = {dice.name()}"
             f"(level_mm, {dice.below(99)});" for _ in range(hits)]
    return "\n".join(lines), [dice.pick(lines).split(":    ")[0]]


def listing(dice, entries):
    lines = [f"./src/{dice.word()}/{dice.name()}.{dice.pick(['c', 'h', 'py'])}"
             for _ in range(entries)]
    return "\n".join(lines), [dice.pick(lines)]


def diff_output(dice, files, hunks):
    lines, required = [], []
    for _ in range(files):
        path = f"src/{dice.name()}.c"
        lines += [f"diff --git a/{path} b/{path}", "index 3f1c2ab..9e07d41 100644", f"--- a/{path}",
                  f"+++ b/{path}"]
        at = 1
        for _ in range(hunks):
            at += 20 + dice.below(60)
            lines.append(f"@@ -{at},7 +{at},8 @@ static int {dice.name()}(void)")
            lines += [f"     {dice.word()}_mm = {dice.name()};" for _ in range(3)]
            lines += [f"-    return {dice.name()}(level_mm);",
                      f"+    int {dice.word()} = {dice.name()}(level_mm);",
                      f"+    return {dice.word()};"]
            lines += [f"     {dice.word()}_mm = {dice.name()};" for _ in range(3)]
        required.append(f"+++ b/{path}")
    return "\n".join(lines), required[-1:]


def binary_noise(dice, rows):
    raw = bytes(dice.below(256) for _ in range(rows * 57))
    text = base64.encodebytes(raw).decode().rstrip("\n")
    return text, [text[:24]]


# ---- sessions ----


def schema(name, *keys):
    return name, {"type": "object", "properties": {key: {"type": "string"} for key in keys}}


TOOLS = [schema("Bash", "command"), schema("Read", "file_path"), schema("Grep", "pattern", "path"),
         schema("Glob", "pattern"), schema("Edit", "file_path", "old_string", "new_string"),
         schema("weir_recall", "handle", "lines", "grep")]
MODELS = {"chat": "gpt-5.1", "responses": "gpt-5.1-codex", "messages": "claude-sonnet-4-5"}


class Session:
    """A conversation in one of the three APIs, written down turn by turn."""

    def __init__(self, name, route, window, task, seed, tools=True, mode="active"):
        self.dice, self.route, self.calls = Dice(seed), route, 0
        self.case = {"id": name, "route": route, "model": MODELS[route], "mode": mode,
                     "context_window_tokens": window, "turns": []}
        self.instructions = f"You mend the control program of a weir. Case {name}."
        self.pointers = ["/model"]
        body = {"model": MODELS[route]}
        if route == "responses":
            body["instructions"] = self.instructions
            body["metadata"] = {"session_id": name}
            body["input"] = [{"type": "message", "role": "user", "content": task}]
            self.pointers += ["/instructions", "/metadata/session_id"]
        elif route == "messages":
            body["max_tokens"] = 1000
            body["system"] = self.instructions
            body["messages"] = [{"role": "user", "content": task}]
            self.pointers += ["/system", "/max_tokens"]
        else:
            body["messages"] = [{"role": "system", "content": self.instructions},
                                {"role": "user", "content": task}]
        if tools:
            body["tools"] = [self.tool(name, keys) for name, keys in TOOLS]
            self.pointers.append("/tools")
        self.body = body
        self.turn({"request": body}, [task[:40]])

    def tool(self, name, keys):
        if self.route == "chat":
            return {"type": "function", "function": {"name": name, "description": f"{name}.",
                                                     "parameters": keys}}
        if self.route == "responses":
            return {"type": "function", "name": name, "description": f"{name}.", "parameters": keys}
        return {"name": name, "description": f"{name}.", "input_schema": keys}

    def turn(self, what, required, **more):
        self.case["turns"].append({**what, "required_text": list(required),
                                   "preserve_json_pointers": self.pointers, **more})

    def pair(self, tool, arguments, result):
        self.calls += 1
        call = f"call_{self.calls:03d}"
        if self.route == "chat":
            return [{"role": "assistant", "content": None, "tool_calls": [
                {"id": call, "type": "function",
                 "function": {"name": tool, "arguments": json.dumps(arguments)}}]},
                {"role": "tool", "tool_call_id": call, "content": result}]
        if self.route == "responses":
            return [{"type": "function_call", "call_id": call, "name": tool,
                     "arguments": json.dumps(arguments)},
                    {"type": "function_call_output", "call_id": call, "output": result}]
        return [{"role": "assistant", "content": [
            {"type": "tool_use", "id": call, "name": tool, "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call,
                                          "content": result}]}]

    def words(self, role, text):
        if self.route == "responses":
            return {"type": "message", "role": role, "content": text}
        return {"role": role, "content": text}

    def call(self, tool, arguments, result, required=(), **more):
        self.turn({"append": self.pair(tool, arguments, result)}, required, **more)

    def user(self, answer, text, required=(), **more):
        self.turn({"append": [self.words("assistant", answer), self.words("user", text)]},
                  [text, *required], **more)

    def resume(self, pairs):
        """Puts what happened before into the first request: a session that is taken up again."""
        items = self.body["input" if self.route == "responses" else "messages"]
        for tool, arguments, result in pairs:
            items += self.pair(tool, arguments, result)

    # what an agent does, one request each

    def read(self, functions, path=None, **more):
        path = path or f"src/{self.dice.name()}.c"
        text, quotable = source(self.dice, path, functions)
        self.call("Read", {"file_path": path}, text, [self.dice.pick(quotable)], **more)
        return path, quotable

    def edit(self, path, old):
        new = old.replace("_mm", "_metres")
        self.call("Edit", {"file_path": path, "old_string": old, "new_string": new},
                  f"The file {path} has been updated.", [f"{path} has been updated"])

    def run(self, command, output, **more):
        self.call("Bash", {"command": command}, output[0], output[1], **more)

    def search(self, hits):
        text, required = search_output(self.dice, hits)
        self.call("Grep", {"pattern": self.dice.word() + "_mm", "path": "src"}, text, required)


def continuation(name, route, window, seed):
    s = Session(name, route, window, "Level readings drift by 7 mm after a restart. Why?", seed)
    for i in range(9):
        s.search(20)
        path, quotable = s.read(8)
        s.edit(path, s.dice.pick(quotable))
        s.run("make test", test_output(s.dice, 40, 1 if i < 8 else 0))
    return s


def repeated_build(name, route, window, seed):
    s = Session(name, route, window, "The build fails since this morning. Mend it.", seed)
    output = build_output(s.dice, 60, 2)
    for i in range(8):
        s.run("make -k all", output)
        path, quotable = s.read(4)
        s.edit(path, s.dice.pick(quotable))
    return s


def compiler_errors(name, route, window, seed):
    s = Session(name, route, window, "Port the control to the new compiler.", seed)
    for i in range(8):
        s.run("make -k all", build_output(s.dice, 70, 4))
        path, quotable = s.read(6)
        s.edit(path, s.dice.pick(quotable))
    return s


def runtime_errors(name, route, window, seed):
    s = Session(name, route, window, "The service dies every night. Why?", seed)
    for i in range(11):
        s.run(f"journalctl -u control -n 120 --since -{i}d", crash_output(s.dice, 90))
        s.read(5)
    return s


def large_diffs(name, route, window, seed):
    s = Session(name, route, window, "Review what changed since the last release.", seed)
    s.resume([("Bash", {"command": f"git show HEAD~{i}"}, diff_output(s.dice, 12, 7)[0])
              for i in range(6)])
    for i in range(12):
        s.run(f"git diff v1.{i} v1.{i + 1}", diff_output(s.dice, 9, 6))
        s.read(7)
    return s


def navigation(name, route, window, seed):
    s = Session(name, route, window, "Where is the level of the intake computed?", seed)
    for i in range(6):
        text, required = listing(s.dice, 90)
        s.call("Glob", {"pattern": "**/*"}, text, required)
        s.search(60)
        s.search(40)
        s.read(5)
    return s


def refactor(name, route, window, seed):
    s = Session(name, route, window, "Rename level_mm to level_metres everywhere.", seed)
    s.resume([("Read", {"file_path": f"src/old_{i}.c"}, source(s.dice, f"src/old_{i}.c", 40)[0])
              for i in range(9)])
    for i in range(8):
        path, quotable = s.read(14, f"src/part_{i}.c")
        s.edit(path, s.dice.pick(quotable))
        s.run("make -k all", build_output(s.dice, 60, 1))
    return s


def changing_instructions(name, route, window, seed):
    s = Session(name, route, window, "Tidy up the module, then hand over.", seed)
    for i in range(11):
        s.run("make lint", build_output(s.dice, 60, 1))
        if i % 3 == 2:
            rule = f"From now on rule {i}: touch only files below src/{s.dice.name()}."
            s.turn({"append": [s.words("assistant", "Understood."),
                               s.words("developer" if route == "responses" else "system", rule),
                               s.words("user", "Go on.")]}, [rule], kept_text=[rule])
        else:
            s.read(5)
    return s


def damaged_artifacts(name, route, window, seed):
    """Handles from elsewhere lead nowhere, damaged ones are noticed, and both stay."""
    s = Session(name, route, window, "Take the work up from the notes.", seed)
    s.run("make -k all", build_output(s.dice, 170, 2))
    stranger = handle_of("a text that nobody here has stored")
    note = f"The log of last week is {stranger}, if you need it."
    for i in range(10):
        s.run(f"make -k part{i}", build_output(s.dice, 60, 1))
        if i == 1:
            s.user("Noted.", note, kept_text=[note], unresolved_handles=[stranger])
        elif i > 1:
            s.read(4, store={4: "missing", 6: "corrupt"}.get(i, "sound"))
    for turn in s.case["turns"][4:]:
        turn["unresolved_handles"] = [stranger]
        turn["kept_text"] = [note]
    return s


def forgotten_original(name, seed):
    """The host compacted: the original is only in the store by now, and that breaks."""
    s = Session(name, "chat", 16384, "Build it.", seed)
    output, required = build_output(s.dice, 900, 2)
    handle = handle_of(output)
    s.run("make -k all", (output, required), resolved_handles=[handle])
    for store, lost in (("sound", False), ("corrupt", True), ("sound", True)):
        text = f"We built it before; the log is {handle}. Why did it fail?"
        body = dict(s.body, messages=[s.words("user", text)])
        found = {"unresolved_handles": [handle]} if lost else {"resolved_handles": [handle]}
        s.turn({"request": body}, [text], store=store, kept_text=[text], **found)
    s.turn({"request": dict(s.body, messages=s.body["messages"] + s.pair(
        "Bash", {"command": "make -k all"}, output))}, required, resolved_handles=[handle])
    s.case["restart_before_turns"] = [2]
    return s


def duplicate_calls(name, route, window, seed):
    s = Session(name, route, window, "Watch the deployment until it is done.", seed)
    status = crash_output(s.dice, 40)
    config, quotable = source(s.dice, "src/config.c", 12)
    for i in range(8):
        s.run("kubectl logs control", status)
        s.call("Read", {"file_path": "src/config.c"}, config, [quotable[3]])
        s.run(f"curl -s localhost/metrics?{i}", (listing(s.dice, 50)[0], []))
    return s


def noise(name, route, window, seed):
    s = Session(name, route, window, "Why is the firmware image broken?", seed)
    for i in range(11):
        text, required = binary_noise(s.dice, 45)
        s.run(f"base64 firmware-{i}.bin", (text, required))
        s.read(5)
    return s


def failure_recovery(name, route, window, seed):
    s = Session(name, route, window, "Make the tests pass again.", seed)
    for i in range(8):
        s.run("python -m pytest -v", test_output(s.dice, 70, 3 if i % 2 == 0 else 0))
        path, quotable = s.read(6)
        if i == 3:
            text, required = crash_output(s.dice, 90)
            s.run("cat control.log", (text, required), store="locked", kept_text=required)
        else:
            s.edit(path, s.dice.pick(quotable))
    s.case["restart_before_turns"] = [9, 17]
    return s


def resumed(name, route, window, seed):
    s = Session(name, route, window, "Go on where we stopped yesterday.", seed)
    history = []
    for i in range(12):
        history.append(("Bash", {"command": f"make part{i}"}, build_output(s.dice, 90, 1)[0]))
        history.append(("Read", {"file_path": f"src/old_{i}.c"},
                        source(s.dice, f"src/old_{i}.c", 26)[0]))
        history.append(("Bash", {"command": f"git show HEAD~{i}"}, diff_output(s.dice, 5, 5)[0]))
    s.resume(history)
    for i in range(8):
        s.run("python -m pytest -v", test_output(s.dice, 60, 1))
        path, quotable = s.read(8)
        s.edit(path, s.dice.pick(quotable))
    return s


def deltas(name, seed):
    """The server holds the history: a request has what is new, and names the last answer."""
    s = Session(name, "responses", 32768, "Keep the chain.", seed)
    for i in range(32):
        output, required = build_output(s.dice, 40, 1)
        body = dict(s.body, previous_response_id=f"resp_{i:03d}",
                    input=[{"type": "function_call_output", "call_id": f"call_{i:03d}",
                            "output": output}])
        s.turn({"request": body}, required)
        s.case["turns"][-1]["preserve_json_pointers"] = s.pointers + [
            "/previous_response_id", "/input/0/call_id", "/input/0/type"]
    return s


def rewritten_instructions(name, seed):
    s = Session(name, "messages", 32768, "Check the release.", seed)
    for i in range(3):
        s.turn({"request": dict(s.body, system=f"You review release {i}. REVISION_{i}")},
               [f"REVISION_{i}"], expected_outcome="pass_through")
    return s


def said_again(name, route, seed):
    """What is there already need not be sent again."""
    s = Session(name, route, 32768, "Build it until it works.", seed)
    output = build_output(s.dice, 60, 2)
    s.run("make", output)
    s.run("make", output, expected_outcome="rewrite")
    return s


def passed_through(name, mode, route, seed):
    """Pass-through is whole: a duplicate that the policy would take out stays."""
    s = Session(name, "chat", 16384, "As it is.", seed, mode=mode)
    output = build_output(s.dice, 90, 2)
    for _ in range(3):
        s.run("make", output, expected_outcome="pass_through", kept_text=output[1])
    s.case["route"] = route
    return s


def make():
    return [
        continuation("continuation-36-turns", "chat", 32768, 1),
        repeated_build("repeated-build-output", "responses", 16384, 2),
        compiler_errors("compiler-errors", "messages", 32768, 3),
        runtime_errors("runtime-errors", "chat", 32768, 4),
        large_diffs("large-diffs", "responses", 131072, 5),
        navigation("repository-navigation", "messages", 32768, 6),
        refactor("multi-file-refactoring", "chat", 131072, 7),
        changing_instructions("changing-instructions", "responses", 32768, 8),
        damaged_artifacts("missing-artifacts", "chat", 16384, 9),
        duplicate_calls("duplicate-calls", "responses", 32768, 10),
        noise("binary-noise", "messages", 32768, 11),
        failure_recovery("failure-recovery", "chat", 16384, 12),
        resumed("resumed-200k", "messages", 200000, 13),
        continuation("continuation-16k", "messages", 16384, 14),
        deltas("delta-chain", 15),
        forgotten_original("corrupted-artifact", 16),
        rewritten_instructions("rewritten-instructions", 17),
        *(said_again(f"said-again-{route}", route, 30) for route in MODELS),
        passed_through("explicit-exact", "exact", "chat", 18),
        passed_through("shadow", "shadow", "chat", 19),
        passed_through("unknown-route", "active", "embeddings", 20),
    ]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_cases.py DIR")
    os.makedirs(sys.argv[1], exist_ok=True)
    for session in make():
        path = os.path.join(sys.argv[1], session.case["id"] + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema_version": 2, "scenarios": [session.case]}, file, indent=1)
            file.write("\n")


main()
