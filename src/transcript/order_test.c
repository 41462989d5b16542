#include "transcript/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/listing.h"

/* ---- order ---- */

/* Transcripts are made here of letters, one a segment; what a reader would say of it is in the
 * letter: s system   u user   g user that begins as steering   U user, same message as the segment
 * before a answer   r reasoning   o other, of the model   x other, of nobody 1-9 a call with that
 * id    !-) its result (shifted digit)   n a call by name   m its result S server asks   T server
 * answers (of the model) Listings give for each segment a digit or `-`. */
struct row {
    const char *behaviour, *segments, *expected;
};

enum { SEGMENTS_MAX = 32 };

struct made {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    wr_json_id parts[2];
};

static const char *const ids[] = {"", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char shifted[] = " !@#$%^&*(";

static struct wr_segment segment_of(const struct made *made, char letter, wr_json_id message)
{
    struct wr_segment s = {
        .message = message, .payload = 0, .kind = WEIR_KIND_TEXT, .role = WEIR_ROLE_USER};
    const char *result = strchr(shifted + 1, letter);

    if (letter >= '1' && letter <= '9') {
        s.kind = WEIR_KIND_TOOL_CALL;
        s.tool = WR_LIT("frob");
        s.call_id = wr_span_of(ids[letter - '0']);
    } else if (letter && result) {
        s.kind = WEIR_KIND_TOOL_RESULT;
        s.role = WEIR_ROLE_TOOL;
        s.call_id = wr_span_of(ids[result - shifted]);
    } else if (letter == 'n' || letter == 'm') {
        s.kind = letter == 'n' ? WEIR_KIND_TOOL_CALL : WEIR_KIND_TOOL_RESULT;
        s.tool = WR_LIT("named");
    } else if (letter == 's') {
        s.role = WEIR_ROLE_SYSTEM;
        s.kind = WEIR_KIND_SYSTEM;
    } else if (letter == 'r') {
        s.kind = WEIR_KIND_REASONING;
    } else if (letter == 'o' || letter == 'x' || letter == 'S' || letter == 'T') {
        s.kind = WEIR_KIND_OTHER;
        s.role = WEIR_ROLE_NONE;
        s.link = letter == 'S' ? WR_LINK_ASKS : letter == 'T' ? WR_LINK_ANSWERS : WR_LINK_NONE;
        s.call_id = s.link ? WR_LIT("1") : s.call_id;
    } else if (letter != 'a') {
        s.parts = &made->parts[letter == 'g'];
        s.parts_count = 1;
    }
    s.from_model = letter && strchr("aroSTn123456789", letter);
    if (s.from_model)
        s.role = WEIR_ROLE_ASSISTANT;
    return s;
}

static void make(struct made *made, const char *letters, bool pairs_anywhere)
{
    wr_arena_init(&made->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(
        wr_json_parse(&made->doc, &made->arena, WR_LIT("[\"go\",\"[steering] go\"]"), NULL, NULL),
        WEIR_OK);
    made->parts[0] = 1;
    made->parts[1] = 2;
    wr_transcript_init(&made->transcript, &made->arena, &made->doc, WEIR_DIALECT_CHAT);
    made->transcript.pairs_anywhere = pairs_anywhere;
    for (uint32_t i = 0; letters[i]; i++) {
        struct wr_segment s =
            segment_of(made, letters[i], letters[i] == 'U' ? 1000 + i - 1 : 1000 + i);
        assert_int_equal(wr_transcript_add(&made->transcript, &s), WEIR_OK);
    }
    assert_int_equal(wr_transcript_finish(&made->transcript), WEIR_OK);
}

typedef uint32_t value_fn(const struct wr_segment *s);

static uint32_t pair_of(const struct wr_segment *s)
{
    return s->pair;
}

static uint32_t turn_of(const struct wr_segment *s)
{
    return s->turn;
}

static uint32_t loop_of(const struct wr_segment *s)
{
    return s->loop;
}

static uint32_t group_of(const struct wr_segment *s)
{
    return s->group;
}

static uint32_t steering_of(const struct wr_segment *s)
{
    return s->is_steering;
}

static void check(const struct row *rows, size_t count, value_fn *value, bool pairs_anywhere)
{
    for (size_t i = 0; i < count; i++) {
        struct made made;
        char got[SEGMENTS_MAX + 1] = {0};
        make(&made, rows[i].segments, pairs_anywhere);
        for (uint32_t k = 0; k < made.transcript.segments_count; k++) {
            uint32_t number = value(&made.transcript.segments[k]);
            got[k] = "0123456789abcdefghijklmnopqrstuv"[number == WR_SEGMENT_NONE ? 0 : number];
            got[k] = number == WR_SEGMENT_NONE ? '-' : got[k];
        }
        wr_arena_release(&made.arena);
        if (strcmp(got, rows[i].expected))
            fail_msg("%s: of %s got %s, should be %s", rows[i].behaviour, rows[i].segments, got,
                     rows[i].expected);
    }
}

static void results_answer_calls(void **state)
{
    static const struct row rows[] = {
        {"a call and its result", "u1!", "-21"},
        {"parallel calls, results out of order", "u123#!@", "-564312"},
        {"a call without a result", "u12@", "--32"},
        {"a result without a call", "u1@", "---"},
        {"a result before its call", "u!1", "---"},
        {"an id that is used again pairs with its latest call", "u1!1!", "-2143"},
        {"a second result keeps the first pair", "u1!!", "-211"},
        {"calls by name", "unmnm", "-2143"},
        {"a name is no id", "u1m", "---"},
        {"what the server asked it answers", "uS1T!", "-3412"},
        {"texts and reasoning have no pair", "surao", "-----"},
        {"nothing at all", "", ""},
    };
    static const struct row anywhere[] = {
        {"a result before its call", "u!1", "-21"},
        {"a result before its call, and one behind it", "u!1!", "--32"},
        {"a result between two calls of one id is the first one's", "u1!1", "-21-"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), pair_of, false);
    check(rows, WR_COUNT_OF(rows), pair_of, false);
    check(anywhere, WR_COUNT_OF(anywhere), pair_of, true);
}

static void turns_begin_with_what_is_new(void **state)
{
    static const struct row rows[] = {
        {"everything before the first output is one turn", "ssuu", "0000"},
        {"an output belongs to the turn it answers", "sur1a", "00000"},
        {"results begin a turn", "u12!@1!a", "00011122"},
        {"so do the user, the system and what is nobody's", "uauasaxa", "00112233"},
        {"an output may come first", "aua", "011"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), turn_of, false);
}

static void loops_end_with_an_answer(void **state)
{
    static const struct row rows[] = {
        {"before the first user message there is none", "sxau", "---0"},
        {"one question, calls, an answer", "su1!2@a", "-000000"},
        {"the next question begins the next loop", "uauau", "00112"},
        {"several messages before an answer are one loop", "uuuau", "00001"},
        {"several blocks of one message too", "uUUauUa", "0000111"},
        {"words and calls are no answer yet", "ua1!au", "000001"},
        {"a word inside a loop does not end it", "u1!u2@au", "00000001"},
        {"an interrupted loop goes on", "u1u1!au", "0000001"},
        {"a loop that was broken off between results and answer goes on", "u1!uau", "000001"},
        {"steering behind an answer belongs to the loop", "uagau", "00001"},
        {"steering is told by the first text of its message", "uagUau", "000001"},
        {"steering may open the first loop", "ga", "00"},
        {"instructions in mid-conversation begin none", "uasau", "00001"},
        {"what the provider ran itself ends nothing", "uSTau", "00001"},
        {"reasoning alone is an output", "uru", "001"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), loop_of, false);
}

static void steering_is_marked(void **state)
{
    static const struct row rows[] = {
        {"a question is none", "uuau", "0000"},
        {"what is said while the model works is", "u1!u1!a", "0001000"},
        {"what says so of itself is, behind an answer too", "uaga", "0010"},
        {"all of its message is", "u1!uUua", "0001110"},
        {"the first message never is", "gU1", "000"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), steering_of, false);
}

static void groups_are_outputs_and_their_results(void **state)
{
    static const struct row rows[] = {
        {"an output with its results", "sur1a2@!", "--222222"},
        {"an answer is its own group", "u1!auau", "-113-5-"},
        {"a user's word between results is in none", "u12!u@", "-111-1"},
        {"a result without a call is in none", "u1@", "-1-"},
        {"a second result is in the group too", "u1!!", "-111"},
        {"an id used again keeps the groups apart", "u1!1!", "-1133"},
        {"what the server answers later joins both outputs", "uS1!Ta", "-11111"},
        {"and an output between them stays apart", "uS1!2@Ta", "-1114411"},
    };
    static const struct row early[] = {
        {"a result before its call opens the group", "u!1a", "-111"},
        {"so does one before an earlier output", "u!au1", "-12-1"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), group_of, false);
    check(early, WR_COUNT_OF(early), group_of, true);
}

static void counts_follow(void **state)
{
    static const struct {
        const char *segments;
        uint32_t turns, loops;
    } rows[] = {{"", 0, 0}, {"s", 1, 0}, {"u", 1, 1}, {"ua", 1, 1}, {"uau", 2, 2}, {"u1!a", 2, 1}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct made made;
        make(&made, rows[i].segments, WEIR_DIALECT_CHAT);
        assert_int_equal(made.transcript.turns_count, rows[i].turns);
        assert_int_equal(made.transcript.loops_count, rows[i].loops);
        wr_arena_release(&made.arena);
    }
}

static void a_repeated_result_says_so(void **state)
{
    struct made made;
    (void)state;
    make(&made, "u1!!", WEIR_DIALECT_CHAT);
    assert_false(made.transcript.segments[2].is_repeated_result);
    assert_true(made.transcript.segments[3].is_repeated_result);
    assert_true(wr_span_is(made.transcript.segments[3].tool, "frob"));
    wr_arena_release(&made.arena);
}

/* ---- handles ---- */

#define Q "\\u0022"
#define READ_CHAT(id, path)                          \
    "{'role':'assistant','tool_calls':[{'id':'" id   \
    "','type':'function','function':{'name':'Read'," \
    "'arguments':'{" Q "file_path" Q ":" Q path Q "}'}}]}"
#define RESULT_CHAT(id, text) "{'role':'tool','tool_call_id':'" id "','content':'" text "'}"

/* The same read in each dialect: arguments in a string, in a string, as an object. */
static const struct {
    const char *dialect, *body;
} reads[] = {
    {"chat", "{'messages':[" READ_CHAT("c", "/a.c") "," RESULT_CHAT("c", "1\\tx") "]}"},
    {"responses",
     "{'input':[{'type':'function_call','call_id':'c','name':'Read','arguments':'{" Q "file_path" Q
     ":" Q "/a.c" Q "}'},{'type':'function_call_output','call_id':'c','output':'1\\tx'}]}"},
    {"messages",
     "{'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'c','name':'Read','input'"
     ":"
     "{'file_path':'/"
     "a.c'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c','content':"
     "[{'type':'text','text':'1\\tx'}]}]}]}"},
};

static void a_call_and_its_result_share_their_handles(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(reads); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, reads[i].body, reads[i].dialect, NULL);
        assert_int_equal(r.status, WEIR_OK);
        const struct wr_segment *s = r.transcript.segments;
        assert_int_equal(r.transcript.segments_count, 2);
        assert_non_null(s[0].handles);
        assert_ptr_equal(s[0].handles, s[1].handles);
        assert_int_equal(s[0].handles->kind, WR_EFFECT_READ);
        if (!wr_span_is(s[0].handles->path, "/a.c"))
            fail_msg("%s: path is %.*s", reads[i].dialect, (int)s[0].handles->path.len,
                     s[0].handles->path.ptr);
        wr_listing_release(&r);
    }
}

static void what_has_no_call_has_no_handles(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[{'role':'user','content':'go'}," RESULT_CHAT("x", "orphan") "," READ_CHAT(
            "c", "/a") "," RESULT_CHAT("c", "one") "," RESULT_CHAT("c", "two") "]}",
        "chat", NULL);
    assert_int_equal(r.status, WEIR_OK);
    assert_null(r.transcript.segments[0].handles);
    assert_null(r.transcript.segments[1].handles);
    assert_non_null(r.transcript.segments[3].handles);
    assert_null(r.transcript.segments[4].handles);
    wr_listing_release(&r);
}

/* The protocol's word and the text's word both count. */
static void a_failure_is_told_to_the_handles(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'c','name':'Bash','"
        "input':"
        "{'command':'make'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c',"
        "'is_error':true,'content':'Exit code 3\\nx'}]}]}",
        "messages", NULL);
    assert_int_equal(r.status, WEIR_OK);
    const struct wr_tool_handles *h = r.transcript.segments[1].handles;
    assert_true(r.transcript.segments[1].is_error && h->is_error);
    assert_true(h->has_exit_code);
    assert_int_equal(h->exit_code, 3);
    wr_listing_release(&r);
}

static void staleness_is_the_results(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[" READ_CHAT("c", "/a") "," RESULT_CHAT("c", "old") "," READ_CHAT(
            "d", "/b") "," RESULT_CHAT("d", "b") ",{'role':'assistant','tool_calls':[{'id':'e','"
                                                 "type':'function','function':"
                                                 "{'name':'Write','arguments':'{" Q "file_path" Q
                                                 ":" Q "/a" Q "," Q "content" Q ":" Q "n" Q
                                                 "}'}}]}," RESULT_CHAT("e", "written") "]}",
        "chat", NULL);
    assert_int_equal(r.status, WEIR_OK);
    static const enum wr_staleness expected[] = {WR_FRESH, WR_STALE, WR_FRESH,
                                                 WR_FRESH, WR_FRESH, WR_FRESH};
    for (uint32_t i = 0; i < WR_COUNT_OF(expected); i++)
        assert_int_equal(r.transcript.segments[i].staleness, expected[i]);
    wr_listing_release(&r);
}

/* ---- classes ---- */

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
        cmocka_unit_test(results_answer_calls),
        cmocka_unit_test(turns_begin_with_what_is_new),
        cmocka_unit_test(loops_end_with_an_answer),
        cmocka_unit_test(steering_is_marked),
        cmocka_unit_test(groups_are_outputs_and_their_results),
        cmocka_unit_test(counts_follow),
        cmocka_unit_test(a_repeated_result_says_so),
        cmocka_unit_test(a_call_and_its_result_share_their_handles),
        cmocka_unit_test(what_has_no_call_has_no_handles),
        cmocka_unit_test(a_failure_is_told_to_the_handles),
        cmocka_unit_test(staleness_is_the_results),
        cmocka_unit_test(every_segment_has_a_class_and_a_reason),
        cmocka_unit_test(a_repeated_text_names_the_first),
        cmocka_unit_test(what_is_no_duplicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
