/* golden: hashes of what every preset makes of sessions, to hold a refactoring to.
 *
 *   golden FILE...    recorded sessions, one Chat Completions message a line
 *   golden --made     sessions that are made here (tests/made_sessions.h)
 *
 * A session's newest requests are projected one after the other through the public API with a store
 * of their own: in Chat Completions and in one of the other two APIs, with a window that is chosen
 * by the session's name. The last request comes hours after the one before it, so that steps with
 * an expired cache are among them. A line is
 *
 *   SESSION POLICY API WINDOW BODY/EDITS BODY/EDITS BODY/EDITS
 *
 * where BODY is the hash of what would be sent and EDITS that of the report's list of edits. Lines
 * of one session depend on nothing but that session, so that sessions can be done side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/policy.h"
#include "lab/session.h"
#include "tests/made_sessions.h"
#include "weir/weir.h"

enum { REQUESTS_TRIED = 3, MADE_SESSIONS = 12, FILE_BYTES_MAX = 256 << 20 };

static const uint32_t windows[] = {16000, 32000, 64000, 200000};
static const int64_t times_ms[REQUESTS_TRIED] = {1000000000, 1000060000, 1010000000};

static void must(weir_status status, const char *name, const struct weir_err *err)
{
    if (!status)
        return;
    (void)fprintf(stderr, "golden: %s: %s\n", name,
                  err->text[0] ? err->text : weir_status_text(status));
    exit(1);
}

/* The list of edits as the report has it; empty where it has none. */
static weir_span edits_of(weir_span report, struct wr_arena *arena)
{
    struct wr_json doc;
    if (wr_json_parse(&doc, arena, report, NULL, NULL))
        return (weir_span){"", 0};
    wr_json_id edits = wr_json_find(&doc, 0, "edits");
    return edits == WR_JSON_NONE ? (weir_span){"", 0} : wr_json_raw(&doc, edits);
}

struct play {
    const char *name; /* of the session */
    const struct wr_session *session;
    const struct wr_policy *policy;
    weir_dialect dialect;
    uint32_t window_tokens;
};

static void project_request(const struct play *play, struct weir_engine *engine,
                            struct weir_store *store, weir_span body, int64_t now_ms)
{
    struct weir_request_options reading = {.dialect = weir_dialect_name(play->dialect)};
    struct weir_project_options options = {.policy = play->policy->name,
                                           .window_tokens = play->window_tokens,
                                           .store = store,
                                           .session = WR_LIT("golden"),
                                           .now_ms = now_ms};
    struct weir_request *request;
    struct weir_projected projected;
    struct weir_err err = {0};
    struct wr_arena arena;

    must(weir_engine_request(engine, body, &reading, &request, &err), play->name, &err);
    must(weir_engine_project(engine, request, &options, &projected, &err), play->name, &err);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    printf(" %016llx/%016llx", (unsigned long long)wr_hash64(projected.body),
           (unsigned long long)wr_hash64(edits_of(projected.report, &arena)));
    wr_arena_release(&arena);
    weir_request_free(request);
}

static void play_session(const struct play *play, struct weir_engine *engine)
{
    struct wr_session_request request = {
        .dialect = play->dialect,
        .model = play->dialect == WEIR_DIALECT_MESSAGES ? "claude-sonnet-4-5" : "gpt-5",
        .with_tools = WR_SESSION_TOOLS};
    uint32_t count = play->session->requests_count;
    uint32_t first = count > REQUESTS_TRIED ? count - REQUESTS_TRIED : 0;
    struct wr_session_body body;
    struct weir_store *store;
    struct weir_err err = {0};

    must(weir_store_new_memory(0, &store), play->name, &err);
    wr_session_body_init(&body, play->session, &request);
    printf("%s %s %s %u", play->name, play->policy->name, weir_dialect_name(play->dialect),
           play->window_tokens);
    for (uint32_t n = first; n < count; n++) {
        weir_span bytes = wr_session_body_at(&body, n);
        must(wr_session_body_status(&body), play->name, &err);
        project_request(play, engine, store, bytes, times_ms[n - first]);
    }
    printf("\n");
    wr_session_body_release(&body);
    weir_store_close(store);
}

static void print_session(const char *name, weir_span text)
{
    uint64_t hash = wr_hash64(wr_span_of(name));
    weir_dialect dialects[] = {WEIR_DIALECT_CHAT,
                               hash & 1 ? WEIR_DIALECT_RESPONSES : WEIR_DIALECT_MESSAGES};
    struct wr_session session;
    struct weir_engine *engine;
    struct weir_err err = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    must(wr_session_read(&session, &arena, text, &err), name, &err);
    must(weir_engine_new(&engine, &err), name, &err);
    for (uint32_t p = 0; p < wr_policy_count(); p++)
        for (size_t d = 0; d < WR_COUNT_OF(dialects); d++) {
            struct play play = {name, &session, wr_policy_at(p), dialects[d],
                                windows[hash / 2 % (WR_COUNT_OF(windows))]};
            play_session(&play, engine);
        }
    weir_engine_free(engine);
    wr_arena_release(&arena);
}

static void print_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char block[65536];
    struct wr_buf text;
    size_t got;
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        exit(1);
    }
    wr_buf_init(&text, FILE_BYTES_MAX);
    while ((got = fread(block, 1, sizeof(block), file)) > 0)
        wr_buf_append(&text, (weir_span){block, got});
    (void)fclose(file);
    print_session(slash ? slash + 1 : path, wr_buf_view(&text));
    wr_buf_release(&text);
}

static void print_made(void)
{
    char name[32];
    for (uint64_t seed = 1; seed <= MADE_SESSIONS; seed++) {
        struct made_session made;
        made_session_new(&made, seed);
        (void)snprintf(name, sizeof(name), "made-%02llu", (unsigned long long)seed);
        print_session(name, wr_buf_view(&made.lines));
        made_session_free(&made);
    }
}

int main(int count, char **words)
{
    if (count == 2 && !strcmp(words[1], "--made")) {
        print_made();
        return 0;
    }
    for (int i = 1; i < count; i++)
        print_file(words[i]);
    return 0;
}
