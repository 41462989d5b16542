#!/usr/bin/env python3
"""libweir from another language: engine, store and weir_call(), by ctypes and nothing else.

    call.py [LIBRARY]

LIBRARY is libweir.so.0 unless told. Everything goes in and comes out as JSON (docs/embed.md).
"""
import ctypes
import json
import sys

weir = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libweir.so.0")
weir.weir_call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                           ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
weir.weir_call_free.argtypes = [ctypes.c_void_p]
weir.weir_engine_new.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
weir.weir_engine_free.argtypes = [ctypes.c_void_p]
weir.weir_store_new_memory.argtypes = [ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
weir.weir_store_close.argtypes = [ctypes.c_void_p]


class Weir:
    def __init__(self):
        self.engine, self.store = ctypes.c_void_p(), ctypes.c_void_p()
        if weir.weir_engine_new(ctypes.byref(self.engine), None):
            raise MemoryError
        if weir.weir_store_new_memory(0, ctypes.byref(self.store)):
            raise MemoryError

    def close(self):
        weir.weir_store_close(self.store)
        weir.weir_engine_free(self.engine)

    def call(self, method, **members):
        text, answer = json.dumps(members).encode(), ctypes.c_void_p()
        weir.weir_call(self.engine, self.store, method.encode(), text, len(text),
                       ctypes.byref(answer), None)
        if not answer.value:
            raise MemoryError
        result = json.loads(ctypes.string_at(answer.value))
        weir.weir_call_free(answer)
        if "error" in result:
            raise ValueError(result["error"]["text"])
        return result


def main():
    w = Weir()
    print(w.call("count", text="What is a weir?"))
    print(w.call("models", name="gpt-5")["window_tokens"], "tokens")
    log = "".join(f"gate {n} is closed\n" for n in range(500)) + "error: gate 500 leaks\n"
    short = w.call("condense", text=log, command="make check", budget_bytes=500)
    print(len(log), "bytes became", len(short["text"]))
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "hello"}]}
    print(w.call("project", body=json.dumps(body), policy="tiered")["tokens_after"], "tokens")
    try:
        w.call("recall", handle="wr_00000000000000000000")
    except ValueError as error:
        print(error)
    w.close()


main()
