/* What is tortured. To add a case: a function of few lines, and a row in the table at the end. */
#include "tests/torture/torture.h"

#include <string.h>

#include "api/api.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/run.h"
#include "face/call_frame.h"
#include "json/json.h"
#include "json/splice.h"
#include "json/write.h"
#include "lab/floor.h"
#include "lab/import.h"
#include "policy/policy.h"
#include "weir/weir.h"

static const char BODY[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"caf\\u00e9 \\ud83d\\ude00\"},"
    "{\"role\":\"tool\",\"content\":\"one\\ntwo\",\"n\":[1,2,[3]]}]}";

static weir_status tell_buf(const struct wr_buf *buf)
{
    weir_status status = wr_buf_status(buf);
    if (status == WEIR_OK)
        torture_tell(wr_buf_view(buf));
    return status;
}

static weir_status buf_grows(void)
{
    struct wr_buf buf;
    wr_buf_init(&buf, 1 << 16);
    for (int i = 0; i < 2000; i++)
        wr_buf_printf(&buf, "%d,", i);
    weir_status status = tell_buf(&buf);
    wr_buf_release(&buf);
    return status;
}

static weir_status buf_keeps_its_first_bytes(void)
{
    struct wr_buf buf;
    wr_buf_init(&buf, 1 << 16);
    wr_buf_text(&buf, "first");
    weir_status status = wr_buf_status(&buf);
    if (status == WEIR_OK) {
        wr_buf_reserve(&buf, 1 << 15);
        if (!wr_span_is(wr_buf_view(&buf), "first"))
            status = WEIR_INVALID;
        else
            status = tell_buf(&buf);
    }
    wr_buf_release(&buf);
    return status;
}

static weir_status arena_gives_many_pieces(void)
{
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t bytes = 1; bytes < 4 * WR_ARENA_CHUNK_BYTES; bytes *= 3) {
        char *piece = wr_arena_zalloc(&arena, bytes);
        if (!piece)
            break;
        piece = wr_arena_grow(&arena, piece, bytes, bytes * 2);
        if (!piece)
            break;
        memset(piece, 'x', bytes * 2);
    }
    weir_status status = wr_arena_status(&arena);
    if (status == WEIR_OK)
        torture_tell(WR_LIT("all given"));
    wr_arena_release(&arena);
    return status;
}

/* A job on BODY, parsed; it tells what came out. */
typedef weir_status doc_fn(const struct wr_json *doc, struct wr_arena *arena);

static weir_status with_doc(doc_fn *job, enum wr_json_path path)
{
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_json_options options = {.path = path};
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, wr_span_of(BODY), &options, NULL);
    if (status == WEIR_OK)
        status = job(&doc, &arena);
    wr_arena_release(&arena);
    return status;
}

static weir_status tell_nodes(const struct wr_json *doc, struct wr_arena *arena)
{
    (void)arena;
    for (wr_json_id id = 0; id < doc->nodes_count; id++)
        torture_tell(wr_json_raw(doc, id));
    return WEIR_OK;
}

static weir_status tell_text(const struct wr_json *doc, struct wr_arena *arena)
{
    wr_json_id messages = wr_json_find(doc, 0, "messages");
    wr_json_id content = wr_json_find(doc, wr_json_first(doc, messages), "content");
    weir_span text = wr_json_text(doc, arena, content);
    if (!text.ptr)
        return wr_arena_status(arena);
    torture_tell(text);
    return WEIR_OK;
}

static weir_status splice_all_ways(const struct wr_json *doc, struct wr_arena *arena)
{
    wr_json_id messages = wr_json_find(doc, 0, "messages");
    wr_json_id first = wr_json_first(doc, messages);
    wr_json_id second = wr_json_next(doc, messages, first);
    wr_json_id numbers = wr_json_find(doc, second, "n");
    struct wr_splice splice;
    struct wr_buf out;

    wr_buf_init(&out, 1 << 16);
    wr_splice_init(&splice, doc, arena);
    wr_splice_set_text(&splice, wr_json_find(doc, first, "content"), WR_LIT("new \"text\"\n"));
    wr_splice_remove(&splice, numbers, wr_json_first(doc, numbers));
    wr_splice_insert(&splice, messages, second, WR_LIT("{\"role\":\"user\",\"content\":\"x\"}"));
    wr_splice_insert(&splice, second, WR_JSON_NONE, WR_LIT("\"more\":true"));
    weir_status status = wr_splice_apply(&splice, &out, NULL);
    if (status == WEIR_OK)
        status = tell_buf(&out);
    wr_buf_release(&out);
    return status;
}

static weir_status parse_scalar(void)
{
    return with_doc(tell_nodes, WR_JSON_PATH_SCALAR);
}

static weir_status parse_best(void)
{
    return with_doc(tell_nodes, WR_JSON_PATH_BEST);
}

static weir_status text_is_unescaped(void)
{
    return with_doc(tell_text, WR_JSON_PATH_BEST);
}

static weir_status splice_applies(void)
{
    return with_doc(splice_all_ways, WR_JSON_PATH_BEST);
}

static weir_status escape_appends(void)
{
    struct wr_buf buf;
    wr_buf_init(&buf, 1 << 20);
    for (int i = 0; i < 500; i++)
        wr_json_escape(&buf, WR_LIT("\"quoted\"\tand\nbroken \xc3\xa9"));
    weir_status status = tell_buf(&buf);
    wr_buf_release(&buf);
    return status;
}

static weir_status writer_writes(void)
{
    struct wr_buf buf;
    struct wr_json_writer writer;
    wr_buf_init(&buf, 1 << 20);
    wr_json_write_init(&writer, &buf);
    wr_json_write_array(&writer);
    for (int i = 0; i < 500; i++)
        wr_json_write_text(&writer, WR_LIT("item\n"));
    wr_json_write_array_end(&writer);
    weir_status status = tell_buf(&buf);
    wr_buf_release(&buf);
    return status;
}

/* ---- requests: of each dialect a user's words, a model output with a call, its result, more words
 * ---- */

struct request_case {
    const char *dialect, *body, *insert;
    uint32_t user, result, last; /* segments */
};

static const struct request_case chat = {
    "chat",
    "{\"tools\":[{\"type\":\"function\"}],\"messages\":[{\"role\":\"user\",\"content\":"
    "\"u\\u00e9\"},"
    "{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\\u0031\",\"function\":"
    "{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"make a.o\\\"}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"a.c:1:2:"
    " error: no\\n\"},"
    "{\"type\":\"text\",\"text\":\"words and more words behind it\"}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"v\"},{\"type\":\"text\","
    "\"text\":\"w\","
    "\"cache_control\":{}}]}]}",
    "{\"role\":\"user\",\"content\":\"new\"}",
    1,
    4,
    6};

static const struct request_case responses = {
    "responses",
    "{\"instructions\":\"i\",\"input\":[{\"role\":\"user\",\"content\":\"u\"},{\"type\":"
    "\"reasoning\","
    "\"id\":\"rs\"},{\"type\":\"function_call\",\"call_id\":\"c\",\"namespace\":\"fs\",\"name\":"
    "\"read\","
    "\"arguments\":\"{\\\"path\\\":\\\"a.c\\\"}\"},"
    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"a.c:1:2: error: no\\nwords "
    "and more of them\"},"
    "{\"role\":\"user\",\"content\":\"v\"},{\"role\":\"user\",\"content\":\"w\"}]}",
    "{\"role\":\"user\",\"content\":\"new\"}",
    1,
    4,
    6};

static const struct request_case messages = {
    "messages",
    "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\","
    "\"content\":["
    "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"g\"},{\"type\":\"tool_use\",\"id\":"
    "\"c\","
    "\"name\":\"Read\",\"input\":{\"file_path\":\"a.c\"}}]},{\"role\":\"user\",\"content\":["
    "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"a.c:1:2: error: no\\nwords and "
    "more of them\"},"
    "{\"type\":\"text\",\"text\":\"v\"},{\"type\":\"text\",\"text\":\"w\",\"cache_control\":{}}]}]"
    "}",
    "{\"role\":\"user\",\"content\":\"new\"}",
    1,
    4,
    6};

static const struct request_case gemini = {
    "gemini",
    "{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"contents\":[{\"parts\":[{\"text\":"
    "\"u\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"t\",\"thought\":true},{\"functionCall\":"
    "{\"name\":\"read_file\",\"args\":{\"file_path\":\"a.c\"}}}]},{\"role\":\"user\",\"parts\":["
    "{\"functionResponse\":{\"name\":\"read_file\",\"response\":{\"output\":\"a.c:1:2: error: "
    "no\\nwords and more of them\"}}},{\"text\":\"v\"},{\"text\":\"w\"}]}]}",
    "{\"role\":\"user\",\"parts\":[{\"text\":\"new\"}]}",
    1,
    4,
    6};

static const struct request_case ollama = {
    "ollama",
    "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"},"
    "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"t\",\"tool_calls\":[{\"function\":{"
    "\"name\":\"read_file\",\"arguments\":{\"path\":\"a.c\"}}}]},{\"role\":\"tool\",\"tool_name\":"
    "\"read_file\",\"content\":\"a.c:1:2: error: no\\nwords and more of them\"},{\"role\":\"user\","
    "\"content\":\"v\"},{\"role\":\"user\",\"content\":\"w\"}]}",
    "{\"role\":\"user\",\"content\":\"new\"}",
    1,
    4,
    6};

/* A condensed result, edited and dropped words, a message that comes in. */
static weir_status plan_changes(struct wr_plan *plan, const struct request_case *given)
{
    const struct wr_transcript *t = plan->transcript;
    struct wr_change result = {.segment = given->result,
                               .form = WR_FORM_CONDENSED,
                               .text = WR_LIT("a.c:1:2: error: no"),
                               .refers_to = WR_SEGMENT_NONE};
    struct wr_change words = {.segment = given->user,
                              .form = WR_FORM_EDITED,
                              .text = WR_LIT("other \"words\""),
                              .refers_to = WR_SEGMENT_NONE};
    weir_status status = wr_plan_set(plan, &result, NULL);
    if (!status)
        status = wr_plan_set(plan, &words, NULL);
    if (!status)
        status = wr_plan_drop(plan, given->last, NULL);
    if (!status)
        status =
            wr_plan_insert(plan, wr_json_first(t->doc, t->list), wr_span_of(given->insert), NULL);
    return status;
}

static weir_status project_one(const struct request_case *given, struct wr_arena *arena,
                               struct wr_buf *out)
{
    struct wr_api_options options = {.dialect = given->dialect};
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_plan plan;
    struct wr_settled projection;

    weir_status status = wr_json_parse(&doc, arena, wr_span_of(given->body), NULL, NULL);
    if (!status)
        status = wr_api_read(&transcript, arena, &doc, &options, NULL);
    if (!status)
        status = wr_plan_init(&plan, arena, &transcript);
    if (!status)
        status = plan_changes(&plan, given);
    if (!status)
        status = wr_plan_settle(&plan, arena, out, &projection, NULL);
    if (status)
        return status;
    if (projection.first.found) /* all of it stands, or it is not this that was tested */
        return WEIR_INVALID;
    torture_tell(projection.body);
    return WEIR_OK;
}

static weir_status project(const struct request_case *given)
{
    struct wr_arena arena;
    struct wr_buf out;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, 1 << 16);
    weir_status status = project_one(given, &arena, &out);
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return status;
}

/* The same by the public interface, written twice. */
static weir_status write_request(struct weir_request *request, const struct request_case *given)
{
    struct weir_write_report report;
    weir_span first, second, text;
    weir_status status = weir_request_edit(request, given->user, WR_LIT("other \"words\""), NULL);
    if (!status)
        status = weir_request_write(request, &first, &report, NULL);
    if (!status)
        status = weir_request_drop(request, given->result, NULL);
    if (!status)
        status = weir_request_text(request, given->result, &text);
    if (!status)
        status = weir_request_write(request, &second, &report, NULL);
    if (status)
        return status;
    torture_tell(first);
    torture_tell(text);
    torture_tell(second);
    return report.first_reason ? WEIR_INVALID : WEIR_OK;
}

static weir_status use_request(const struct request_case *given)
{
    struct weir_request_options options = {.dialect = given->dialect};
    struct weir_request *request;
    weir_status status = weir_request_new(wr_span_of(given->body), &options, &request, NULL);
    if (!status)
        status = write_request(request, given);
    weir_request_free(request);
    return status;
}

static weir_status project_chat(void)
{
    return project(&chat);
}

static weir_status project_responses(void)
{
    return project(&responses);
}

static weir_status project_messages(void)
{
    return project(&messages);
}

static weir_status project_ollama(void)
{
    return project(&ollama);
}

static weir_status project_gemini(void)
{
    return project(&gemini);
}

static weir_status use_chat(void)
{
    return use_request(&chat);
}

static weir_status use_responses(void)
{
    return use_request(&responses);
}

static weir_status use_messages(void)
{
    return use_request(&messages);
}

static weir_status policies_are_read(void)
{
    static const char yaml[] =
        "policies:\n  a: {stages: [{stage: cap, tools: {Bash: {keep: tail}, Skill: exact}}]}\n"
        "  b: {like: a, what: the same}\n";
    struct wr_policies *policies;
    struct wr_buf out;
    weir_status status = wr_policies_new(&policies, wr_span_of(yaml), NULL);
    if (status)
        return status;
    wr_buf_init(&out, 1 << 16);
    wr_policy_yaml_write(&out, wr_policies_find(policies, WR_LIT("b")), "b");
    status = tell_buf(&out);
    wr_buf_release(&out);
    wr_policies_free(policies);
    return status;
}

static uint64_t count_bytes(void *user, weir_span text)
{
    (void)user;
    return text.len;
}

/* One request of a session as the simulator takes it: evidence, verdicts, the floor, the cache. */
static weir_status price_request(struct wr_arena *arena, const struct wr_transcript *t,
                                 const struct wr_json *answer, struct wr_evidence *evidence)
{
    struct wr_cache_block blocks[8];
    uint64_t tokens[8] = {2000, 10, 10, 10, 10, 10, 10, 10};
    struct wr_evidence_judged judged[8];
    struct wr_evidence_view view;
    struct wr_evidence_items found;
    struct wr_evidence_at at;
    struct wr_floor floor;
    struct wr_cache cache;
    struct wr_cache_usage usage;
    const struct wr_model model = {.cache = &(struct wr_cache_rule){.mode = WR_CACHE_PREFIX}};

    weir_status status = wr_evidence_note(evidence, t, &at);
    if (!status)
        status = wr_evidence_find(evidence, &at, answer, arena, &found);
    if (!status)
        status = wr_evidence_view_read(&view, arena, t, t);
    if (status)
        return status;
    wr_evidence_judge(evidence, &at, &found, &view, NULL, judged);
    wr_cache_blocks(t, tokens, NULL, blocks);
    wr_floor_init(&floor, arena, count_bytes, NULL, true);
    status = wr_floor_note(&floor, t, &at, blocks, NULL, &found);
    if (!status)
        status = wr_floor_finish(&floor);
    if (!status)
        status = wr_cache_init(&cache, arena, &model, NULL);
    struct wr_cache_prompt prompt = {.blocks = blocks, .blocks_count = t->segments_count};
    if (!status)
        status = wr_cache_request(&cache, &prompt, 0, &usage);
    for (uint32_t i = 0; i < found.count && !status; i++)
        torture_tell(found.items[i].text);
    return status;
}

static weir_status session_is_priced(void)
{
    static const char body[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\","
        "\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":"
        "{\"name\":\"ls\",\"arguments\":\"{\\\"a\\\":\\\"b\\\"}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"src/net/poll_loop.c\"}]}";
    static const char said[] = "{\"role\":\"assistant\",\"content\":\"src/net/poll_loop.c\"}";
    struct wr_api_options options = {.dialect = "chat", .structure_only = true};
    struct wr_evidence evidence = {0};
    struct wr_transcript t;
    struct wr_json doc, answer;
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, wr_span_of(body), NULL, NULL);
    if (!status)
        status = wr_json_parse(&answer, &arena, wr_span_of(said), NULL, NULL);
    if (!status)
        status = wr_api_read(&t, &arena, &doc, &options, NULL);
    if (!status)
        status = wr_evidence_init(&evidence, &arena);
    if (!status)
        status = price_request(&arena, &t, &answer, &evidence);
    wr_evidence_release(&evidence);
    wr_arena_release(&arena);
    return status;
}

/* A rollout with a call, a picture, an id used twice and a compaction. */
static const char LOG[] =
    "{\"type\":\"session_meta\",\"payload\":{\"instructions\":\"be brief\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"text\":\"caf\\u00e9\"},{\"type\":\"input_image\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"f\","
    "\"arguments\":"
    "{\"a\":1},\"call_id\":\"c\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\","
    "\"output\":\"1\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"f\","
    "\"arguments\":"
    "\"{}\",\"call_id\":\"c\"}}\n"
    "{\"type\":\"compacted\",\"payload\":{\"message\":\"so far\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":"
    "[{\"text\":\"end\"}]}}\n";

static weir_status log_is_imported(void)
{
    struct wr_session_request request = {WEIR_DIALECT_MESSAGES, 0, "m", WR_SESSION_TOOLS};
    struct wr_session_body body;
    struct wr_import import;
    struct wr_arena arena;
    struct wr_buf told;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_import_read(&import, &arena, wr_span_of(LOG), NULL);
    if (!status) {
        wr_buf_init(&told, 1 << 16);
        wr_session_body_init(&body, &import.sessions[0], &request);
        for (uint32_t n = 0; n < import.sessions[0].requests_count; n++)
            wr_buf_append(&told, wr_session_body_at(&body, n));
        status = wr_session_body_status(&body);
        if (!status)
            status = tell_buf(&told);
        wr_session_body_release(&body);
        wr_buf_release(&told);
    }
    wr_arena_release(&arena);
    return status;
}

/* As a program asks for it, with the kept lines; and a call's members by a table. */
static weir_status face_is_used(void)
{
    static const char json[] = "{\"text\":\"caf\\u00e9\",\"name\":\"n\",\"body\":{}}";
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    struct wr_arena arena;
    weir_span text = {NULL, 0}, body = {NULL, 0};
    const char *name = NULL;
    const struct wr_arg args[] = {
        {"text", WR_ARG_TEXT, &text}, {"name", WR_ARG_NAME, &name}, {"body", WR_ARG_OBJECT, &body}};

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_args_read(wr_span_of(json), &arena, args, 3, NULL);
    wr_arena_release(&arena);
    options.command = WR_LIT("make");
    options.budget_bytes = 40;
    if (!status)
        status = weir_condense(wr_span_of(LOG), &options, &condensed, NULL);
    if (!status) {
        torture_tell(condensed.text);
        weir_condensed_release(&condensed);
    }
    return status;
}

const struct torture_case torture_cases[] = {
    {"a buffer grows", buf_grows, false},
    {"a buffer that cannot grow keeps what it held", buf_keeps_its_first_bytes, false},
    {"an arena gives pieces of many sizes", arena_gives_many_pieces, false},
    {"a document is parsed by the scalar scanner", parse_scalar, false},
    {"a document is parsed by the best scanner", parse_best, false},
    {"a string is unescaped", text_is_unescaped, false},
    {"edits of all kinds are spliced", splice_applies, false},
    {"text is escaped", escape_appends, false},
    {"the writer writes an array", writer_writes, false},
    {"policies are read and written", policies_are_read, false},
    {"a session of two requests takes a cold step", torture_session, true},
    {"a journal is read, cut, and written as requests", torture_journal, false},
    {"a prompt is put together", torture_prompt, false},
    {"a session is opened, compacted, asked, and opened again", torture_kept, true},
    {"a session is priced", session_is_priced, false},
    {"a chat request is read, planned, applied and validated", project_chat, false},
    {"a responses request is read, planned, applied and validated", project_responses, false},
    {"a messages request is read, planned, applied and validated", project_messages, false},
    {"a gemini request is read, planned, applied and validated", project_gemini, false},
    {"an ollama request is read, planned, applied and validated", project_ollama, false},
    {"a chat request is used by the public interface", use_chat, false},
    {"a responses request is used by the public interface", use_responses, false},
    {"a messages request is used by the public interface", use_messages, false},
    {"an output is condensed and a call is read", face_is_used, false},
    {"legs of an answer are joined, and put back", torture_join, true},
    {"frames become events, and frames again", torture_frames, true},
    {"a log is imported, and its requests are written", log_is_imported, false},
    {0},
};
