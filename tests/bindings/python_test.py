#!/usr/bin/env python3
"""The Python package: what it gives, what it refuses, threads, an event loop, the end of objects.

    python_test.py        WEIR_LIBRARY and PYTHONPATH say which library and package; without them
                          the installed wheel is tested
"""
import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import weir

README = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../bindings/python/README.md")
BODY = (b'{"model":"gpt-4o", "n":1.0e0,"messages":[{"role":"user","content":"hi \\u00e9"}]}')


def talk(results=8, tools=True):
    """A loop whose results a policy takes out, as Chat Completions."""
    messages = [{"role": "user", "content": "go on"}]
    for i in range(results):
        text = "".join(f"  line {n} of the file, number {i}\n" for n in range(200))
        messages.append({"role": "assistant", "content": None, "tool_calls": [{
            "id": f"call_{i}", "type": "function",
            "function": {"name": "run_query", "arguments": "{}"}}]})
        messages.append({"role": "tool", "tool_call_id": f"call_{i}", "content": text})
    body = {"model": "gpt-4o", "messages": messages}
    if tools:
        body["tools"] = [{"type": "function", "function": {"name": "weir_recall"}}]
    return body


def handles(body):
    return re.findall(rb"wr_[0-9a-f]{20}", body)


class Projecting(unittest.TestCase):
    def test_what_is_not_changed_is_the_object_that_came(self):
        projected = weir.project(BODY, policy="tiered")
        self.assertIs(projected.body, BODY)
        self.assertFalse(projected.is_changed)
        self.assertEqual(projected.report["policy"], "tiered")
        self.assertEqual(projected.tokens_before, projected.tokens_after)

    def test_a_dict_and_a_str_are_bodies_too(self):
        self.assertEqual(weir.project(json.loads(BODY)).request(), json.loads(BODY))
        self.assertEqual(weir.project(BODY.decode()).body, BODY)
        self.assertEqual(weir.project(bytearray(BODY)).body, BODY)

    def test_what_is_taken_out_comes_back(self):
        with weir.Store() as store:
            projected = weir.project(talk(), policy="tiered", store=store, window_tokens=16000)
            self.assertTrue(projected.is_changed)
            self.assertLess(projected.tokens_after, projected.tokens_before)
            handle = handles(projected.body)[0].decode()
            wanted = "".join(f"  line {n} of the file, number 0\n" for n in range(200))
            self.assertEqual(weir.recall(handle, store=store).text, wanted)
            page = weir.recall(handle, store=store, lines="2-3")
            self.assertEqual(page.data, wanted.encode()[
                wanted.index("  line 1"):wanted.index("  line 3")])
            self.assertEqual((page.lines_total, page.lines_count), (200, 2))
            tool = weir.recall_tool(store)
            self.assertEqual(tool.run(json.dumps({"handle": handle, "head": 1})),
                             "  line 0 of the file, number 0\n")
            self.assertEqual(tool.run({"handle": handle, "grep": "line 7 "}),
                             "8:  line 7 of the file, number 0\n")
            self.assertEqual(tool.run({"handle": handle, "grep": "nobody"}), "no line matches")

    def test_without_a_store_nothing_is_taken_out(self):
        body = json.dumps(talk()).encode()
        self.assertIs(weir.project(body, policy="tiered", window_tokens=60000).body, body)

    def test_a_session_keeps_its_forms(self):
        store, engine = weir.Store(), weir.Engine()
        first = engine.project(talk(8), policy="lean", store=store, session="s").request()
        again = weir.Engine().project(talk(9), policy="lean", store=store, session="s").request()
        self.assertEqual(again["messages"][:len(first["messages"])], first["messages"])

    def test_a_store_on_disk_survives(self):
        with tempfile.TemporaryDirectory() as folder:
            with weir.Store(folder) as store:
                body = weir.project(talk(), policy="tiered", store=store,
                                    window_tokens=16000).body
            with weir.Store(folder, must_exist=True) as store:
                self.assertIn("number 0", weir.recall(handles(body)[0].decode(), store=store).text)
            with self.assertRaises(weir.WeirError):
                weir.Store(os.path.join(folder, "none"), must_exist=True)

    def test_policies_of_ones_own(self):
        engine = weir.Engine(policies="policies:\n  mine:\n    stages: []\n")
        self.assertEqual(engine.project(BODY, policy="mine").report["policy"], "mine")
        with self.assertRaisesRegex(weir.WeirError, "line 2, column 1"):
            weir.Engine(policies="policies: [")


class Counting(unittest.TestCase):
    def test_tokens(self):
        self.assertEqual(weir.count("What is a weir?"), 6)
        self.assertEqual(weir.count("What is a weir?", model="gpt-5"), 6)
        self.assertEqual(weir.count(b"\xff"), weir.count(b"\xff", encoding="o200k_base"))
        self.assertEqual(weir.count(""), 0)
        self.assertGreater(weir.count("\ud800"), 0)

    def test_condensing(self):
        log = "".join(f"gate {n} is closed\n" for n in range(500)) + "error: gate 500 leaks\n"
        short = weir.condense(log, command="make check", budget_bytes=500)
        self.assertIn("error: gate 500 leaks", short.text)
        self.assertLess(len(short.text), 600)
        self.assertEqual(short.lines_total, 501)
        self.assertTrue(weir.condense("one\n").is_same)

    def test_inspecting(self):
        seen = weir.inspect(talk(2))
        self.assertEqual((seen["dialect"], seen["model"]), ("chat", "gpt-4o"))
        self.assertEqual([s["kind"] for s in seen["segments"]].count("tool_result"), 2)

    def test_models(self):
        self.assertIn("gpt-5", weir.default_engine().models())
        self.assertGreater(weir.default_engine().model("gpt-5")["window_tokens"], 100000)


class Refusing(unittest.TestCase):
    def test_the_place_of_what_is_wrong(self):
        with self.assertRaises(weir.WeirSyntaxError) as caught:
            weir.project(b'{"model":"gpt-4o" "x"}')
        self.assertEqual(caught.exception.at_byte, 18)
        self.assertEqual(caught.exception.status, "WEIR_SYNTAX")
        self.assertIsInstance(caught.exception, ValueError)

    def test_kinds(self):
        store = weir.Store()
        for wrong, kind in (
                (lambda: weir.project(b"{}"), weir.WeirInvalidError),
                (lambda: weir.project(BODY, policy="nobody"), weir.WeirNotFoundError),
                (lambda: weir.count("x", encoding="nobody"), weir.WeirNotFoundError),
                (lambda: weir.recall("wr_" + "0" * 20, store=store), LookupError),
                (lambda: weir.recall("wr", store=store), ValueError),
                (lambda: weir.project(BODY, nobody=1), TypeError),
                (lambda: weir.project(BODY, window_tokens=2**40), weir.WeirInvalidError)):
            with self.assertRaises(kind):
                wrong()
        self.assertIn("never stored", weir.recall_tool(store).run(handle="wr_" + "0" * 20))
        self.assertIn("weir_recall", weir.recall_tool(store).run("not JSON"))
        self.assertIn("weir_recall", weir.recall_tool(store).run("[]"))

    def test_closed_things(self):
        engine, store = weir.Engine(), weir.Store()
        for thing in (engine, store):
            self.assertFalse(thing.closed)
            thing.close()
            thing.close()
            self.assertTrue(thing.closed)
        with self.assertRaisesRegex(weir.WeirInvalidError, "the engine is closed"):
            engine.count("x")
        with self.assertRaisesRegex(weir.WeirInvalidError, "the store is closed"):
            weir.project(talk(), policy="lean", store=store)


    def test_what_is_no_store(self):
        for wrong in (weir.Engine(), "memory", 5):
            with self.assertRaisesRegex(TypeError, "weir.Store"):
                weir.project(talk(), policy="lean", store=wrong)
            with self.assertRaisesRegex(TypeError, "weir.Store"):
                weir.Engine(store=wrong).project(talk(), policy="lean")
            with self.assertRaisesRegex(TypeError, "weir.Store"):
                weir.Session("nowhere", store=wrong, model="gpt-5")
        for path in ("a\0b", b"a\0b"):
            with self.assertRaisesRegex(ValueError, "null byte"):
                weir.Store(path)

    def test_a_model_cannot_ask_for_another_tenant(self):
        with weir.Store() as store:
            body = weir.project(talk(), policy="tiered", store=store, window_tokens=16000,
                                tenant="bob").body
            asked = {"handle": handles(body)[0].decode(), "head": 1}
            self.assertIn("line 0", weir.recall_tool(store, tenant="bob").run(asked))
            for tool in (weir.recall_tool(store), weir.recall_tool(store, tenant="alice")):
                self.assertIn("never stored", tool.run(asked))
                self.assertIn("no argument 'tenant'", tool.run({**asked, "tenant": "bob"}))


class Sessions(unittest.TestCase):
    def test_a_store_that_is_closed_first(self):
        with tempfile.TemporaryDirectory() as folder:
            store = weir.Store(os.path.join(folder, "store"))
            sessions = [weir.Session(os.path.join(folder, name), model="gpt-5", store=store)
                        for name in "ab"]
            for session in sessions:
                session.say("x")
            store.close()
            self.assertTrue(store.closed)
            with self.assertRaisesRegex(weir.WeirInvalidError, "the store is closed"):
                sessions[0].say("x")
            sessions[0].close()
            sessions.pop().close()

    def test_a_loop(self):
        answer = {"model": "gpt-5", "choices": [{"message": {
            "role": "assistant", "content": None, "tool_calls": [{
                "id": "c1", "type": "function",
                "function": {"name": "read", "arguments": "{}"}}]}}]}
        with tempfile.TemporaryDirectory() as folder, weir.Store() as store:
            path = os.path.join(folder, "s")
            with weir.Session(path, model="gpt-5", store=store) as session:
                session.set_prompt("You read files.")
                session.set_tools([{"name": "read", "description": "reads",
                                    "schema": {"type": "object"}}])
                session.say("What is in a.txt?")
                body = session.request("chat", extra={"stream": True}).request()
                self.assertEqual(body["messages"][-1]["content"], "What is in a.txt?")
                self.assertIs(body["stream"], True)
                self.assertEqual(session.answer("chat", answer)[0]["name"], "read")
                with self.assertRaisesRegex(weir.WeirInvalidError, "result"):
                    session.request("chat")
                self.assertEqual(session.result("c1", "hello"), [])
                self.assertEqual(session.request("chat").request()["messages"][-1]["content"],
                                 "hello")
                session.answer_words("It says hello.")
                self.assertGreater(session.context()["total_tokens"], 0)
                self.assertEqual(session.run()["turns"], 2)
            with weir.Session(path, store=store, must_exist=True) as session:
                self.assertGreater(session.opened["events_count"], 5)
            with self.assertRaisesRegex(weir.WeirInvalidError, "the session is closed"):
                session.say("x")
            with self.assertRaises(weir.WeirNotFoundError):
                weir.Session(os.path.join(folder, "none"), must_exist=True)


class Threads(unittest.TestCase):
    def test_threads_share_an_engine_and_a_store(self):
        engine, store, wrong = weir.Engine(), weir.Store(), []
        wanted = weir.Engine().project(talk(), policy="lean", store=weir.Store()).body

        def work(name):
            for _ in range(5):
                got = engine.project(talk(), policy="lean", store=store, session=name).body
                if got != wanted or engine.count("What is a weir?") != 6:
                    wrong.append(name)
        threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_close_waits_for_the_call_under_way(self):
        for _ in range(3):
            engine = weir.Engine()
            seen = []

            def work():
                try:
                    while True:
                        engine.count("What is a weir?")
                        seen.append(1)
                except weir.WeirInvalidError:
                    seen.append("closed")
            thread = threading.Thread(target=work)
            thread.start()
            while not seen:
                pass
            engine.close()
            thread.join()
            self.assertEqual(seen[-1], "closed")

    def test_an_event_loop_goes_on(self):
        async def main():
            counted = await asyncio.gather(*(weir.acount(f"gate {n}") for n in range(20)))
            projected = await weir.aproject(BODY)
            self.assertIs(projected.body, BODY)
            self.assertGreater((await weir.acondense("x\n")).lines_total, 0)
            self.assertEqual((await weir.ainspect(BODY))["turns"], 1)
            return counted
        self.assertEqual(len(asyncio.run(main())), 20)


class Readme(unittest.TestCase):
    def test_its_example_runs(self):
        with open(README, encoding="utf-8") as file:
            code = re.search(r"^```python\n(.*?)^```", file.read(), re.M | re.S)[1]
        # Results that `lean` finds long enough.
        names = {"body": json.dumps(talk()).replace("of the file,", "of the file " * 30).encode()}
        exec(compile(code, README, "exec"), names)
        sent = names["projected"].body
        self.assertLess(len(sent), len(names["body"]))
        self.assertIn("line 7 of the file", names["tool"].run(handle=handles(sent)[0].decode()))


class Ends(unittest.TestCase):
    def test_the_interpreter_ends_while_threads_are_inside(self):
        program = """if True:
            import threading, time, weir
            engine, begun = weir.Engine(store=weir.Store()), threading.Semaphore(0)

            def work():
                while True:
                    begun.release()
                    engine.count("What is a weir? " * 20000)
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            for _ in range(6):
                begun.acquire()"""
        try:
            subprocess.run([sys.executable, "-c", ""], check=True)
        except OSError:
            self.skipTest("an emulated Python cannot start another one")
        for _ in range(4):
            done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE,
                                  text=True)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    # Under a sanitizer memory is kept for a while on purpose; it finds leaks by itself.
    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "under a sanitizer")
    def test_what_nobody_has_any_more_is_freed(self):
        def bytes_in_use():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def use():
            for _ in range(4):
                store = weir.Store()
                engine = weir.Engine(store=store)
                engine.project(talk(), policy="lean")
                del engine, store
            gc.collect()
        use()
        before = bytes_in_use()
        use()
        use()
        # Eight engines that were kept would take well over 100 MB, with their tokenizers.
        self.assertLess(bytes_in_use() - before, 60_000_000)


if __name__ == "__main__":
    print(f"weir {weir.__version__}, Python {sys.version.split()[0]}", file=sys.stderr)
    unittest.main()
