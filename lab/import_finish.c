/* From a draft to a session whose requests are lawful: every message is written as Chat's, each
 * call followed by its result, and what has none by the sentence its host would have sent. First
 * the messages of the log, then those that only compactions hold, all into one text, which is
 * parsed when it is whole. */
#include "lab/import_draft.h"

#include "base/limits.h"
#include "base/span.h"

/* What stands for a result that the host cleared, and for one that the log does not have. */
static const char cleared_text[] = "[Old tool result content cleared]";
static const char missing_text[] = "[the log holds no result of this call]";

/* A message as it was written. */
struct doc {
    size_t start, end;
    int64_t time_ms;
    bool thinks;
};

/* Documents are numbered as they are written: first the messages of the log, which are the
 * session's, then what only compactions hold. */
struct finish {
    struct wr_draft *draft;
    struct wr_arena *arena; /* where the session lives */
    struct wr_session *session;
    struct wr_buf text;
    struct doc *docs;
    uint32_t docs_count;
    uint32_t *of_message, *of_result, *of_cleared; /* documents, or NONE */
    uint32_t last_answer;                          /* a message of the draft, or NONE */
    bool has_content;                              /* a request now would say something */
};

static bool is_empty(const struct wr_draft_message *m)
{
    return m->first_part == WR_DRAFT_NONE && m->first_call == WR_DRAFT_NONE;
}

static void write_name(struct finish *f, const char *key, weir_span name)
{
    wr_buf_text(&f->text, key);
    wr_json_escape(&f->text, name);
    wr_buf_byte(&f->text, '"');
}

static uint32_t end_doc(struct finish *f, size_t start, int64_t time_ms)
{
    f->docs[f->docs_count] = (struct doc){start, f->text.len, time_ms, false};
    return f->docs_count++;
}

static void write_calls(struct finish *f, const struct wr_draft_message *m)
{
    const struct wr_draft *d = f->draft;
    wr_buf_text(&f->text, ",\"tool_calls\":[");
    for (uint32_t c = m->first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        if (c != m->first_call)
            wr_buf_byte(&f->text, ',');
        write_name(f, "{\"id\":\"", d->calls[c].id);
        write_name(f, ",\"type\":\"function\",\"function\":{\"name\":\"", d->calls[c].name);
        wr_buf_text(&f->text, ",\"arguments\":\"");
        wr_buf_append(&f->text, d->calls[c].arguments);
        wr_buf_text(&f->text, "\"}}");
    }
    wr_buf_byte(&f->text, ']');
}

static void write_message(struct finish *f, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_message *m = &d->messages[message];
    size_t start = f->text.len;

    wr_buf_printf(&f->text, "{\"role\":\"%s\",\"content\":\"", weir_role_name(m->role));
    for (uint32_t p = m->first_part; p != WR_DRAFT_NONE; p = d->parts[p].next) {
        if (p != m->first_part)
            wr_buf_text(&f->text, "\\n");
        wr_buf_append(&f->text, d->parts[p].text);
    }
    wr_buf_byte(&f->text, '"');
    if (m->first_call != WR_DRAFT_NONE)
        write_calls(f, m);
    wr_buf_byte(&f->text, '}');
    f->of_message[message] = end_doc(f, start, m->time_ms);
    f->docs[f->of_message[message]].thinks = m->thinks;
    f->session->has_thinking |= m->thinks;
}

static uint32_t write_finish_result(struct finish *f, const struct wr_draft_call *call,
                                    weir_span content)
{
    size_t start = f->text.len;
    write_name(f, "{\"role\":\"tool\",\"tool_call_id\":\"", call->id);
    write_name(f, ",\"name\":\"", call->name);
    wr_buf_text(&f->text, ",\"content\":\"");
    wr_buf_append(&f->text, content);
    wr_buf_text(&f->text, "\"}");
    return end_doc(f, start, call->result_ms);
}

/* The results of a message's calls, in their order. Nothing is made up for the last answer's: no
 * request holds them. */
static void write_results(struct finish *f, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const char *missing = d->missing ? d->missing : missing_text;
    for (uint32_t c = d->messages[message].first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        const struct wr_draft_call *call = &d->calls[c];
        if (!call->is_answered && message == f->last_answer)
            continue;
        d->notes[WR_IMPORT_RESULT_MISSING] += !call->is_answered;
        f->of_result[c] =
            write_finish_result(f, call, call->is_answered ? call->result : wr_span_of(missing));
    }
}

/* ---- the messages of the log ---- */

static void write_finish_answer(struct finish *f, uint32_t message)
{
    struct wr_session *s = f->session;
    if (f->draft->messages[message].is_hosts)
        ; /* nobody was asked */
    else if (f->has_content)
        s->requests[s->requests_count++] = f->docs_count;
    else
        f->draft->notes[WR_IMPORT_ANSWER_UNASKED]++;
    write_message(f, message);
    write_results(f, message);
    f->has_content = true;
}

static void place_compaction(struct finish *f, uint32_t number)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_compaction *c = &d->compactions[number];
    f->session->compactions[f->session->compactions_count++].at = f->docs_count;
    f->has_content = false;
    for (uint32_t i = 0; i < c->kept_count && !f->has_content; i++) {
        const struct wr_draft_message *m = &d->messages[d->kept[c->kept_first + i]];
        f->has_content = m->role != WEIR_ROLE_SYSTEM && !is_empty(m);
    }
}

static void write_log(struct finish *f)
{
    struct wr_draft *d = f->draft;
    for (uint32_t i = 0; i < d->messages_count; i++) {
        const struct wr_draft_message *m = &d->messages[i];
        if (m->role == WEIR_ROLE_NONE) {
            place_compaction(f, m->compaction);
        } else if (m->is_hidden || is_empty(m)) {
            continue;
        } else if (m->role == WEIR_ROLE_ASSISTANT) {
            write_finish_answer(f, i);
        } else {
            write_message(f, i);
            f->has_content |= m->role != WEIR_ROLE_SYSTEM;
        }
    }
    f->session->messages_count = f->docs_count;
}

/* ---- what compactions left ---- */

static bool is_cleared(const struct wr_draft_call *call, uint32_t compaction)
{
    return call->is_answered && call->cleared_by <= compaction;
}

/* Writes what the log's messages do not have: messages of its own, and cleared results. */
static uint32_t write_kept(struct finish *f, uint32_t compaction, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_message *m = &d->messages[message];
    uint32_t count = 1;

    if (is_empty(m))
        return 0;
    if (f->of_message[message] == WR_DRAFT_NONE) {
        write_message(f, message);
        write_results(f, message);
    }
    for (uint32_t c = m->first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        count += f->of_result[c] != WR_DRAFT_NONE;
        if (is_cleared(&d->calls[c], compaction) && f->of_cleared[c] == WR_DRAFT_NONE)
            f->of_cleared[c] = write_finish_result(f, &d->calls[c], wr_span_of(cleared_text));
    }
    return count;
}

static void write_compactions(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    for (uint32_t k = 0; k < d->compactions_count; k++) {
        const struct wr_draft_compaction *c = &d->compactions[k];
        for (uint32_t i = 0; i < c->kept_count; i++)
            f->session->compactions[k].kept_count += write_kept(f, k, d->kept[c->kept_first + i]);
    }
}

static void list_kept(const struct finish *f, const struct wr_json *docs, uint32_t compaction,
                      uint32_t message, struct wr_session_compaction *out)
{
    const struct wr_draft *d = f->draft;
    if (is_empty(&d->messages[message]))
        return;
    out->kept_thinks[out->kept_count] = d->messages[message].thinks;
    out->kept[out->kept_count++] = docs[f->of_message[message]];
    for (uint32_t c = d->messages[message].first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        if (f->of_result[c] == WR_DRAFT_NONE)
            continue;
        bool cleared = is_cleared(&d->calls[c], compaction);
        out->kept[out->kept_count++] = docs[cleared ? f->of_cleared[c] : f->of_result[c]];
    }
}

static weir_status list_compactions(struct finish *f, const struct wr_json *docs)
{
    const struct wr_draft *d = f->draft;
    for (uint32_t k = 0; k < d->compactions_count; k++) {
        const struct wr_draft_compaction *c = &d->compactions[k];
        struct wr_session_compaction *out = &f->session->compactions[k];
        out->kept = WR_ARENA_ARRAY(f->arena, struct wr_json, out->kept_count);
        out->kept_thinks = WR_ARENA_ARRAY(f->arena, bool, out->kept_count);
        if (!out->kept || !out->kept_thinks)
            return wr_arena_status(f->arena);
        out->kept_count = 0;
        for (uint32_t i = 0; i < c->kept_count; i++)
            list_kept(f, docs, k, d->kept[c->kept_first + i], out);
    }
    return WEIR_OK;
}

/* ---- the session ---- */

static weir_status copy_name(struct finish *f, weir_span name, weir_span *copy)
{
    *copy = wr_arena_copy(f->arena, name);
    return copy->ptr ? WEIR_OK : wr_arena_status(f->arena);
}

static weir_status name_model(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_model *most = NULL;
    for (uint32_t i = 0; i < d->models_count; i++)
        if (!most || d->models[i].count > most->count)
            most = &d->models[i];
    f->session->models_count = d->models_count;
    return most ? copy_name(f, most->name, &f->session->model) : WEIR_OK;
}

/* Reads what was written; the nodes and the one text of all messages live with the session. */
static weir_status read_docs(struct finish *f)
{
    struct wr_session *s = f->session;
    weir_span text = wr_arena_copy(f->arena, wr_buf_view(&f->text));
    struct wr_json *docs = WR_ARENA_ARRAY(f->arena, struct wr_json, f->docs_count);
    weir_status status = text.ptr && docs ? WEIR_OK : wr_arena_status(f->arena);

    for (uint32_t i = 0; i < f->docs_count && !status; i++) {
        weir_span one = wr_span_cut(text, f->docs[i].start, f->docs[i].end);
        status = wr_json_parse(&docs[i], f->arena, one, NULL, NULL);
        if (!status)
            status = wr_session_note_tools(s, &docs[i]);
    }
    if (status)
        return status;
    s->messages = docs;
    for (uint32_t i = 0; i < s->messages_count; i++) {
        s->thinks[i] = f->docs[i].thinks;
        s->times_ms[i] = f->docs[i].time_ms;
        s->has_times |= f->docs[i].time_ms != WR_SESSION_NO_TIME;
    }
    return list_compactions(f, docs);
}

static uint32_t *none_array(struct wr_arena *arena, uint32_t count)
{
    uint32_t *array = WR_ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; array && i < count; i++)
        array[i] = WR_DRAFT_NONE;
    return array;
}

static weir_status make_room(struct finish *f)
{
    struct wr_draft *d = f->draft;
    struct wr_session *s = f->session;
    /* A result can be written twice: as it came, and cleared. */
    f->docs = WR_ARENA_ARRAY(d->arena, struct doc, d->messages_count + 2 * (size_t)d->calls_count);
    f->of_message = none_array(d->arena, d->messages_count);
    f->of_result = none_array(d->arena, d->calls_count);
    f->of_cleared = none_array(d->arena, d->calls_count);
    if (!f->docs || !f->of_message || !f->of_result || !f->of_cleared)
        return wr_arena_status(d->arena);
    s->requests = WR_ARENA_ARRAY(f->arena, uint32_t, d->messages_count);
    s->times_ms = WR_ARENA_ARRAY(f->arena, int64_t, d->messages_count + (size_t)d->calls_count);
    s->thinks = WR_ARENA_ARRAY(f->arena, bool, d->messages_count + (size_t)d->calls_count);
    s->compactions = WR_ARENA_ARRAY(f->arena, struct wr_session_compaction, d->compactions_count);
    return s->requests && s->times_ms && s->thinks && s->compactions ? WEIR_OK
                                                                     : wr_arena_status(f->arena);
}

static void find_last_answer(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    f->last_answer = WR_DRAFT_NONE;
    for (uint32_t i = 0; i < d->messages_count; i++) {
        const struct wr_draft_message *m = &d->messages[i];
        if (m->role == WEIR_ROLE_ASSISTANT && !m->is_hidden && !is_empty(m))
            f->last_answer = i;
    }
}

weir_status wr_draft_finish(struct wr_draft *draft, struct wr_arena *arena,
                            struct wr_session *session)
{
    struct finish f = {.draft = draft, .arena = arena, .session = session};
    *session = (struct wr_session){.arena = arena};
    if (draft->status)
        return draft->status;
    weir_status status = make_room(&f);
    if (status)
        return status;
    wr_buf_init(&f.text, WR_ARENA_BYTES_MAX);
    find_last_answer(&f);
    write_log(&f);
    if (!session->requests_count) {
        draft->notes[WR_IMPORT_SESSION_EMPTY]++;
        status = WEIR_NOTFOUND;
    }
    if (!status) {
        write_compactions(&f);
        status = wr_buf_status(&f.text);
    }
    if (!status)
        status = read_docs(&f);
    if (!status)
        status = name_model(&f);
    wr_buf_release(&f.text);
    return status;
}
