/* handle_coverage -- how much of recorded sessions' tool calls the handles cover, agent by agent.
 *
 *   handle_coverage DIR     DIR/sessions.tsv names the sessions and their agents (column `format`),
 *                           DIR/normalized/ID.jsonl holds one Chat Completions message a line
 *
 * Prints one row an agent. Shares are of the column's own base: `path` and `range` of the files
 * that reads and searches name, `understood` of shell command lines.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "transcript/path.h"

enum { AGENTS_MAX = 32, CALLS_MAX = 1 << 16, FILE_BYTES_MAX = 256 << 20, NAME_BYTES = 64 };

struct agent {
    char name[NAME_BYTES];
    unsigned sessions, calls, known, effect;
    unsigned reads, reads_path, reads_range, searches, searches_path;
    unsigned shells, shells_complete, shells_understood;
    unsigned exit_codes, cut, spills, processes, errors;
    unsigned stale, maybe, superseded;
};

struct session {
    struct wr_arena arena;
    weir_span ids[CALLS_MAX];
    struct wr_tool_handles *calls[CALLS_MAX];
    size_t count;
};

static bool is_certain(const struct wr_effect *effect)
{
    bool ranged = effect->kind != WR_EFFECT_READ || (effect->start_line && effect->end_line);
    return effect->literal && ranged && !effect->whole_tree;
}

static void count_effects(struct agent *agent, const struct wr_tool_handles *handles)
{
    bool certain = handles->is_understood;
    for (size_t i = 0; i < handles->effects_count; i++) {
        const struct wr_effect *effect = &handles->effects[i];
        bool path = effect->literal && effect->path.len;
        certain &= is_certain(effect);
        agent->reads += effect->kind == WR_EFFECT_READ;
        agent->reads_path += effect->kind == WR_EFFECT_READ && path;
        agent->reads_range +=
            effect->kind == WR_EFFECT_READ && path && effect->start_line && effect->end_line;
        agent->searches += effect->kind == WR_EFFECT_SEARCH;
        agent->searches_path += effect->kind == WR_EFFECT_SEARCH && effect->literal;
    }
    agent->shells += handles->is_shell;
    agent->shells_complete += handles->is_shell && handles->is_understood;
    agent->shells_understood += handles->is_shell && certain;
}

static void count_call(struct agent *agent, const struct wr_tool_handles *handles)
{
    agent->calls++;
    agent->known += handles->is_known;
    agent->effect += handles->kind != WR_EFFECT_OTHER || handles->is_known;
    agent->exit_codes += handles->has_exit_code;
    agent->cut += handles->cut != WR_TOOL_CUT_NONE;
    agent->spills += handles->spill_path.len > 0;
    agent->processes += handles->process_id.len > 0;
    agent->errors += handles->is_error;
    count_effects(agent, handles);
}

static void add_calls(struct session *session, const struct wr_json *doc, wr_json_id calls)
{
    for (wr_json_id id = wr_json_first(doc, calls); id != WR_JSON_NONE;
         id = wr_json_next(doc, calls, id)) {
        wr_json_id function = wr_json_find(doc, id, "function");
        wr_json_id name = wr_json_find(doc, function, "name"),
                   text = wr_json_find(doc, function, "arguments");
        wr_json_id call_id = wr_json_find(doc, id, "id");
        struct wr_tool_handles *handles =
            WR_ARENA_ARRAY(&session->arena, struct wr_tool_handles, 1);
        if (!wr_json_is(doc, name, WR_JSON_STRING) || !wr_json_is(doc, text, WR_JSON_STRING) ||
            !handles || !wr_json_is(doc, call_id, WR_JSON_STRING) || session->count == CALLS_MAX)
            continue;
        if (wr_tool_call(handles, &session->arena, wr_json_text(doc, &session->arena, name),
                         wr_json_text(doc, &session->arena, text), (weir_span){"", 0}))
            continue;
        session->ids[session->count] = wr_json_text(doc, &session->arena, call_id);
        session->calls[session->count++] = handles;
    }
}

static void add_result(struct session *session, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id content = wr_json_find(doc, message, "content"),
               id = wr_json_find(doc, message, "tool_call_id");
    if (!wr_json_is(doc, content, WR_JSON_STRING) || !wr_json_is(doc, id, WR_JSON_STRING))
        return;
    weir_span call_id = wr_json_text(doc, &session->arena, id);
    for (size_t i = session->count; i > 0; i--)
        if (wr_span_eq(session->ids[i - 1], call_id)) {
            wr_tool_result(session->calls[i - 1], wr_json_text(doc, &session->arena, content),
                           false);
            return;
        }
}

static void read_messages(struct session *session, weir_span text)
{
    weir_span line;
    while (wr_span_line(&text, &line)) {
        struct wr_json doc;
        if (wr_json_parse(&doc, &session->arena, line, NULL, NULL))
            continue;
        wr_json_id calls = wr_json_find(&doc, 0, "tool_calls");
        if (wr_json_is(&doc, calls, WR_JSON_ARRAY))
            add_calls(session, &doc, calls);
        else if (wr_json_text_is(&doc, wr_json_find(&doc, 0, "role"), "tool"))
            add_result(session, &doc, 0);
    }
}

static void count_session(struct agent *agent, struct session *session)
{
    struct wr_stale *stale = WR_ARENA_ARRAY(&session->arena, struct wr_stale, session->count + 1);
    agent->sessions++;
    for (size_t i = 0; i < session->count; i++)
        count_call(agent, session->calls[i]);
    if (!stale ||
        wr_stale_mark(stale, &session->arena, (const struct wr_tool_handles *const *)session->calls,
                      session->count, (weir_span){"", 0}))
        return;
    for (size_t i = 0; i < session->count; i++) {
        agent->stale += stale[i].staleness == WR_STALE;
        agent->maybe += stale[i].staleness == WR_MAYBE_STALE;
        agent->superseded += stale[i].is_superseded;
    }
}

/* The file's bytes, to be freed by the caller; NULL where it cannot be read. */
static char *read_all(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END)) {
        long size = ftell(file);
        rewind(file);
        if (size >= 0 && size < FILE_BYTES_MAX && (bytes = malloc((size_t)size + 1)))
            *len = fread(bytes, 1, (size_t)size, file);
    }
    fclose(file);
    return bytes;
}

static struct agent *get_agent(struct agent *agents, size_t *count, weir_span name)
{
    for (size_t i = 0; i < *count; i++)
        if (wr_span_is(name, agents[i].name))
            return &agents[i];
    if (*count == AGENTS_MAX || name.len >= NAME_BYTES)
        return NULL;
    memcpy(agents[*count].name, name.ptr, name.len);
    return &agents[(*count)++];
}

static weir_span take_column(weir_span *line)
{
    const char *tab = memchr(line->ptr, '\t', line->len);
    size_t len = tab ? (size_t)(tab - line->ptr) : line->len;
    weir_span column = {line->ptr, len};
    *line = wr_span_cut(*line, tab ? len + 1 : len, line->len);
    return column;
}

static void read_session(struct agent *agent, const char *dir, weir_span id)
{
    static struct session session;
    char path[4096];
    size_t len;
    snprintf(path, sizeof(path), "%s/normalized/%.*s.jsonl", dir, (int)id.len, id.ptr);
    char *bytes = read_all(path, &len);
    if (!bytes)
        return;
    session.count = 0;
    wr_arena_init(&session.arena, WR_ARENA_BYTES_MAX);
    read_messages(&session, (weir_span){bytes, len});
    count_session(agent, &session);
    wr_arena_release(&session.arena);
    free(bytes);
}

static double share(unsigned part, unsigned whole)
{
    return whole ? 100.0 * part / whole : 0;
}

static void print_table(const struct agent *agents, size_t count)
{
    printf("%-15s %5s %6s %7s %7s %6s %6s %6s %7s %6s %6s %6s %7s %5s %5s %5s %6s %6s %6s\n",
           "agent", "sess", "calls", "known%", "effect%", "reads", "path%", "range%", "searchs",
           "path%", "shells", "compl%", "underst", "exit%", "cut", "spill", "stale", "maybe",
           "superd");
    for (size_t i = 0; i < count; i++) {
        const struct agent *a = &agents[i];
        printf("%-15s %5u %6u %7.1f %7.1f %6u %6.1f %6.1f %7u %6.1f %6u %6.1f %7.1f %5.1f %5u %5u "
               "%6u %6u %6u\n",
               a->name, a->sessions, a->calls, share(a->known, a->calls),
               share(a->effect, a->calls), a->reads, share(a->reads_path, a->reads),
               share(a->reads_range, a->reads), a->searches, share(a->searches_path, a->searches),
               a->shells, share(a->shells_complete, a->shells),
               share(a->shells_understood, a->shells), share(a->exit_codes, a->calls), a->cut,
               a->spills, a->stale, a->maybe, a->superseded);
    }
}

int main(int argc, char **argv)
{
    static struct agent agents[AGENTS_MAX];
    size_t count = 0, len;
    char path[4096];
    if (argc != 2) {
        fprintf(stderr, "usage: handle_coverage DIR\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/sessions.tsv", argv[1]);
    char *bytes = read_all(path, &len);
    if (!bytes) {
        printf("handle_coverage: skipped, no recorded sessions at %s\n", argv[1]);
        return 0;
    }
    weir_span rest = {bytes, len}, line;
    wr_span_line(&rest, &line); /* the names of the columns */
    while (wr_span_line(&rest, &line)) {
        weir_span id = take_column(&line);
        take_column(&line);
        take_column(&line);
        struct agent *agent = get_agent(agents, &count, take_column(&line));
        if (agent)
            read_session(agent, argv[1], id);
    }
    print_table(agents, count);
    free(bytes);
    return 0;
}
