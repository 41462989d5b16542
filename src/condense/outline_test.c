/* Hand-made samples of the languages; an outline is written "LINE-END kind depth name; ...", lines
 * from 1, the kind T (type), F (function) or V (value). */
#include "condense/outline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *path, *text, *expected;
} cases[] = {
    {"C: functions, types, macros and tables", "a.c",
     "#include <stdio.h>\n"
     "#define MAX 10\n"
     "\n"
     "/* struct ghost { */\n"
     "struct node {\n"
     "    struct node *next; /* not a type */\n"
     "};\n"
     "static const int table[] = {\n"
     "    1,\n"
     "};\n"
     "static int find(struct node *node,\n"
     "                int key)\n"
     "{\n"
     "    if (node)\n"
     "        goto out;\n"
     "    call(node, key);\n"
     "out:\n"
     "    return 0;\n"
     "}\n"
     "\n"
     "/* Says something. */\n"
     "int main(void)\n"
     "{\n"
     "}\n",
     "2-2 V0 MAX; 5-7 T0 node; 8-10 V0 table; 11-19 F0 find; 22-24 F0 main; "},
    {"C: a header's prototypes and types", "a.h",
     "typedef unsigned long word;\n"
     "typedef int compare(const void *a, const void *b);\n"
     "struct x *x_new(int a); /* owned */\n"
     "enum { ONE, TWO };\n",
     "1-1 T0 word; 2-2 T0 compare; 3-3 V0 x_new; 4-4 T0 enum; "},
    {"C++: methods stand in their class, a class in its namespace", "a.cpp",
     "namespace app {\n"
     "  class Shape : public Base {\n"
     "  public:\n"
     "    explicit Shape(int a);\n"
     "    virtual double area() const = 0;\n"
     "  };\n"
     "}\n"
     "double app::Shape::area() const {\n"
     "  return std::max(a, b);\n"
     "}\n",
     "1-7 T0 app; 2-6 T1 Shape; 4-4 V2 Shape; 5-5 V2 area; 8-10 F0 app::Shape::area; "},
    {"Java: methods and constructors, no annotations, no calls", "A.java",
     "package a;\n"
     "@Module(name = X)\n"
     "public class A extends B {\n"
     "    private final int count = read(1);\n"
     "    public A(int a) {\n"
     "        super(a);\n"
     "    }\n"
     "    @Override\n"
     "    public <T> int delete(Uri uri) throws IOException {\n"
     "        return db.delete(uri);\n"
     "    }\n"
     "}\n",
     "3-12 T0 A; 5-7 F1 A; 9-11 F1 delete; "},
    {"C#: namespaces, records and methods", "a.cs",
     "namespace App.Core\n"
     "{\n"
     "    public record Point(int X);\n"
     "    internal static class Tool\n"
     "    {\n"
     "        public static async Task<int> RunAsync(string name)\n"
     "        {\n"
     "            await Call(name);\n"
     "        }\n"
     "    }\n"
     "}\n",
     "1-11 T0 App.Core; 3-3 T1 Point; 4-10 T1 Tool; 6-9 F2 RunAsync; "},
    {"TypeScript: functions of every spelling, types, tests", "a.test.ts",
     "import { x } from './x';\n"
     "export const LIMIT = 3;\n"
     "export interface Props { a: number }\n"
     "type Pair = [number, number];\n"
     "export default async function main(a: string): Promise<void> {\n"
     "  const inner = (b: number) => {\n"
     "    return b;\n"
     "  };\n"
     "  const plain = 3;\n"
     "}\n"
     "class Store<T> {\n"
     "  #items = [];\n"
     "  async load(id: string): Promise<T> {\n"
     "    if (id) {\n"
     "    }\n"
     "  }\n"
     "  #reset() {\n"
     "  }\n"
     "}\n"
     "describe('store', () => {\n"
     "  it('loads', async () => {\n"
     "  });\n"
     "});\n",
     "2-2 V0 LIMIT; 3-3 T0 Props; 4-4 T0 Pair; 5-10 F0 main; 6-8 F1 inner; 11-19 T0 Store; "
     "13-16 F1 load; 17-18 F1 reset; 20-23 T0 store; 21-22 F1 loads; "},
    {"JavaScript: exports and members", "a.js",
     "const fs = require('fs');\n"
     "exports.read = function (a) {\n"
     "};\n"
     "Foo.prototype.bar = (a) => {\n"
     "};\n"
     "module.exports = {\n"
     "  run(a) {\n"
     "  },\n"
     "};\n",
     "1-1 V0 fs; 2-3 F0 exports.read; 4-5 F0 Foo.prototype.bar; 6-9 V0 module.exports; "
     "7-8 F1 run; "},
    {"JavaScript: a blank before the parameters of methods", "a.js",
     "class Range {\n"
     "  static get ANY () {\n"
     "  }\n"
     "  test (version) {\n"
     "    if (version) {\n"
     "    }\n"
     "  }\n"
     "}\n",
     "1-8 T0 Range; 2-3 F1 ANY; 4-7 F1 test; "},
    {"Go: receivers, types, groups", "a.go",
     "package a\n"
     "const (\n"
     "\tOne = iota\n"
     ")\n"
     "type Store struct {\n"
     "\tname string\n"
     "}\n"
     "func (s *Store) Load(id string) error {\n"
     "\tvar x int\n"
     "\treturn nil\n"
     "}\n"
     "func main() {\n"
     "}\n",
     "2-4 V0 const; 5-7 T0 Store; 8-11 F0 Load; 12-13 F0 main; "},
    {"Rust: items and what stands in an impl", "a.rs",
     "use std::fmt;\n"
     "pub struct Point<T> {\n"
     "    x: T,\n"
     "}\n"
     "impl<T> Point<T> {\n"
     "    pub(crate) const fn new(x: T) -> Self {\n"
     "        let y = x;\n"
     "    }\n"
     "}\n"
     "macro_rules! say {\n"
     "}\n",
     "2-4 T0 Point; 5-9 T0 Point; 6-8 F1 new; 10-11 F0 say; "},
    {"Swift and Kotlin by their words", "a.swift",
     "public final class View: Base {\n"
     "    override func draw() {\n"
     "    }\n"
     "    init(a: Int) {\n"
     "    }\n"
     "}\n",
     "1-6 T0 View; 2-3 F1 draw; 4-5 F1 init; "},
    {"Kotlin: data classes, functions, objects", "a.kt",
     "data class User(val id: Int)\n"
     "private suspend fun load(id: Int): User {\n"
     "    val x = 1\n"
     "}\n"
     "object Registry {\n"
     "}\n",
     "1-1 T0 User; 2-4 F0 load; 5-6 T0 Registry; "},
    {"PHP: classes and functions", "a.php",
     "<?php\n"
     "namespace App;\n"
     "abstract class A {\n"
     "    public static function make(): self {\n"
     "    }\n"
     "}\n",
     "2-2 T0 App; 3-6 T0 A; 4-5 F1 make; "},
    {"Python: nested, async, decorated; nothing in texts", "a.py",
     "\"\"\"Text.\n"
     "def ghost(): x\n"
     "\"\"\"\n"
     "LIMIT = 3\n"
     "@dataclass\n"
     "class A(Base):\n"
     "    '''One line.'''\n"
     "    async def run(self,\n"
     "                  a):\n"
     "        def inner():\n"
     "            pass\n"
     "        x = 1\n"
     "\n"
     "# Said of b.\n"
     "def b():\n"
     "    return 1\n"
     "if __name__ == '__main__':\n"
     "    b()\n",
     "4-4 V0 LIMIT; 6-12 T0 A; 8-12 F1 run; 10-11 F2 inner; 15-16 F0 b; 17-18 V0 if; "},
    {"Python: a part that begins inside a text finds its way back", "a.py",
     "    the end of a text.\n"
     "    \"\"\"\n"
     "    return 1\n"
     "\n"
     "def b():\n"
     "    pass\n",
     "5-6 F0 b; "},
    {"Ruby: modules, classes, methods", "a.rb",
     "module A\n"
     "  class B < C\n"
     "    def empty?\n"
     "      true\n"
     "    end\n"
     "    def self.make(a)\n"
     "    end\n"
     "  end\n"
     "end\n",
     "1-9 T0 A; 2-8 T1 B; 3-5 F2 empty?; 6-7 F2 self.make; "},
    {"Lua: local functions and methods", "a.lua",
     "local M = {}\n"
     "local function f(a)\n"
     "end\n"
     "function M.a:b(c)\n"
     "end\n",
     "2-3 F0 f; 4-5 F0 M.a:b; "},
    {"shell: both spellings, and settings", "run.sh",
     "#!/bin/sh\n"
     "ROOT=/x\n"
     "build() {\n"
     "    make\n"
     "}\n"
     "function clean {\n"
     "    rm -f x\n"
     "}\n"
     "build \"$@\"\n",
     "2-2 V0 ROOT; 3-5 F0 build; 6-8 F0 clean; "},
    {"SQL: what is created, in any case", "a.sql",
     "-- create table ghost\n"
     "create table if not exists app.users (\n"
     "    id int\n"
     ");\n"
     "CREATE UNIQUE INDEX by_id ON users (id);\n",
     "2-4 T0 app.users; 5-5 T0 by_id; "},
    {"Markdown: headings by their level, none in fences", "a.md",
     "# Top\n"
     "text\n"
     "## Part\n"
     "```sh\n"
     "# comment\n"
     "```\n"
     "### Deep\n"
     "## Next\n"
     "end\n",
     "1-9 T0 Top; 3-7 T1 Part; 7-7 T2 Deep; 8-9 T1 Next; "},
    {"TOML: sections, those with dots deeper", "a.toml",
     "name = 1\n"
     "[tool]\n"
     "a = [1, 2]\n"
     "[tool.x]\n"
     "b = 2\n"
     "[[bin]]\n",
     "2-5 T0 tool; 4-5 T1 tool.x; 6-6 T0 bin; "},
    {"YAML: keys that hold others, and named items", "a.yml",
     "on: push\n"
     "jobs:\n"
     "  build:\n"
     "    runs-on: x\n"
     "    steps:\n"
     "      - name: test\n"
     "        run: make\n",
     "1-1 V0 on; 2-7 T0 jobs; 3-7 T1 build; 5-7 T2 steps; 6-7 V3 name; "},
    {"JSON: keys that hold others", "a.json",
     "{\n"
     "  \"name\": \"x\",\n"
     "  \"scripts\": {\n"
     "    \"test\": \"y\"\n"
     "  }\n"
     "}\n",
     "2-2 V0 name; 3-5 T0 scripts; 4-4 V1 test; "},
    {"HTML: shape and ids", "a.html",
     "<body>\n"
     "  <!-- <main> -->\n"
     "  <main>\n"
     "      <div class=\"x\">\n"
     "      <div id=\"list\">\n"
     "</body>\n",
     "1-5 T0 body; 3-5 T1 main; 5-5 T2 list; "},
    {"CSS: selectors and media", "a.css",
     ".a > b,\n"
     ".c {\n"
     "  color: red;\n"
     "}\n"
     "@media print {\n"
     "  .d { color: red; }\n"
     "}\n",
     "2-4 F0 .c; 5-7 T0 @media print; 6-6 F1 .d; "},
    {"make: targets and settings", "Makefile",
     "CC := gcc\n"
     "all: a.o ## build\n"
     "\t$(CC) -o x\n"
     "%.o: %.c\n",
     "1-1 V0 CC; 2-3 F0 all; 4-4 F0 %.o; "},
    {"Clojure: what is defined", "a.clj",
     "(ns app.core)\n"
     "(defn- load! [id]\n"
     "  (get id))\n",
     "1-1 F0 app.core; 2-3 F0 load!; "},
    {"Haskell: signatures", "A.hs", "data T = A | B\nload :: Int -> T\nload 1 = A\n",
     "1-1 T0 T; 2-2 F0 load; "},
    {"numbers with an arrow are passed over", "a.py",
     "     1→def a():\n     2→    pass\n    10→class B:\n", "1-2 F0 a; 3-3 T0 B; "},
    {"numbers with a tab are passed over", "a.go", "9\tfunc a() {\n10\t\tb()\n11\t}\n",
     "1-3 F0 a; "},
    {"numbers with a colon are passed over", "a.ts",
     "<content>\n1: function a() {\n2:   b();\n3: }\n", "2-4 F0 a; "},
    {"numbers with a bar are passed over", "a.rs", "  1 | fn a() {\n  2 | }\n", "1-2 F0 a; "},
    {"a language is told by its text", "", "def a():\n    pass\ndef b():\n    pass\n",
     "1-2 F0 a; 3-4 F0 b; "},
    {"a language is told by the first line", "run", "#!/usr/bin/env bash\na() {\n}\n",
     "2-3 F0 a; "},
    {"what most languages share is found where none is known", "x.unknown",
     "class A {\n  fn b() {\n  }\n}\n", "1-4 T0 A; 2-3 F1 b; "},
    {"the end of the line may have a CR", "a.py", "def a():\r\n    pass\r\n", "1-2 F0 a; "},
    {"an empty text has no outline", "a.c", "", ""},
};

static void write_outline(struct wr_buf *out, const struct wr_outline *outline)
{
    for (uint32_t i = 0; i < outline->count; i++) {
        const struct wr_outline_item *item = &outline->items[i];
        wr_buf_printf(out, "%u-%u %c%u %.*s; ", item->line + 1, item->end, "TFV"[item->kind],
                      item -> depth, (int)item -> name.len, item->name.ptr);
    }
}

static void outlines_are_as_expected(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_outline outline;
        struct wr_buf got;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&got, 1 << 16);
        assert_int_equal(
            wr_outline_read(&outline, &arena, wr_span_of(cases[i].text), wr_span_of(cases[i].path)),
            WEIR_OK);
        write_outline(&got, &outline);
        assert_int_equal(wr_buf_status(&got), WEIR_OK);
        if (!wr_span_is(wr_buf_view(&got), cases[i].expected)) {
            print_error("%s (%s)\n  got      %.*s\n  expected %s\n", cases[i].behaviour,
                        outline.language->name, (int)got.len, got.bytes ? got.bytes : "",
                        cases[i].expected);
            wrong++;
        }
        wr_buf_release(&got);
        wr_arena_release(&arena);
    }
    assert_int_equal(wrong, 0);
}

static void what_is_too_deep_is_not_listed(void **state)
{
    struct wr_arena arena;
    struct wr_outline outline;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    for (unsigned depth = 0; depth < WR_OUTLINE_DEPTH_MAX * 2; depth++)
        wr_buf_printf(&text, "%*sdef f%u():\n", (int)depth, "", depth);
    assert_int_equal(wr_outline_read(&outline, &arena, wr_buf_view(&text), WR_LIT("a.py")),
                     WEIR_OK);
    assert_int_equal(outline.count, WR_OUTLINE_DEPTH_MAX);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlines_are_as_expected),
        cmocka_unit_test(what_is_too_deep_is_not_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
