#include "engine/cache_marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run.h"
#include "lab/money.h"
#include "tests/test_plan.h"
#include "tests/test_world.h"

/* ---- place ---- */

/* A request in short, and what is to become of it:
 *
 *   L S T      a tool, the instructions, the marker beside the messages
 *   u(..) a(..)  a message of the user's, of the model's, with these blocks:
 *              t text, e empty text, h thinking, c call, r result, n result without content, i
 * image (c9: nine of them, a mark then is on the last) u-         a message that is a plain string
 *   *  !  ~    on what stands before it: a marker of minutes, of an hour, a key that is null
 *   +  #       the same, not in the request but in the result
 *   -          before a block: it is dropped
 *   ^          before a block: the newest step changed it first
 *   I J        a message of the user's, of the model's, that is put in before the next one
 */
struct scene {
    struct wr_buf *out;
    bool is_result;
    uint32_t calls, results; /* so far */
    uint32_t segments;
    uint32_t dropped[64];
    uint32_t dropped_count;
    struct {
        uint32_t message;
        char kind;
    } inserts[4];
    uint32_t inserts_count, messages;
    uint32_t first; /* of the step, or NONE */
};

#define SHORT "\"cache_control\":{\"type\":\"ephemeral\"}"
#define LONG  "\"cache_control\" : {\"type\":\"ephemeral\", \"ttl\":\"1h\"}"

static const char *mark_text(const struct scene *s, char mark)
{
    switch (mark) {
    case '*':
        return "," SHORT;
    case '!':
        return "," LONG;
    case '~':
        return ",\"cache_control\":null";
    case '+':
        return s->is_result ? "," SHORT : "";
    case '#':
        return s->is_result ? "," LONG : "";
    default:
        return NULL;
    }
}

/* What ends an object: its mark, where the spec has one there, and the brace. */
static void end_object(struct scene *s, const char **spec, bool takes_mark)
{
    const char *mark = takes_mark ? mark_text(s, **spec) : NULL;
    if (mark) {
        wr_buf_text(s->out, mark);
        (*spec)++;
    }
    wr_buf_text(s->out, "}");
}

static void begin_block(struct scene *s, char kind)
{
    static const struct {
        char kind;
        const char *json;
    } blocks[] = {{'t', "{\"type\":\"text\",\"text\":\"words\""},
                  {'e', "{\"type\":\"text\",\"text\":\"\""},
                  {'i', "{\"type\":\"image\",\"source\":{}"},
                  {'h', "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\""}};
    char text[128];
    for (size_t i = 0; i < TEST_COUNT_OF(blocks); i++)
        if (blocks[i].kind == kind)
            wr_buf_text(s->out, blocks[i].json);
    if (kind == 'c') {
        (void)snprintf(text, sizeof(text),
                       "{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"n\","
                       "\"input\":{}",
                       s->calls);
        wr_buf_text(s->out, text);
    } else if (kind == 'r' || kind == 'n') {
        (void)snprintf(text, sizeof(text), "{\"type\":\"tool_result\",\"tool_use_id\":\"c%u\"%s",
                       s->results, kind == 'r' ? ",\"content\":\"result\"" : "");
        wr_buf_text(s->out, text);
    }
}

static uint32_t take_number(const char **spec)
{
    uint32_t number = 0;
    for (; **spec >= '0' && **spec <= '9'; (*spec)++)
        number = number * 10 + (uint32_t)(**spec - '0');
    return number ? number : 1;
}

/* The blocks of one letter. */
static void add_blocks(struct scene *s, const char **spec, bool *has_blocks)
{
    bool is_dropped = false;
    for (; **spec == '-' || **spec == '^'; (*spec)++) {
        if (**spec == '^')
            s->first = s->segments;
        else
            is_dropped = true;
    }
    char kind = *(*spec)++;
    uint32_t count = take_number(spec);
    struct wr_buf nothing, *out = s->out;

    wr_buf_init(&nothing, TEST_BYTES_MAX);
    if (is_dropped && s->is_result)
        s->out = &nothing;
    for (uint32_t i = 0; i < count; i++) {
        if (*has_blocks && s->out == out)
            wr_buf_text(s->out, ",");
        begin_block(s, kind);
        end_object(s, spec, i + 1 == count);
        *has_blocks |= s->out == out;
        if (is_dropped)
            s->dropped[s->dropped_count++] = s->segments;
        s->segments++;
        s->calls += kind == 'c';
        s->results += kind == 'r' || kind == 'n';
    }
    s->out = out;
    wr_buf_release(&nothing);
}

static void add_message(struct scene *s, const char **spec, bool *has_messages)
{
    const char *role = *(*spec)++ == 'u' ? "user" : "assistant";
    size_t start = s->out->len;
    bool has_blocks = false;

    wr_buf_text(s->out, *has_messages ? ",{\"role\":\"" : "{\"role\":\"");
    wr_buf_text(s->out, role);
    s->messages++;
    if (*(*spec)++ == '-') {
        wr_buf_text(s->out, "\",\"content\":\"words\"}");
        s->segments++;
        *has_messages = true;
        return;
    }
    wr_buf_text(s->out, "\",\"content\":[");
    while (**spec != ')')
        add_blocks(s, spec, &has_blocks);
    (*spec)++;
    wr_buf_text(s->out, "]}");
    if (!has_blocks)
        s->out->len = start;
    *has_messages |= has_blocks;
}

static const char *insert_text(char kind)
{
    return kind == 'I'
               ? "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"new\"}]}"
               : "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"n\"}]}";
}

static void add_head(struct scene *s, const char **spec)
{
    for (; **spec && strchr("LST", **spec);) {
        char kind = *(*spec)++;
        if (kind == 'T') {
            wr_buf_text(s->out, mark_text(s, *(*spec)++) + 1);
            wr_buf_text(s->out, ",");
            continue;
        }
        wr_buf_text(s->out, kind == 'L' ? "\"tools\":[{\"name\":\"n\""
                                        : "\"system\":[{\"type\":\"text\",\"text\":\"s\"");
        end_object(s, spec, true);
        wr_buf_text(s->out, "],");
        s->segments++;
    }
}

static void write_scene(struct scene *s, const char *spec)
{
    bool has_messages = false;
    wr_buf_text(s->out, "{");
    add_head(s, &spec);
    wr_buf_text(s->out, "\"messages\":[");
    while (*spec) {
        if (*spec == 'u' || *spec == 'a') {
            add_message(s, &spec, &has_messages);
            continue;
        }
        s->inserts[s->inserts_count].message = s->messages;
        s->inserts[s->inserts_count++].kind = *spec;
        if (s->is_result) {
            wr_buf_text(s->out, has_messages ? "," : "");
            wr_buf_text(s->out, insert_text(*spec));
        }
        has_messages |= s->is_result;
        spec++;
    }
    wr_buf_text(s->out, "]}");
    wr_buf_byte(s->out, 0);
}

static const struct {
    const char *behaviour, *spec;
    struct wr_fold_step older; /* a step that was taken before; reason as it comes */
} cases[] = {
    /* how far a marker reaches */
    {"a marker looks back over 19 blocks", "S*u(t)a(tc9)u(r9*)", {0}},
    {"one more, and the end of the previous request is marked", "S*u(t+)a(tc9)u(r9t*)", {0}},
    {"far more", "S*u(t+)a(tc30)u(r30*)", {0}},
    {"results end requests too", "S*u(t)a(c)u(r+)a(tc9)u(r9t*)", {0}},
    {"an image is marked as well", "S*u(ti+)a(tc9)u(r9t*)", {0}},
    {"the client marked it itself", "S*u(t*)a(tc9)u(r9t*)", {0}},
    {"the client put a marker between", "S*u(t)a(tc9*)u(r9t*)", {0}},
    {"a first request has none before it", "S*u(t30*)", {0}},
    {"what the model is to continue is not its answer", "S*u(t+)a(tc9)u(r9t*)a(t)", {0}},

    /* lifetimes */
    {"an hour where the next marker has one, spelt alike", "S!u(t#)a(tc9)u(r9t!)", {0}},
    {"lifetimes that are out of order get no third", "S*u(t)a(tc9)u(r9t!)", {0}},
    {"minutes where the next marker has them", "S!u(t+)a(tc9)u(r9t*)", {0}},
    {"the marker beside the messages marks the last block", "S*T*u(t+)a(tc9)u(r9t)", {0}},
    {"its lifetime too", "S!T!u(t#)a(tc9)u(r9t)", {0}},
    {"it reaches as far as another", "S*T*u(t)a(tc9)u(r9)", {0}},

    /* where none is placed */
    {"four are all there may be", "L*S*u(t*)a(t)u(t)a(tc9)u(r9t*)", {0}},
    {"the one beside the messages is the fourth", "L*S*T*u(t*)a(t)u(t)a(tc9)u(r9t)", {0}},
    {"a fourth is placed", "L*S*u(t+)a(tc9)u(r9t*)", {0}},
    {"a client that caches nothing is left alone", "u(t)a(tc9)u(r9t)", {0}},
    {"nor is anything written that would not have been", "S*u(t)a(tc9)u(r9t)", {0}},

    /* blocks that cannot have one */
    {"a string has no block: the next one reaches back", "S*u-a(t+c9)u(r9t*)", {0}},
    {"thinking takes none", "S*u-a(ht+c9)u(r9*)", {0}},
    {"empty text takes none", "S*u(te)a(t+c9)u(r9t*)", {0}},
    {"a result without content is passed over", "S*u(t)a(c)u(n)a(t+c9)u(r9t*)", {0}},
    {"a key that is null gets no second", "S*u(t~)a(t+c9)u(r9t*)", {0}},
    {"nothing within reach can be marked", "S*u-a(h19)a-u(r*)", {0}},

    /* as the plan leaves it */
    {"what leaves is not counted", "S*u(t)a(-t-c9)u(-r9)a(t)u(t*)", {0}},
    {"the end of the previous request left: the one before it is the end",
     "S*u(t+)a(-t-c4)u(-r4)a(tc9)u(r9t*)",
     {0}},
    {"a message that was put in is the end", "S*u(t)Ia(t+c9)u(r9t*)", {0}},
    {"and is counted", "S*u(t+)Ja(c9)u(r9t*)", {0}},
    {"what is put in behind the last does no harm", "S*u(t+)a(tc9)u(r9t*)I", {0}},

    /* steps */
    {"the newest end before what a step changed",
     "S*u(t)a(c)u(r+)a(c)u(^r)a(c12)u(r12)a(t)u(t*)",
     {0}},
    {"it is within reach", "S*u(t)a(c)u(r)a(c)u(^r)a(c5)u(r5)a(t)u(t*)", {0}},
    {"without a step nobody looks there", "S*u(t)a(c)u(r)a(c)u(r)a(c12)u(r12)a(t)u(t*)", {0}},
    {"nor with a step of an earlier request",
     "S*u(t)a(c)u(r)a(c)u(r)a(c12)u(r12)a(t)u(t*)",
     {3, WR_STEP_COLD, 5}},
    {"a step that changes the first request leaves nothing to read",
     "S*u(^t)a(c)u(r)a(c12)u(r12)a(t)u(t*)",
     {0}},
    {"an end that an older step came after is not what was written",
     "S*u(t+)a(c)u(r)a(c)u(r)a(c)u(^r)a(c12)u(r12)a(t)u(t*)",
     {3, WR_STEP_COLD, 3}},
    {"an older step behind it does it no harm",
     "S*u(t)a(c)u(r)a(c)u(r+)a(c)u(^r)a(c12)u(r12)a(t)u(t*)",
     {3, WR_STEP_COLD, 6}},
    {"a long newest turn goes before the step, for twice must be once",
     "S*u(t)a(c)u(r)a(c)u(^r)a(c2)u(r2+)a(tc9)u(r9t*)",
     {0}},
    {"a marker that was handed there is enough",
     "S*u(t)a(c)u(r+)a(^-c)u(-r*)a(c12)u(r12)a(t)u(t*)",
     {0}},
    {"a step that takes out and puts in", "S*u(t)a(c)u(r+)Ia(^-c)u(-r)a(c12)u(r12)a(t)u(t*)", {0}},
};

static void plan_scene(struct test_plan *p, const struct scene *s)
{
    for (uint32_t i = 0; i < s->dropped_count; i++)
        assert_int_equal(wr_plan_drop(&p->plan, s->dropped[i], NULL), WEIR_OK);
    for (uint32_t i = 0; i < s->inserts_count; i++) {
        wr_json_id before = test_message(p, s->inserts[i].message);
        assert_int_equal(
            wr_plan_insert(&p->plan, before, wr_span_of(insert_text(s->inserts[i].kind)), NULL),
            WEIR_OK);
    }
}

/* The result, with nothing known of steps, gets no second marker. */
static bool is_settled(const char *result)
{
    struct test_plan p;
    test_plan_open(&p, "messages", result);
    assert_int_equal(wr_cache_marker_place(&p.plan, NULL, 0), WEIR_OK);
    bool is_settled = wr_plan_is_empty(&p.plan);
    test_plan_close(&p);
    return is_settled;
}

static bool scene_holds(size_t row)
{
    struct wr_buf request, result;
    struct scene s = {.out = &request, .first = WR_SEGMENT_NONE};
    struct scene expected = {.out = &result, .is_result = true};
    struct wr_fold_step steps[2] = {cases[row].older};
    struct wr_settled projection;
    struct test_plan p;
    uint32_t steps_count = cases[row].older.first ? 1 : 0;

    wr_buf_init(&request, TEST_BYTES_MAX);
    wr_buf_init(&result, TEST_BYTES_MAX);
    write_scene(&s, cases[row].spec);
    write_scene(&expected, cases[row].spec);
    test_plan_open(&p, "messages", request.bytes);
    plan_scene(&p, &s);
    if (s.first != WR_SEGMENT_NONE)
        steps[steps_count++] =
            (struct wr_fold_step){p.transcript.turns_count - 1, WR_STEP_COLD, s.first};
    assert_int_equal(wr_cache_marker_place(&p.plan, steps, steps_count), WEIR_OK);
    assert_int_equal(wr_plan_settle(&p.plan, &p.arena, &p.out, &projection, NULL), WEIR_OK);
    bool ok = !projection.first.found && test_same(&p.arena, projection.body, result.bytes) &&
              is_settled(result.bytes);
    if (ok && wr_span_eq(wr_span_of(request.bytes), wr_span_of(result.bytes)))
        ok = projection.body.ptr == p.doc.text.ptr;
    if (!ok)
        print_error("not so: %s%s%s\n", cases[row].behaviour, projection.first.found ? ": " : "",
                    projection.first.found ? projection.first.what : "");
    test_plan_close(&p);
    wr_buf_release(&request);
    wr_buf_release(&result);
    return ok;
}

static void a_marker_is_placed_where_an_entry_would_be_lost(void **state)
{
    size_t failed = 0;
    (void)state;
    for (size_t row = 0; row < TEST_COUNT_OF(cases); row++)
        failed += !scene_holds(row);
    assert_int_equal(failed, 0);
}

#define TWENTY(part)                                                                               \
    part part part part part part part part part part part part part part part part part part part \
        part

static const struct {
    const char *dialect, *body;
} others[] = {
    {"chat", "{'messages':[{'role':'user','content':[{'type':'text','text':'x'}]},"
             "{'role':'assistant','content':[" TWENTY(
                 "{'type':'text','text':'x'},") "{'type':'text','text':'x'}]},{'role':'user','"
                                                "content':[{'type':'text','text':'x',"
                                                "'cache_control':{'type':'ephemeral'}}]}]}"},
    {"responses", "{'input':[{'role':'user','content':[{'type':'input_text','text':'x'}]},"
                  "{'role':'assistant','content':[" TWENTY(
                      "{'type':'output_text','text':'x'},") "{'type':'output_text','text':'x'}]},{'"
                                                            "role':'user','content':[{'type':"
                                                            "'input_text','text':'x','prompt_cache_"
                                                            "breakpoint':{'mode':'explicit'}}]}]}"},
};

static void other_dialects_read_without_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT_OF(others); i++) {
        struct wr_fold_step step = {1, WR_STEP_COLD, 1};
        struct test_plan p;
        test_plan_open(&p, others[i].dialect, others[i].body);
        assert_int_equal(p.transcript.turns_count, 2);
        assert_int_equal(wr_cache_marker_place(&p.plan, &step, 1), WEIR_OK);
        assert_true(wr_plan_is_empty(&p.plan));
        test_plan_close(&p);
    }
}

/* ---- what it is for, by the cache's own rules ---- */

enum { BLOCK_TOKENS = 2000, MINUTE_MS = 60000 };

static const struct wr_cache_rule rule = {
    .mode = WR_CACHE_EXPLICIT, .ttl_s = 300, .breakpoints_max = 4, .lookback_blocks = 20};
static const struct wr_model model = {.min_cacheable_tokens = 1024, .cache = &rule};

/* Sends the result of a spec; gives how many blocks were read, from the first. */
static uint32_t blocks_read(struct wr_cache *cache, const char *spec, int64_t at_ms)
{
    struct wr_buf body;
    struct scene s = {.out = &body, .is_result = true};
    struct wr_cache_block blocks[128];
    uint64_t tokens[128];
    struct wr_cache_usage usage;
    struct test_plan p;

    wr_buf_init(&body, TEST_BYTES_MAX);
    write_scene(&s, spec);
    test_plan_open(&p, "messages", body.bytes);
    assert_true(p.transcript.segments_count <= TEST_COUNT_OF(blocks));
    for (uint32_t i = 0; i < p.transcript.segments_count; i++)
        tokens[i] = BLOCK_TOKENS;
    wr_cache_blocks(&p.transcript, tokens, NULL, blocks);
    struct wr_cache_prompt prompt = {.blocks = blocks, .blocks_count = p.transcript.segments_count};
    assert_int_equal(wr_cache_request(cache, &prompt, at_ms, &usage), WEIR_OK);
    test_plan_close(&p);
    wr_buf_release(&body);
    return usage.read_blocks;
}

static const struct {
    const char *behaviour, *before, *bare, *marked;
    uint32_t bare_blocks, marked_blocks; /* read */
} gains[] = {
    {"behind a long turn", "S*u(t)a(c)u(r*)", "S*u(t)a(c)u(r)a(tc9)u(r9t*)",
     "S*u(t)a(c)u(r+)a(tc9)u(r9t*)", 1, 4},
    {"behind a step", "S*u(t)a(c)u(r*)", "S*u(t)a(c)u(r)a(-c)u(-r)a(c12)u(r12)a(t)u(t*)",
     "S*u(t)a(c)u(r+)a(-c)u(-r)a(c12)u(r12)a(t)u(t*)", 1, 4},
};

static void what_was_written_is_read_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT_OF(gains); i++) {
        struct wr_cache bare, marked;
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_cache_init(&bare, &arena, &model, NULL), WEIR_OK);
        assert_int_equal(wr_cache_init(&marked, &arena, &model, NULL), WEIR_OK);
        assert_int_equal(blocks_read(&bare, gains[i].before, 0), 0);
        assert_int_equal(blocks_read(&marked, gains[i].before, 0), 0);
        if (blocks_read(&bare, gains[i].bare, MINUTE_MS) != gains[i].bare_blocks ||
            blocks_read(&marked, gains[i].marked, MINUTE_MS) != gains[i].marked_blocks)
            fail_msg("not so: %s", gains[i].behaviour);
        wr_arena_release(&arena);
    }
}

static void lack_of_memory_is_said_and_changes_nothing(void **state)
{
    struct wr_buf body;
    struct scene s = {.out = &body};
    weir_status status = WEIR_NOMEM;
    struct test_plan p;
    uint32_t failed = 0;
    (void)state;

    wr_buf_init(&body, TEST_BYTES_MAX);
    write_scene(&s, "S*u(t)Ia(tc9)u(r9t*)");
    test_plan_open(&p, "messages", body.bytes);
    plan_scene(&p, &s);
    for (size_t bytes_max = 1; status; bytes_max += 64) {
        struct wr_arena small;
        wr_arena_init(&small, bytes_max);
        p.plan.arena = &small;
        status = wr_cache_marker_place(&p.plan, NULL, 0);
        assert_true(!status == p.plan.marker.is_made);
        failed += status != WEIR_OK;
        wr_arena_release(&small);
    }
    assert_true(failed > 0);
    test_plan_close(&p);
    wr_buf_release(&body);
}

/* ---- own ---- */

/* Markers in what comes in: those of this tenant's store are left alone, look-alikes are text. */

enum { LINES = 400, LINES_MANY = 5000, WINDOW_TOKENS = 20000 };

#define FAKE "wr_0123456789abcdef0123"

/* A session of one call after the other; the first result ends with the marker of `handle`. */
static void write_talk(struct wr_buf *out, const char *handle, uint32_t lines, uint32_t results)
{
    wr_buf_init(out, TEST_BODY_BYTES_MAX);
    wr_buf_text(out,
                "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                "\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (uint32_t i = 0; i < results; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
            "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
            i, i);
        for (uint32_t line = 0; line < (i ? LINES : lines); line++)
            wr_buf_printf(out, "result %u line %u: the waters here are calm\\n", i, line);
        if (!i && handle)
            wr_buf_printf(out, "[weir %s: ~9 tokens left out]", handle);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

struct sent {
    struct wr_buf body;
    bool is_step;
};

static struct sent send_lines(struct world *w, const char *policy, const char *handle,
                              uint32_t lines, uint32_t results)
{
    struct weir_project_options options = {.policy = policy,
                                           .window_tokens = WINDOW_TOKENS,
                                           .store = &w->store.store,
                                           .session = WR_LIT("s"),
                                           .now_ms = NOON_MS + results * SECOND_MS};
    struct weir_projected p;
    struct weir_request *request;
    struct weir_err err = {0};
    struct wr_buf body;
    struct sent sent = {.is_step = false};

    write_talk(&body, handle, lines, results);
    if (weir_engine_request(w->engine, wr_buf_view(&body), NULL, &request, &err) ||
        weir_engine_project(w->engine, request, &options, &p, &err))
        fail_msg("%s", err.text);
    wr_buf_init(&sent.body, TEST_BODY_BYTES_MAX);
    wr_buf_append(&sent.body, p.body);
    sent.is_step = p.is_step;
    weir_request_free(request);
    wr_buf_release(&body);
    return sent;
}

static struct sent send_talk(struct world *w, const char *policy, const char *handle,
                             uint32_t results)
{
    return send_lines(w, policy, handle, LINES, results);
}

static bool has_first_whole(const struct sent *sent)
{
    return wr_span_find(wr_buf_view(&sent->body), WR_LIT("result 0 line 200: "), 0) != SIZE_MAX;
}

/* Whether what a request repeats is as it was: both begin alike up to the shorter one's last call.
 */
static bool begins_alike(const struct sent *a, const struct sent *b)
{
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool ok =
        fold_laws_extends(wr_buf_view(&a->body), wr_buf_view(&b->body), WEIR_DIALECT_CHAT, &arena);
    wr_arena_release(&arena);
    return ok;
}

static void put_text(struct world *w, const char *tenant, weir_span text, char name[])
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {.tenant = wr_span_of(tenant),
                               .session = WR_LIT("other"),
                               .used_ms = NOON_MS,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    weir_handle handle;
    assert_int_equal(weir_store_commit(w->store.inner, &batch, NULL), WEIR_OK);
    assert_int_equal(weir_handle_of(text, &handle), WEIR_OK);
    weir_handle_format(handle, name);
}

static void a_look_alike_keeps_nothing_whole(void **state)
{
    struct world *w = open_world(state);
    struct sent fake = send_talk(w, "cut", FAKE, 1);
    assert_false(has_first_whole(&fake));
    assert_int_equal(w->store.marks[WEIR_MARK_LOOK_ALIKE], 1);
    wr_buf_release(&fake.body);
    close_world(w);
}

static void nothing_is_put_down_where_there_is_no_marker(void **state)
{
    struct world *w = open_world(state);
    struct sent plain = send_talk(w, "cut", NULL, 1);
    assert_false(has_first_whole(&plain));
    assert_int_equal(w->store.marks[WEIR_MARK_LOOK_ALIKE], 0);
    wr_buf_release(&plain.body);
    close_world(w);
}

static void what_came_with_a_marker_of_ours_stays(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "local", WR_LIT("an original"), name);
    struct sent ours = send_talk(w, "cut", name, 1);
    assert_true(has_first_whole(&ours));
    wr_buf_release(&ours.body);
    close_world(w);
}

static void a_marker_of_another_tenant_is_text(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "somebody else", WR_LIT("an original"), name);
    struct sent theirs = send_talk(w, "cut", name, 1);
    assert_false(has_first_whole(&theirs));
    wr_buf_release(&theirs.body);
    close_world(w);
}

/* Law L3: with the fold remembered, and by another process that has only the marks. */
static void a_look_alike_stays_text_when_the_store_learns_its_handle(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        char name[WEIR_HANDLE_TEXT_BYTES + 1];
        weir_handle handle;
        assert_int_equal(weir_handle_of(WR_LIT("an original"), &handle), WEIR_OK);
        weir_handle_format(handle, name);
        struct sent before = send_talk(w, "cut", name, 1);
        put_text(w, "local", WR_LIT("an original"), name);
        if (restarts)
            restart(w);
        struct sent after = send_talk(w, "cut", name, 2);
        assert_false(has_first_whole(&after));
        assert_false(after.is_step);
        assert_true(begins_alike(&before, &after));
        wr_buf_release(&before.body);
        wr_buf_release(&after.body);
        close_world(w);
    }
}

/* A handle that is ours quoted behind a text that is not: the last resort takes it. */
static void a_marker_does_not_keep_what_would_be_refused(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "local", WR_LIT("an original"), name);
    struct sent fits = send_lines(w, "auto", name, LINES, 1);
    struct sent is_over = send_lines(w, "auto", name, LINES_MANY, 1);
    assert_true(has_first_whole(&fits));
    assert_true(is_over.body.len < fits.body.len * 4);
    wr_buf_release(&fits.body);
    wr_buf_release(&is_over.body);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_is_placed_where_an_entry_would_be_lost),
        cmocka_unit_test(other_dialects_read_without_one),
        cmocka_unit_test(what_was_written_is_read_again),
        cmocka_unit_test(lack_of_memory_is_said_and_changes_nothing),
        BOTH(a_look_alike_keeps_nothing_whole),
        BOTH(nothing_is_put_down_where_there_is_no_marker),
        BOTH(what_came_with_a_marker_of_ours_stays),
        BOTH(a_marker_of_another_tenant_is_text),
        BOTH(a_look_alike_stays_text_when_the_store_learns_its_handle),
        BOTH(a_marker_does_not_keep_what_would_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
