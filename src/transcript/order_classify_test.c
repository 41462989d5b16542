#include "transcript/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/listing.h"

/* Chat messages: a call of `name` and its result. */
#define CALL(id, name, arguments)                                                                  \
    "{'role':'assistant','tool_calls':[{'id':'" id "','type':'function','function':{'name':'" name \
    "','arguments':'" arguments "'}}]}"
#define RESULT(id, text)            "{'role':'tool','tool_call_id':'" id "','content':'" text "'}"
#define DONE(name, arguments, text) CALL("c1", name, arguments) "," RESULT("c1", text)
#define ASK                         "{'role':'user','content':'go'}"
#define NEXT                        ",{'role':'assistant','content':'done'}," ASK
#define BODY(messages)              "{'messages':[" ASK "," messages "]}"

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static const struct {
    const char *behaviour, *body;
    uint32_t segment;
    const char *class_, *why;
} rows[] = {
    {"the user's words",
     BODY(""
          "{'role':'user','content':'b'}"),
     1, "critical exact", "the user's words"},
    {"instructions", BODY("{'role':'system','content':'b'}"), 1, "critical exact", "instructions"},
    {"the model's words", BODY("{'role':'assistant','content':'b'}"), 1, "continuation exact",
     "the model's own words"},
    {"reasoning", BODY("{'role':'assistant','content':'b','reasoning_content':'r'}"), 1,
     "continuation exact", "reasoning goes back as it came"},
    {"an image", BODY("{'role':'user','content':[{'type':'image_url'}]}"), 1, "critical exact",
     "an attachment"},
    {"an unknown part", BODY("{'role':'user','content':[{'type':'x'}]}"), 1, "protocol exact",
     "a kind that is not known here"},
    {"tools", "{'tools':[{}],'messages':[" ASK "]}", 0, "protocol exact", "tool schemas"},
    {"a call", BODY(DONE("frob", "{}", "ok")), 1, "protocol exact", "a call and its arguments"},
    {"a result", BODY(DONE("frob", "{}", "ok")), 2, "condensable", "tool output"},
    {"a result without text", BODY(CALL("c1", "frob", "{}") ",{'role':'tool','tool_call_id':'c1'}"),
     2, "protocol exact", "a result without text that may be edited"},
    {"a result with an image",
     BODY(CALL("c1", "frob", "{}") ",{'role':'tool','tool_call_id':'c1','content':"
                                   "[{'type':'text','text':'a'},{'type':'image_url'}]}"),
     2, "critical exact", "a result with an image, a file or a reference"},
    {"a file that can be read again",
     BODY(DONE("Read", "{\\u0022file_path\\u0022:\\u0022/a\\u0022}", "1\\tx")), 2,
     "rehydratable exact", "a file that can be read again"},
    {"a file that changed since",
     BODY(DONE("Read", "{\\u0022file_path\\u0022:\\u0022/a\\u0022}", "1\\tx") "," CALL(
         "c2", "Write",
         "{\\u0022file_path\\u0022:\\u0022/"
         "a\\u0022,\\u0022content\\u0022:\\u0022y\\u0022}") "," RESULT("c2", "writte"
                                                                             "n")),
     2, "condensable", "a read of a file that changed since"},
    {"a plan", BODY(DONE("TodoWrite", "{\\u0022todos\\u0022:[]}", "noted")), 2, "critical exact",
     "a plan or instructions"},
    {"instructions that were read",
     BODY(DONE("Read", "{\\u0022file_path\\u0022:\\u0022/a/AGENTS.md\\u0022}", "1\\tx")), 2,
     "critical exact", "instructions that were read"},
    {"instructions that were read twice",
     BODY(DONE("Read", "{\\u0022file_path\\u0022:\\u0022/AGENTS.md\\u0022}", LONG) "," CALL(
         "c2", "Read", "{\\u0022file_path\\u0022:\\u0022/AGENTS.md\\u0022}") "," RESULT("c2",
                                                                                        LONG)),
     4, "critical exact", "instructions that were read"},
    {"instructions that changed since",
     BODY(DONE("Read", "{\\u0022file_path\\u0022:\\u0022/AGENTS.md\\u0022}",
               "1\\tx") "," CALL("c2", "Write",
                                 "{\\u0022file_path\\u0022:\\u0022/"
                                 "AGENTS.md\\u0022,\\u0022content\\u0022:"
                                 "\\u0022y\\u0022}") "," RESULT("c2", "written")),
     2, "condensable", "a read of a file that changed since"},
    {"a skill", BODY(DONE("Skill", "{\\u0022skill\\u0022:\\u0022pdf\\u0022}", "x")), 2,
     "critical exact", "instructions that were read"},
    {"recalled text", BODY(DONE("weir_recall", "{\\u0022handle\\u0022:\\u0022h\\u0022}", "x")), 2,
     "rehydratable exact", "recalled text comes back whole"},
    {"an error of the current turn",
     BODY(DONE("Bash", "{\\u0022command\\u0022:\\u0022make\\u0022}", "Exit code 2\\nx")), 2,
     "critical exact", "an error of the current turn"},
    {"an error of an earlier turn",
     BODY(DONE("Bash", "{\\u0022command\\u0022:\\u0022make\\u0022}", "Exit code 2\\nx") NEXT), 2,
     "condensable", "tool output"},
    {"colours", BODY(DONE("frob", "{}", "a\\u001b[0m")), 2, "lossless transformable",
     "control bytes, trailing space or blank lines"},
    {"colours, spelled otherwise", BODY(DONE("frob", "{}", "a\\u001B[0m")), 2,
     "lossless transformable", "control bytes, trailing space or blank lines"},
    {"a carriage return", BODY(DONE("frob", "{}", "a\\rb")), 2, "lossless transformable",
     "control bytes, trailing space or blank lines"},
    {"a backspace", BODY(DONE("frob", "{}", "a\\bb")), 2, "lossless transformable",
     "control bytes, trailing space or blank lines"},
    {"space at the end of a line", BODY(DONE("frob", "{}", "a \\nb")), 2, "lossless transformable",
     "control bytes, trailing space or blank lines"},
    {"two blank lines", BODY(DONE("frob", "{}", "a\\n\\n\\nb")), 2, "lossless transformable",
     "control bytes, trailing space or blank lines"},
    {"one blank line", BODY(DONE("frob", "{}", "a\\n\\nb\\n")), 2, "condensable", "tool output"},
    {"line ends that do not follow each other", BODY(DONE("frob", "{}", "\\na\\nb\\n\\nc\\n")), 2,
     "condensable", "tool output"},
    {"a backslash before a letter is no control byte",
     BODY(DONE("frob", "{}", "C:\\\\repo\\\\bin \\\\n \\\\u001b")), 2, "condensable",
     "tool output"},
    {"a backslash before a control byte hides nothing", BODY(DONE("frob", "{}", "C:\\\\\\r")), 2,
     "lossless transformable", "control bytes, trailing space or blank lines"},
    {"a text that ends with a backslash", BODY(DONE("frob", "{}", "a\\\\")), 2, "condensable",
     "tool output"},
};

static void every_segment_has_a_class_and_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, "chat", NULL);
        assert_int_equal(r.status, WEIR_OK);
        const struct wr_segment *s = &r.transcript.segments[rows[i].segment];
        if (strcmp(weir_class_name(s->class_), rows[i].class_) || strcmp(s->why, rows[i].why))
            fail_msg("%s: got %s, %s", rows[i].behaviour, weir_class_name(s->class_), s->why);
        assert_int_equal(s->why_other, WR_SEGMENT_NONE);
        wr_listing_release(&r);
    }
}

/* A duplicate names the first result with its text, however many there are. */
static void a_repeated_text_names_the_first(void **state)
{
    struct wr_listing_request r;
    (void)state;

    wr_listing_read(
        &r,
        BODY(DONE("frob", "{}", LONG) "," CALL("c2", "frob", "{}") "," RESULT("c2", LONG) "," CALL(
            "c3", "frob", "{}") "," RESULT("c3", LONG) "," CALL("c4", "frob",
                                                                "{}") "," RESULT("c4", LONG "x")),
        "chat", NULL);
    static const struct {
        uint32_t segment;
        weir_class class_;
        uint32_t other;
    } expected[] = {
        {2, WEIR_CLASS_CONDENSABLE, WR_SEGMENT_NONE},
        {4, WEIR_CLASS_DROPPABLE_DUPLICATE, 2},
        {6, WEIR_CLASS_DROPPABLE_DUPLICATE, 2},
        {8, WEIR_CLASS_CONDENSABLE, WR_SEGMENT_NONE},
    };
    for (size_t i = 0; i < WR_COUNT_OF(expected); i++) {
        const struct wr_segment *s = &r.transcript.segments[expected[i].segment];
        assert_int_equal(s->class_, expected[i].class_);
        assert_int_equal(s->why_other, expected[i].other);
    }
    wr_listing_release(&r);
}

static void what_is_no_duplicate(void **state)
{
    static const struct {
        const char *behaviour, *body;
        uint32_t segment;
    } others[] = {
        {"a short text",
         BODY(DONE("frob", "{}", "short") "," CALL("c2", "frob", "{}") "," RESULT("c2", "short")),
         4},
        {"the same text in other parts",
         BODY(DONE("frob", "{}", LONG LONG) "," CALL(
             "c2", "frob", "{}") ",{'role':'tool','tool_call_id':'c2',"
                                 "'content':[{'type':'text','text':'" LONG
                                 "'},{'type':'text','text':'" LONG "'}]}"),
         4},
        {"a text the user said before",
         BODY("{'role':'user','content':'" LONG "'}," DONE("frob", "{}", LONG)), 3},
        {"a text beside an image",
         BODY(DONE("frob", "{}", LONG) "," CALL(
             "c2", "frob", "{}") ",{'role':'tool','tool_call_id':'c2','content':"
                                 "[{'type':'text','text':'" LONG "'},{'type':'image_url'}]}"),
         4},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(others); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, others[i].body, "chat", NULL);
        assert_int_equal(r.status, WEIR_OK);
        if (r.transcript.segments[others[i].segment].class_ == WEIR_CLASS_DROPPABLE_DUPLICATE)
            fail_msg("%s", others[i].behaviour);
        wr_listing_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_segment_has_a_class_and_a_reason),
        cmocka_unit_test(a_repeated_text_names_the_first),
        cmocka_unit_test(what_is_no_duplicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
