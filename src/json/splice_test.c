#include "json/splice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

enum { OPS_MAX = 6, BYTES_MAX = 1 << 16 };

/* One call: `container` and `node` are indexes of nodes, END is behind the last child. */
enum verb { SET = 1, SET_VALUE, REMOVE, INSERT };
#define END WR_JSON_NONE

struct op {
    enum verb verb;
    wr_json_id container, node;
    const char *text;
};

#define SET_TEXT(node, text)   \
    {                          \
        SET, 0, (node), (text) \
    }
#define SET_JSON(node, json)         \
    {                                \
        SET_VALUE, 0, (node), (json) \
    }
#define REMOVE_CHILD(container, node)     \
    {                                     \
        REMOVE, (container), (node), NULL \
    }
#define INSERT_BEFORE(container, node, json) \
    {                                        \
        INSERT, (container), (node), (json)  \
    }

static const struct {
    const char *behaviour, *input;
    struct op ops[OPS_MAX];
    const char *output; /* NULL: refused */
} cases[] = {
    {"no edits give the same bytes",
     " {\"a\" : [1.50, \"\\u00e9\\/\" ] , \"a\":0} ",
     {{0}},
     " {\"a\" : [1.50, \"\\u00e9\\/\" ] , \"a\":0} "},
    {"a string says something else", "[\"a\", \"b\" ]", {SET_TEXT(1, "new")}, "[\"new\", \"b\" ]"},
    {"what must be is escaped",
     "[\"a\"]",
     {SET_TEXT(1, "\"\\\n\x01\xC3\xA9")},
     "[\"\\\"\\\\\\n\\u0001\xC3\xA9\"]"},
    {"a lone surrogate becomes its escape",
     "[\"a\"]",
     {SET_TEXT(1, "\xED\xA0\xBD")},
     "[\"\\ud83d\"]"},
    {"a string may become empty", "[\"abc\"]", {SET_TEXT(1, "")}, "[\"\"]"},
    {"an empty string may be filled",
     "[\"\",\"\"]",
     {SET_TEXT(1, "a"), SET_TEXT(2, "b")},
     "[\"a\",\"b\"]"},
    {"a value of any kind becomes another",
     "{\"a\": 1.50, \"b\":[2,3] ,\"c\":\"d\"}",
     {SET_JSON(2, "{}"), SET_JSON(4, "7"), SET_JSON(8, "null")},
     "{\"a\": {}, \"b\":7 ,\"c\":null}"},
    {"but not together with what is in it", "[[1]]", {SET_JSON(1, "2"), SET_JSON(2, "3")}, NULL},
    {"nor twice", "[1]", {SET_JSON(1, "2"), SET_JSON(1, "3")}, NULL},
    {"the root may be a string", " \"a\" ", {SET_TEXT(0, "b")}, " \"b\" "},
    {"a key may be renamed", "{\"a\":1}", {SET_TEXT(1, "b")}, "{\"b\":1}"},
    {"edits may come in any order",
     "[\"a\",\"b\",\"c\"]",
     {SET_TEXT(3, "3"), SET_TEXT(1, "1"), SET_TEXT(2, "2")},
     "[\"1\",\"2\",\"3\"]"},
    {"a string edited twice is refused", "[\"a\"]", {SET_TEXT(1, "b"), SET_TEXT(1, "c")}, NULL},
    {"an empty string edited twice is refused",
     "[\"\"]",
     {SET_TEXT(1, "b"), SET_TEXT(1, "c")},
     NULL},
    {"a text that is not UTF-8 is refused", "[\"a\"]", {SET_TEXT(1, "\xFF")}, NULL},

    {"the only element leaves no comma", "[ 1 ]", {REMOVE_CHILD(0, 1)}, "[  ]"},
    {"the first takes the comma behind it", "[ 1 , 2 ]", {REMOVE_CHILD(0, 1)}, "[ 2 ]"},
    {"the last takes the comma before it", "[ 1 , 2 ]", {REMOVE_CHILD(0, 2)}, "[ 1 ]"},
    {"one in the middle takes one comma", "[1, 2 ,\t3]", {REMOVE_CHILD(0, 2)}, "[1, 3]"},
    {"neighbours leave together", "[1,2,3,4]", {REMOVE_CHILD(0, 2), REMOVE_CHILD(0, 3)}, "[1,4]"},
    {"all leave", "[1,2,3]", {REMOVE_CHILD(0, 3), REMOVE_CHILD(0, 1), REMOVE_CHILD(0, 2)}, "[]"},
    {"both ends leave", "[1,2,3]", {REMOVE_CHILD(0, 1), REMOVE_CHILD(0, 3)}, "[2]"},
    {"removed twice is removed", "[1,2]", {REMOVE_CHILD(0, 1), REMOVE_CHILD(0, 1)}, "[2]"},
    {"a container leaves with all inside it",
     "[1,[2,{\"a\":[3]}],4]",
     {REMOVE_CHILD(0, 2)},
     "[1,4]"},

    {"the only member", "{ \"a\" : 1 }", {REMOVE_CHILD(0, 1)}, "{  }"},
    {"the first member", "{ \"a\" : 1 , \"b\" : 2 }", {REMOVE_CHILD(0, 1)}, "{ \"b\" : 2 }"},
    {"the last member", "{ \"a\" : 1 , \"b\" : [2] }", {REMOVE_CHILD(0, 3)}, "{ \"a\" : 1 }"},
    {"one of two equal keys", "{\"a\":1,\"a\":2}", {REMOVE_CHILD(0, 1)}, "{\"a\":2}"},

    {"into an empty array", "[ ]", {INSERT_BEFORE(0, END, "1")}, "[1 ]"},
    {"two into an empty array keep their order",
     "[]",
     {INSERT_BEFORE(0, END, "1"), INSERT_BEFORE(0, END, "2")},
     "[1,2]"},
    {"before the first", "[ 1]", {INSERT_BEFORE(0, 1, "0")}, "[ 0,1]"},
    {"before the second", "[1, 3]", {INSERT_BEFORE(0, 2, "2")}, "[1, 2,3]"},
    {"at the end", "[1 ]", {INSERT_BEFORE(0, END, "2")}, "[1,2 ]"},
    {"several at one place keep the order of the calls",
     "[9]",
     {INSERT_BEFORE(0, 1, "1"), INSERT_BEFORE(0, END, "a"), INSERT_BEFORE(0, 1, "2"),
      INSERT_BEFORE(0, END, "b"), INSERT_BEFORE(0, 1, "3")},
     "[1,2,3,9,a,b]"},
    {"a member into an empty object", "{}", {INSERT_BEFORE(0, END, "\"a\":1")}, "{\"a\":1}"},
    {"a member at the end", "{\"a\":1}", {INSERT_BEFORE(0, END, "\"b\":2")}, "{\"a\":1,\"b\":2}"},
    {"a member before another", "{\"b\":2}", {INSERT_BEFORE(0, 1, "\"a\":1")}, "{\"a\":1,\"b\":2}"},

    {"one leaves and another comes in its place",
     "[1,2,3]",
     {REMOVE_CHILD(0, 2), INSERT_BEFORE(0, 2, "x")},
     "[1,x,3]"},
    {"the only one is replaced", "[ 1 ]", {INSERT_BEFORE(0, 1, "x"), REMOVE_CHILD(0, 1)}, "[ x ]"},
    {"the last is replaced", "[1,2]", {REMOVE_CHILD(0, 2), INSERT_BEFORE(0, END, "x")}, "[1,x]"},
    {"all are replaced",
     "[1,2]",
     {REMOVE_CHILD(0, 1), REMOVE_CHILD(0, 2), INSERT_BEFORE(0, 2, "x"), INSERT_BEFORE(0, END, "y")},
     "[x,y]"},

    {"a kept element may be edited beside one that leaves",
     "[\"a\",\"b\",\"c\"]",
     {REMOVE_CHILD(0, 1), SET_TEXT(2, "B"), REMOVE_CHILD(0, 3)},
     "[\"B\"]"},
    {"an inserted one may stand at an edited one",
     "[\"a\"]",
     {SET_TEXT(1, "A"), INSERT_BEFORE(0, 1, "0"), INSERT_BEFORE(0, END, "2")},
     "[0,\"A\",2]"},
    {"edits in containers inside one another",
     "{\"m\":[{\"c\":[\"x\",\"y\"]},{\"c\":\"z\"}],\"n\":1}",
     {SET_TEXT(6, "X"), REMOVE_CHILD(5, 7), INSERT_BEFORE(3, END, "\"k\":0"),
      INSERT_BEFORE(2, 8, "{}"), SET_TEXT(10, "Z"), REMOVE_CHILD(0, 11)},
     "{\"m\":[{\"c\":[\"X\"],\"k\":0},{},{\"c\":\"Z\"}]}"},
    {"neighbouring containers",
     "[[],[],[1]]",
     {INSERT_BEFORE(1, END, "a"), INSERT_BEFORE(2, END, "b"), REMOVE_CHILD(3, 4),
      INSERT_BEFORE(0, 2, "x")},
     "[[a],x,[b],[]]"},

    {"an edit of what leaves is refused",
     "[\"a\",1]",
     {REMOVE_CHILD(0, 1), SET_TEXT(1, "b")},
     NULL},
    {"an edit inside what leaves is refused",
     "[1,[\"a\"]]",
     {REMOVE_CHILD(0, 2), SET_TEXT(3, "b")},
     NULL},
    {"an edit of an empty string inside what leaves is refused",
     "[[\"\"]]",
     {SET_TEXT(2, "b"), REMOVE_CHILD(0, 1)},
     NULL},
    {"a removal inside what leaves is refused",
     "[[1,2]]",
     {REMOVE_CHILD(0, 1), REMOVE_CHILD(1, 2)},
     NULL},
    {"an insertion inside what leaves is refused",
     "[1,[]]",
     {REMOVE_CHILD(0, 2), INSERT_BEFORE(2, END, "3")},
     NULL},
    {"a key of a member that leaves is not edited",
     "{\"a\":1}",
     {REMOVE_CHILD(0, 1), SET_TEXT(1, "b")},
     NULL},
    {"a value of a member that leaves is not edited",
     "{\"a\":\"b\"}",
     {REMOVE_CHILD(0, 1), SET_TEXT(2, "c")},
     NULL},
    {"a child of another container is refused", "[[1],[2]]", {REMOVE_CHILD(1, 4)}, NULL},
    {"a grandchild is no child", "[[1],[2]]", {REMOVE_CHILD(0, 2)}, NULL},
    {"a member is named by its key, not its value", "{\"a\":1}", {REMOVE_CHILD(0, 2)}, NULL},
    {"a place of another container is refused", "[[1],[2]]", {INSERT_BEFORE(1, 4, "3")}, NULL},
};

/* What the tests share: a document, a splice over it, the output, and all in one arena. */
struct bench {
    struct wr_arena arena;
    struct wr_buf out;
    struct wr_json doc, result;
    struct wr_splice splice;
    struct weir_err err;
};

static void bench_open(struct bench *b)
{
    wr_arena_init(&b->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b->out, BYTES_MAX);
}

static void bench_read(struct bench *b, weir_span input)
{
    wr_arena_reset(&b->arena);
    wr_buf_reset(&b->out);
    b->err = (struct weir_err){0};
    if (wr_json_parse(&b->doc, &b->arena, input, NULL, &b->err))
        fail_msg("%.*s: %s", (int)input.len, input.ptr, b->err.text);
    wr_splice_init(&b->splice, &b->doc, &b->arena);
}

static void bench_close(struct bench *b)
{
    wr_buf_release(&b->out);
    wr_arena_release(&b->arena);
}

static void add_op(struct wr_splice *splice, const struct op *op)
{
    if (op->verb == SET_VALUE)
        wr_splice_set_json(splice, op->node, wr_span_of(op->text));
    else if (op->verb == SET)
        wr_splice_set_text(splice, op->node, wr_span_of(op->text));
    else if (op->verb == REMOVE)
        wr_splice_remove(splice, op->container, op->node);
    else
        wr_splice_insert(splice, op->container, op->node, wr_span_of(op->text));
}

static void edits_give_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct bench b;
        bench_open(&b);
        bench_read(&b, wr_span_of(cases[i].input));
        for (size_t k = 0; k < OPS_MAX && cases[i].ops[k].verb; k++)
            add_op(&b.splice, &cases[i].ops[k]);
        weir_status status = wr_splice_apply(&b.splice, &b.out, &b.err);
        weir_span got = wr_buf_view(&b.out);
        if (status != (cases[i].output ? WEIR_OK : WEIR_INVALID) || b.err.code != status)
            fail_msg("%s: %s", cases[i].behaviour, weir_status_text(status));
        if (cases[i].output && !wr_span_is(got, cases[i].output))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)got.len, got.ptr);
        bench_close(&b);
    }
}

/* Every way to keep or remove each of up to five children, with or without an insertion at each
 * place, over several ways to lay the text out. */
enum { CHILDREN_MAX = 5 };

struct layout {
    const char *open, *between, *close;
};

static const struct layout layouts[] = {
    {"", ",", ""}, {" ", " , ", " "}, {"\n\t", ",\n\t", "\n"}, {"", " ,", "\r\n"}, {"  ", ", ", ""},
};

/* In an object every child is `"k":value`, else the value alone. */
static void append_child(struct wr_buf *buf, bool in_object, const char *value)
{
    if (in_object)
        wr_buf_printf(buf, "\"k\" :%s", value);
    else
        wr_buf_text(buf, value);
}

static const char *const values[CHILDREN_MAX] = {"\"a,b]}\"", "[ 1 , 2 ]", "{\"x\":{}}", "-1.50",
                                                 "\"\""};

static void lay_out(struct wr_buf *buf, const struct layout *layout, bool in_object, unsigned count)
{
    wr_buf_reset(buf);
    wr_buf_text(buf, in_object ? "{" : "[");
    wr_buf_text(buf, layout->open);
    for (unsigned i = 0; i < count; i++) {
        if (i)
            wr_buf_text(buf, layout->between);
        append_child(buf, in_object, values[i]);
    }
    wr_buf_text(buf, layout->close);
    wr_buf_text(buf, in_object ? "}" : "]");
}

static void collect(struct bench *b, bool in_object, unsigned removed, unsigned inserted)
{
    weir_span json = in_object ? WR_LIT("\"k\" :true") : WR_LIT("true");
    unsigned i = 0;
    for (wr_json_id id = wr_json_first(&b->doc, 0); id != WR_JSON_NONE;
         id = wr_json_next(&b->doc, 0, id), i++) {
        if (removed >> i & 1)
            wr_splice_remove(&b->splice, 0, id);
        if (inserted >> i & 1)
            wr_splice_insert(&b->splice, 0, id, json);
    }
    if (inserted >> i & 1)
        wr_splice_insert(&b->splice, 0, WR_JSON_NONE, json);
}

static bool next_value_is(const struct bench *b, wr_json_id *id, const char *value)
{
    if (*id == WR_JSON_NONE)
        return false;
    bool in_object = b->result.nodes[*id].is_key;
    wr_json_id at = in_object ? wr_json_value(*id) : *id;
    bool is = wr_span_is(wr_json_raw(&b->result, at), value);
    *id = wr_json_next(&b->result, 0, *id);
    return is;
}

static bool has_expected(const struct bench *b, unsigned count, unsigned removed, unsigned inserted)
{
    wr_json_id id = wr_json_first(&b->result, 0);
    bool ok = true;
    for (unsigned i = 0; i < count; i++) {
        if (inserted >> i & 1)
            ok &= next_value_is(b, &id, "true");
        if (!(removed >> i & 1))
            ok &= next_value_is(b, &id, values[i]);
    }
    if (inserted >> count & 1)
        ok &= next_value_is(b, &id, "true");
    return ok && id == WR_JSON_NONE;
}

static void try_combination(struct bench *b, weir_span input, bool in_object, unsigned count,
                            unsigned removed, unsigned inserted)
{
    bench_read(b, input);
    collect(b, in_object, removed, inserted);
    if (wr_splice_apply(&b->splice, &b->out, &b->err))
        fail_msg("%.*s, removed %x, inserted %x: %s", (int)input.len, input.ptr, removed, inserted,
                 b->err.text);
    weir_span got = wr_buf_view(&b->out);
    if (wr_json_parse(&b->result, &b->arena, got, NULL, &b->err) ||
        !has_expected(b, count, removed, inserted))
        fail_msg("%.*s, removed %x, inserted %x: %.*s", (int)input.len, input.ptr, removed,
                 inserted, (int)got.len, got.ptr);
    if (!removed && !inserted)
        assert_true(wr_span_eq(got, input));
}

static void every_combination_of_children(void **state)
{
    struct bench b;
    struct wr_buf input;
    (void)state;

    bench_open(&b);
    wr_buf_init(&input, BYTES_MAX);
    for (int in_object = 0; in_object < 2; in_object++)
        for (size_t l = 0; l < WR_COUNT_OF(layouts); l++)
            for (unsigned count = 0; count <= CHILDREN_MAX; count++) {
                lay_out(&input, &layouts[l], in_object, count);
                for (unsigned removed = 0; removed < 1u << count; removed++)
                    for (unsigned inserted = 0; inserted < 2u << count; inserted++)
                        try_combination(&b, wr_buf_view(&input), in_object, count, removed,
                                        inserted);
            }
    wr_buf_release(&input);
    bench_close(&b);
}

static void many_edits_stay_in_order(void **state)
{
    enum { STRINGS_COUNT = 3000 };
    struct bench b;
    struct wr_buf input;
    (void)state;

    bench_open(&b);
    wr_buf_init(&input, BYTES_MAX);
    wr_buf_byte(&input, '[');
    for (int i = 0; i < STRINGS_COUNT; i++)
        wr_buf_text(&input, "\"old\",");
    wr_buf_text(&input, "0]");
    bench_read(&b, wr_buf_view(&input));
    for (uint32_t i = STRINGS_COUNT; i > 0; i--)
        wr_splice_set_text(&b.splice, i, i % 2 ? WR_LIT("odd") : WR_LIT("even"));
    assert_int_equal(wr_splice_apply(&b.splice, &b.out, NULL), WEIR_OK);
    assert_int_equal(wr_json_parse(&b.result, &b.arena, wr_buf_view(&b.out), NULL, NULL), WEIR_OK);
    for (uint32_t i = 1; i <= STRINGS_COUNT; i++)
        assert_true(wr_json_text_is(&b.result, i, i % 2 ? "odd" : "even"));
    wr_buf_release(&input);
    bench_close(&b);
}

static void the_result_is_appended_and_may_fill_the_cap(void **state)
{
    struct bench b;
    struct wr_buf out;
    (void)state;

    bench_open(&b);
    for (size_t cap = 0; cap <= 6; cap++) {
        bench_read(&b, WR_LIT("[1,\"abc\",2]"));
        wr_splice_remove(&b.splice, 0, 1);
        wr_splice_set_text(&b.splice, 2, WR_LIT(""));
        wr_splice_remove(&b.splice, 0, 3);
        wr_buf_init(&out, cap);
        wr_buf_append(&out, wr_span_cut(WR_LIT(">>"), 0, cap < 2 ? cap : 2));
        weir_status status = wr_splice_apply(&b.splice, &out, &b.err);
        assert_int_equal(status, cap < 6 ? WEIR_LIMIT : WEIR_OK);
        assert_int_equal(b.err.code, status);
        if (!status)
            assert_true(wr_span_is(wr_buf_view(&out), ">>[\"\"]"));
        wr_buf_release(&out);
    }
    bench_close(&b);
}

/* The splice says so itself where it ran out of memory while collecting, or while placing commas.
 */
static void no_memory_is_a_status(void **state)
{
    struct wr_arena small;
    struct bench b;
    weir_status status = WEIR_LIMIT;
    (void)state;

    bench_open(&b);
    for (size_t max = 0; status; max += 64) {
        bench_read(&b, WR_LIT("[\"a\",[1],2]"));
        wr_arena_init(&small, max);
        wr_splice_init(&b.splice, &b.doc, &small);
        wr_splice_remove(&b.splice, 0, 4);
        wr_splice_insert(&b.splice, 2, WR_JSON_NONE, WR_LIT("3"));
        wr_splice_set_text(&b.splice, 1, WR_LIT("b"));
        status = wr_splice_apply(&b.splice, &b.out, &b.err);
        assert_true(status == WEIR_OK || status == WEIR_LIMIT);
        assert_int_equal(b.err.code, status);
        assert_true(max < 100000);
        wr_arena_release(&small);
    }
    assert_true(wr_span_is(wr_buf_view(&b.out), "[\"b\",[1,3]]"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_give_what_the_table_says),
        cmocka_unit_test(every_combination_of_children),
        cmocka_unit_test(many_edits_stay_in_order),
        cmocka_unit_test(the_result_is_appended_and_may_fill_the_cap),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
