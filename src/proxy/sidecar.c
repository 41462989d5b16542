/* Sessions over HTTP: one function for each row of the table in sidecar.h.
 *
 * A call opens its session, does one thing and closes it. That costs reading the journal each
 * time; in return workers share nothing, a restart loses nothing, and `weir agent` may use the
 * same session between two calls. The journal's own lock keeps two calls apart: a call waits for
 * it up to a second and is then answered 409.
 *
 * What a session was created with is in a file beside its journal and is read whenever it is
 * opened. Paths of this machine are cut out of error texts before a client sees them.
 */
#include "proxy/sidecar.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "proxy/pages.h"
#include "session/disk.h"
#include "session/journal.h"
#include "weir/session.h"

#define ROOT  "/weir/v1/sessions"
#define TAKEN "there is a session of this id; append to it"

enum { LOCK_TRIES = 40, LOCK_NAP_MS = 25, ID_BYTES_MAX = 128 };

struct call {
    struct wr_sidecar *sidecar;
    struct wr_sidecar_call *in;
    struct wr_arena arena;
    struct wr_json doc; /* the body; an empty object where there is none */
    struct wr_json_writer w;
    struct wr_buf *answer;
    char folder[WR_SESSION_PATH_BYTES_MAX]; /* of the tenant's sessions */
    char dir[WR_SESSION_PATH_BYTES_MAX];    /* of this one */
    char id[ID_BYTES_MAX + 1];
    struct weir_session *session;
    struct wr_buf settings; /* what it was created with */
};

bool wr_sidecar_is(weir_span path)
{
    return wr_span_is(path, ROOT) || wr_span_starts(path, WR_LIT(ROOT "/"));
}

/* ---- answers ---- */

static int say_error(struct call *c, int status, const char *text)
{
    wr_buf_reset(c->answer);
    wr_json_write_init(&c->w, c->answer);
    wr_json_write_object(&c->w);
    wr_json_write_key(&c->w, "error");
    wr_json_write_object(&c->w);
    wr_json_member_word(&c->w, "message", text);
    wr_json_write_object_end(&c->w);
    wr_json_write_object_end(&c->w);
    return status;
}

/* A client must not learn where the store is on this machine's disk: the store's folder is cut out
 * of `text`, even if the text was truncated in the middle of it. */
static void hide_folder(const struct call *c, char *text)
{
    size_t folder_bytes = strlen(c->sidecar->dir), to = 0;

    for (size_t from = 0; text[from];) {
        size_t same = 0;
        while (text[from + same] && text[from + same] == c->sidecar->dir[same])
            same++;
        bool is_cut = same > 1 && !text[from + same];
        if (folder_bytes && (same == folder_bytes || is_cut)) {
            from += same;
            from += text[from] == '/';
        } else {
            text[to++] = text[from++];
        }
    }
    text[to] = '\0';
}

static int say_failure(struct call *c, weir_status status, const char *said)
{
    char text[WEIR_ERR_TEXT_BYTES + 96];

    (void)snprintf(text, sizeof(text), "%s", said);
    hide_folder(c, text);
    switch (status) {
    case WEIR_NOTFOUND:
        return say_error(c, 404, text);
    case WEIR_LIMIT:
        return say_error(c, 429, text);
    case WEIR_NOMEM:
        return say_error(c, 503, text);
    case WEIR_IO:
        return say_error(c, 409, text);
    default:
        return say_error(c, 400, text);
    }
}

static int say_status(struct call *c, weir_status status, const struct weir_err *err)
{
    return say_failure(c, status, err->text[0] ? err->text : weir_status_text(status));
}

static void put_bool(struct call *c, const char *key, bool value)
{
    wr_json_member_bool(&c->w, key, value);
}

/* ---- what is asked ---- */

static weir_span member_text(struct call *c, const struct wr_json *doc, wr_json_id object,
                             const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    weir_span text = {"", 0};
    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, &c->arena, id);
    return text.ptr ? text : (weir_span){"", 0};
}

static const char *string_of(struct call *c, const struct wr_json *doc, wr_json_id object,
                             const char *key)
{
    weir_span text = member_text(c, doc, object, key);
    if (!text.len || memchr(text.ptr, '\0', text.len))
        return NULL;
    return wr_arena_string(&c->arena, text);
}

static uint64_t number_of(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    int64_t number = 0;
    if (id == WR_JSON_NONE || !wr_json_i64(doc, id, &number) || number < 0)
        return 0;
    return (uint64_t)number;
}

static bool bool_of(const struct wr_json *doc, wr_json_id object, const char *key)
{
    return wr_json_is(doc, wr_json_find(doc, object, key), WR_JSON_TRUE);
}

#define CREATE_MEMBERS "id model system tools config window_tokens"
#define EVENT_MEMBERS                                                                 \
    "kind text dialect body calls call_id is_error model window_tokens input_tokens " \
    "cache_read_tokens cache_write_tokens output_tokens"

/* The first member whose name is not in `known`, a list with blanks between; NULL: all are known. A
 * misspelt name must not be ignored without a word. */
static const char *unknown_member(struct call *c, wr_json_id object, const char *known)
{
    for (wr_json_id at = wr_json_first(&c->doc, object); at != WR_JSON_NONE;
         at = wr_json_next(&c->doc, object, at)) {
        weir_span name = wr_json_text(&c->doc, &c->arena, at);
        const char *word = known;
        bool is_known = false;
        while (*word && !is_known) {
            size_t bytes = strcspn(word, " ");
            is_known = name.len == bytes && !memcmp(name.ptr, word, bytes);
            word += bytes + (word[bytes] == ' ');
        }
        char *text = is_known ? NULL : wr_arena_zalloc(&c->arena, name.len + 1);
        if (!is_known)
            return text && name.len ? memcpy(text, name.ptr, name.len) : "";
    }
    return NULL;
}

static int say_unknown(struct call *c, const char *member, const char *known)
{
    char text[512];
    (void)snprintf(text, sizeof(text), "there is no member \"%.64s\" here: %s", member,
                   known[0] ? known : "the body is empty");
    return say_error(c, 400, text);
}

static bool dialect_of(struct call *c, wr_json_id object, weir_dialect *dialect)
{
    const struct wr_api *api = wr_api_named(member_text(c, &c->doc, object, "dialect"));
    if (api)
        *dialect = api->dialect;
    return api;
}

/* ---- places ---- */

/* Those of `local` are the ones that `weir agent` has. */
static bool find_folder(struct call *c)
{
    bool is_local = wr_span_is(c->in->tenant, "local");
    int bytes = snprintf(c->folder, sizeof(c->folder), "%s/%s%.*s%ssessions", c->sidecar->dir,
                         is_local ? "" : "tenants/", is_local ? 0 : (int)c->in->tenant.len,
                         c->in->tenant.ptr, is_local ? "" : "/");
    return bytes > 0 && (size_t)bytes < sizeof(c->folder) &&
           (is_local || wr_disk_name_is_good(c->in->tenant));
}

static bool set_id(struct call *c, weir_span id)
{
    if (!id.len || id.len > ID_BYTES_MAX || !wr_disk_name_is_good(id))
        return false;
    (void)snprintf(c->id, sizeof(c->id), "%.*s", (int)id.len, id.ptr);
    return !wr_disk_join(c->dir, c->folder, c->id, NULL);
}

static void nap_for_lock(void)
{
    struct timespec time = {.tv_nsec = LOCK_NAP_MS * 1000000L};
    (void)nanosleep(&time, NULL);
}

/* A session that somebody else has open is closed soon, if that is another call. */
static weir_status open_waiting(struct call *c, struct weir_session_options *options,
                                struct weir_err *err)
{
    weir_status status = WEIR_IO;
    for (int i = 0; i < LOCK_TRIES && status == WEIR_IO; i++) {
        if (i)
            nap_for_lock();
        *err = (struct weir_err){0};
        status = weir_session_open(options, &c->session, err);
    }
    return status;
}

/* ---- what a session was created with ---- */

static weir_status set_tools(struct call *c, const struct wr_json *doc, struct weir_err *err)
{
    wr_json_id list = wr_json_find(doc, 0, "tools");
    struct weir_tool *tools =
        WR_ARENA_ARRAY(&c->arena, struct weir_tool,
                       wr_json_is(doc, list, WR_JSON_ARRAY) ? wr_json_count(doc, list) : 0);
    size_t count = 0;

    if (!tools)
        return WEIR_NOMEM;
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id schema = wr_json_find(doc, at, "schema");
        tools[count++] = (struct weir_tool){
            member_text(c, doc, at, "name"), member_text(c, doc, at, "description"),
            schema == WR_JSON_NONE ? (weir_span){"", 0} : wr_json_raw(doc, schema)};
    }
    return weir_session_set_tools(c->session, tools, count, err);
}

static weir_status apply_settings(struct call *c, const struct wr_json *doc, struct weir_err *err)
{
    weir_span system = member_text(c, doc, 0, "system");
    weir_status status = set_tools(c, doc, err); /* first: what is wrong with them writes nothing */

    if (!status && system.len)
        status = weir_session_set_prompt(c->session, system, c->in->now_ms, err);
    return status;
}

static weir_status open_with(struct call *c, const struct wr_json *doc, bool must_exist,
                             struct weir_err *err)
{
    struct weir_session_options options = {.dir = c->dir,
                                           .name = c->id,
                                           .config = member_text(c, doc, 0, "config"),
                                           .model =
                                               must_exist ? NULL : string_of(c, doc, 0, "model"),
                                           .store = c->sidecar->store,
                                           .host = c->sidecar->host,
                                           .tenant = c->in->tenant,
                                           .now_ms = c->in->now_ms,
                                           .must_exist = must_exist};
    weir_status status = open_waiting(c, &options, err);
    if (!status && !must_exist && weir_session_opened(c->session)->events_count)
        return wr_fail(err, WEIR_IO, 0, TAKEN); /* by another process, just now */
    return status ? status : apply_settings(c, doc, err);
}

static weir_status open_existing(struct call *c, struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_json doc;
    weir_span text = WR_LIT("{}");

    wr_buf_init(&c->settings, WR_SIDECAR_BODY_BYTES_MAX);
    if (!wr_disk_join(path, c->dir, "sidecar.json", NULL) &&
        !wr_disk_read(path, &c->settings, NULL))
        text = wr_buf_view(&c->settings);
    weir_status status = wr_json_parse(&doc, &c->arena, text, NULL, err);
    return status ? status : open_with(c, &doc, true, err);
}

/* ---- the calls ---- */

static void begin_answer(struct call *c)
{
    wr_json_write_init(&c->w, c->answer);
    wr_json_write_object(&c->w);
}

static int end_answer(struct call *c, int status)
{
    wr_json_write_object_end(&c->w);
    wr_buf_byte(c->answer, '\n');
    return wr_buf_status(c->answer) ? 503 : status;
}

static bool make_id(struct call *c)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[12];
    char name[2 * sizeof(bytes) + 1];
    FILE *random = fopen("/dev/urandom", "rb");
    bool ok = random && fread(bytes, 1, sizeof(bytes), random) == sizeof(bytes);

    if (random)
        (void)fclose(random);
    for (size_t i = 0; ok && i < sizeof(bytes); i++) {
        name[2 * i] = digits[bytes[i] >> 4];
        name[2 * i + 1] = digits[bytes[i] & 15];
    }
    name[sizeof(name) - 1] = '\0';
    return ok && set_id(c, wr_span_of(name));
}

/* Asked before it is opened: opening one with a model and a prompt would change it. */
static bool has_journal(const char *journal)
{
    struct stat info;
    return !stat(journal, &info) && info.st_size > 0;
}

static weir_status make_journal(struct call *c, uint64_t window, struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    weir_status status = open_with(c, &c->doc, false, err);

    if (!status && window)
        status = weir_session_switch_model(c->session, weir_session_model(c->session),
                                           (uint32_t)window, c->in->now_ms, err);
    if (!status)
        status = wr_disk_join(path, c->dir, "sidecar.json", err);
    return status ? status : wr_disk_replace(path, c->doc.text, err);
}

static int create_session(struct call *c)
{
    char journal[WR_SESSION_PATH_BYTES_MAX];
    struct weir_err err = {0};
    weir_span id = member_text(c, &c->doc, 0, "id");
    uint64_t window = number_of(&c->doc, 0, "window_tokens");
    const char *unknown = unknown_member(c, 0, CREATE_MEMBERS);

    if (unknown)
        return say_unknown(c, unknown, CREATE_MEMBERS);
    if (id.len ? !set_id(c, id) : !make_id(c))
        return say_error(c, 400, "an id has letters, digits, '-', '_' and '.', 128 at most");
    if (window > WR_MODEL_TOKENS_MAX)
        return say_error(c, 400, "\"window_tokens\" is larger than any window");
    weir_status status = wr_disk_join(journal, c->dir, WR_JOURNAL_FILE, &err);
    if (!status && has_journal(journal))
        return say_error(c, 409, TAKEN);
    if (!status)
        status = make_journal(c, window, &err);
    if (status && c->session && !weir_session_opened(c->session)->events_count)
        (void)unlink(journal); /* what was begun can be created again */
    if (status)
        return say_status(c, status, &err);
    begin_answer(c);
    wr_json_member_text(&c->w, "id", wr_span_of(c->id));
    wr_json_member_text(&c->w, "model", wr_span_of(weir_session_model(c->session)));
    return end_answer(c, 201);
}

static int list_sessions(struct call *c)
{
    struct dirent **names;
    int count = scandir(c->folder, &names, NULL, alphasort);

    begin_answer(c);
    wr_json_write_key(&c->w, "sessions");
    wr_json_write_array(&c->w);
    for (int i = 0; i < count; i++) {
        if (wr_disk_name_is_good(wr_span_of(names[i]->d_name)))
            wr_json_write_text(&c->w, wr_span_of(names[i]->d_name));
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    wr_json_write_array_end(&c->w);
    return end_answer(c, 200);
}

static weir_status append_answer(struct call *c, wr_json_id event, struct weir_err *err)
{
    wr_json_id body = wr_json_find(&c->doc, event, "body");
    weir_dialect dialect;

    if (body != WR_JSON_NONE) {
        if (!dialect_of(c, event, &dialect))
            return wr_fail(err, WEIR_INVALID, 0, "dialect is " WR_API_NAMES);
        return weir_session_answer_body(c->session, dialect, wr_json_raw(&c->doc, body),
                                        c->in->now_ms, err);
    }
    wr_json_id calls = wr_json_find(&c->doc, event, "calls");
    size_t count = wr_json_is(&c->doc, calls, WR_JSON_ARRAY) ? wr_json_count(&c->doc, calls) : 0;
    struct weir_call *list_of = WR_ARENA_ARRAY(&c->arena, struct weir_call, count);
    struct weir_answer answer = {.text = member_text(c, &c->doc, event, "text"), .calls = list_of};
    if (!list_of)
        return WEIR_NOMEM;
    for (wr_json_id at = count ? wr_json_first(&c->doc, calls) : WR_JSON_NONE; at != WR_JSON_NONE;
         at = wr_json_next(&c->doc, calls, at))
        list_of[answer.calls_count++] = (struct weir_call){
            member_text(c, &c->doc, at, "id"), member_text(c, &c->doc, at, "name"),
            member_text(c, &c->doc, at, "arguments")};
    return weir_session_answer(c->session, &answer, c->in->now_ms, err);
}

static weir_status append_model(struct call *c, wr_json_id event, struct weir_err *err)
{
    const char *model = string_of(c, &c->doc, event, "model");
    uint64_t window = number_of(&c->doc, event, "window_tokens");
    if (!model)
        return wr_fail(err, WEIR_INVALID, 0, "model is missing");
    if (window > WR_MODEL_TOKENS_MAX)
        return wr_fail(err, WEIR_INVALID, 0, "window_tokens is larger than any window");
    return weir_session_switch_model(c->session, model, (uint32_t)window, c->in->now_ms, err);
}

static weir_status append_usage(struct call *c, wr_json_id event, struct weir_err *err)
{
    struct weir_session_usage usage = {number_of(&c->doc, event, "input_tokens"),
                                       number_of(&c->doc, event, "cache_read_tokens"),
                                       number_of(&c->doc, event, "cache_write_tokens"),
                                       number_of(&c->doc, event, "output_tokens")};
    return weir_session_add_usage(c->session, &usage, c->in->now_ms, err);
}

static weir_status append_refused(struct call *c, wr_json_id event)
{
    wr_json_id body = wr_json_find(&c->doc, event, "body");
    if (body != WR_JSON_NONE)
        (void)weir_session_refused(c->session, wr_json_raw(&c->doc, body), c->in->now_ms);
    return WEIR_OK;
}

static weir_status append_one(struct call *c, wr_json_id event, struct weir_err *err)
{
    weir_span kind = member_text(c, &c->doc, event, "kind"),
              text = member_text(c, &c->doc, event, "text");
    struct weir_session *s = c->session;
    int64_t now_ms = c->in->now_ms;
    const char *unknown = unknown_member(c, event, EVENT_MEMBERS);

    if (unknown)
        return wr_fail(err, WEIR_INVALID, 0, "an event has no \"%.64s\"", unknown);
    if (wr_span_is(kind, "user"))
        return weir_session_say(s, text, now_ms, err);
    if (wr_span_is(kind, "steer"))
        return weir_session_steer(s, text, now_ms, err);
    if (wr_span_is(kind, "system"))
        return weir_session_set_prompt(s, text, now_ms, err);
    if (wr_span_is(kind, "note"))
        return weir_session_note(s, text, now_ms, err);
    if (wr_span_is(kind, "assistant"))
        return append_answer(c, event, err);
    if (wr_span_is(kind, "result"))
        return weir_session_result(s, member_text(c, &c->doc, event, "call_id"), text,
                                   bool_of(&c->doc, event, "is_error"), now_ms, err);
    if (wr_span_is(kind, "abort"))
        return weir_session_abort(s, text, now_ms, err);
    if (wr_span_is(kind, "model"))
        return append_model(c, event, err);
    if (wr_span_is(kind, "usage"))
        return append_usage(c, event, err);
    if (wr_span_is(kind, "refused"))
        return append_refused(c, event);
    return wr_fail(err, WEIR_INVALID, 0, "'%.*s' is no kind of event", (int)kind.len, kind.ptr);
}

static void put_pending(struct call *c)
{
    const struct weir_call *calls;
    size_t count = weir_session_pending(c->session, &calls);

    wr_json_write_key(&c->w, "pending");
    wr_json_write_array(&c->w);
    for (size_t i = 0; i < count; i++) {
        wr_json_write_object(&c->w);
        wr_json_member_text(&c->w, "id", calls[i].id);
        wr_json_member_text(&c->w, "name", calls[i].name);
        wr_json_member_text(&c->w, "arguments", calls[i].arguments);
        wr_json_write_object_end(&c->w);
    }
    wr_json_write_array_end(&c->w);
}

static int append_events(struct call *c)
{
    wr_json_id events = wr_json_find(&c->doc, 0, "events");
    uint64_t appended = 0;
    struct weir_err err = {0};

    if (!wr_json_is(&c->doc, events, WR_JSON_ARRAY))
        return say_error(c, 400, "\"events\" is missing: a list of objects with a \"kind\"");
    for (wr_json_id at = wr_json_first(&c->doc, events); at != WR_JSON_NONE;
         at = wr_json_next(&c->doc, events, at), appended++) {
        weir_status status = append_one(c, at, &err);
        char text[WEIR_ERR_TEXT_BYTES + 96];
        if (!status)
            continue;
        (void)snprintf(text, sizeof(text), "event %llu: %s; %llu before it were appended",
                       (unsigned long long)appended,
                       err.text[0] ? err.text : weir_status_text(status),
                       (unsigned long long)appended);
        return say_failure(c, status, text);
    }
    begin_answer(c);
    wr_json_member_number(&c->w, "appended", appended);
    wr_json_member_number(&c->w, "last_event", weir_session_last_event(c->session));
    put_pending(c);
    return end_answer(c, 200);
}

static int render_request(struct call *c)
{
    struct weir_session_want want = {.now_ms = c->in->now_ms,
                                     .context = member_text(c, &c->doc, 0, "context"),
                                     .extra = member_text(c, &c->doc, 0, "extra"),
                                     .is_preview = bool_of(&c->doc, 0, "preview")};
    struct weir_session_turn turn;
    struct weir_err err = {0};

    if (!dialect_of(c, 0, &want.dialect))
        return say_error(c, 400, "\"dialect\" is " WR_API_NAMES);
    weir_status status = weir_session_request(c->session, &want, &turn, &err);
    if (status)
        return say_status(c, status, &err);
    begin_answer(c);
    wr_json_member_number(&c->w, "tokens_before", turn.tokens_before);
    wr_json_member_number(&c->w, "tokens_after", turn.tokens_after);
    wr_json_member_number(&c->w, "window_tokens", turn.window_tokens);
    put_bool(c, "is_changed", turn.is_changed);
    put_bool(c, "is_step", turn.is_step);
    put_bool(c, "is_compacted", turn.is_compacted);
    if (turn.step_reason)
        wr_json_member_text(&c->w, "step_reason", wr_span_of(turn.step_reason));
    wr_json_write_key(&c->w, "body");
    wr_json_write_raw(&c->w, turn.body);
    return end_answer(c, 200);
}

static int compact_session(struct call *c)
{
    struct weir_compacted done = {0};
    struct weir_err err = {0};
    weir_status status = weir_session_compact(c->session, "asked", c->in->now_ms, &done, &err);

    if (status)
        return say_status(c, status, &err);
    begin_answer(c);
    put_bool(c, "is_taken", done.is_taken);
    wr_json_member_number(&c->w, "tokens_before", done.tokens_before);
    wr_json_member_number(&c->w, "tokens_after", done.tokens_after);
    wr_json_member_number(&c->w, "messages", done.messages_count);
    if (done.path.len)
        wr_json_member_text(&c->w, "path", done.path);
    return end_answer(c, 200);
}

static int show_context(struct call *c)
{
    struct weir_session_context x = {0};

    weir_session_context(c->session, &x);
    begin_answer(c);
    wr_json_member_number(&c->w, "system_tokens", x.system_tokens);
    wr_json_member_number(&c->w, "tools_tokens", x.tools_tokens);
    wr_json_member_number(&c->w, "user_tokens", x.user_tokens);
    wr_json_member_number(&c->w, "assistant_tokens", x.assistant_tokens);
    wr_json_member_number(&c->w, "calls_tokens", x.calls_tokens);
    wr_json_member_number(&c->w, "results_tokens", x.results_tokens);
    wr_json_member_number(&c->w, "summary_tokens", x.summary_tokens);
    wr_json_member_number(&c->w, "total_tokens", x.total_tokens);
    wr_json_member_number(&c->w, "window_tokens", x.window_tokens);
    wr_json_member_number(&c->w, "usable_tokens", x.usable_tokens);
    wr_json_member_number(&c->w, "used_tokens", x.used_tokens);
    wr_json_member_number(&c->w, "used_percent", x.used_percent);
    wr_json_member_number(&c->w, "last_input_tokens", x.last_input_tokens);
    wr_json_member_number(&c->w, "clear_at_tokens", x.clear_at_tokens);
    wr_json_member_number(&c->w, "summarise_at_tokens", x.summarise_at_tokens);
    wr_json_member_number(&c->w, "messages", x.messages_count);
    wr_json_member_number(&c->w, "messages_max", x.messages_max);
    wr_json_member_number(&c->w, "messages_omitted", x.messages_omitted);
    return end_answer(c, 200);
}

/* ---- which call ---- */

static const struct {
    const char *verb, *method;
    int (*run)(struct call *c);
    const char *members; /* of the body */
} verbs[] = {{"events", "POST", append_events, "events"},
             {"render", "POST", render_request, "dialect context extra preview"},
             {"compact", "POST", compact_session, ""},
             {"context", "GET", show_context, ""}};

static int refuse_method(struct call *c, const char *allow)
{
    c->in->allow = allow;
    return say_error(c, 405, "this path has another method");
}

static int on_session(struct call *c, weir_span rest)
{
    const char *slash = memchr(rest.ptr, '/', rest.len);
    struct weir_err err = {0};

    if (!slash || !set_id(c, wr_span_cut(rest, 0, (size_t)(slash - rest.ptr))))
        return say_error(c, 404, "there is nothing at this path: " ROOT "/ID/VERB");
    weir_span verb = wr_span_cut(rest, (size_t)(slash - rest.ptr) + 1, rest.len);
    for (size_t i = 0; i < WR_COUNT_OF(verbs); i++) {
        if (!wr_span_is(verb, verbs[i].verb))
            continue;
        if (!wr_span_is(c->in->method, verbs[i].method))
            return refuse_method(c, verbs[i].method);
        const char *unknown = unknown_member(c, 0, verbs[i].members);
        if (unknown)
            return say_unknown(c, unknown, verbs[i].members);
        weir_status status = open_existing(c, &err);
        return status ? say_status(c, status, &err) : verbs[i].run(c);
    }
    return say_error(c, 404, "the verbs are events, render, compact and context");
}

static int find_verb(struct call *c)
{
    weir_span rest = wr_span_cut(c->in->path, sizeof(ROOT) - 1, c->in->path.len);
    bool is_post = wr_span_is(c->in->method, "POST");
    struct weir_err err = {0};
    char text[WEIR_ERR_TEXT_BYTES + 32];

    if (!find_folder(c))
        return say_error(c, 400, "this tenant can have no sessions here");
    weir_span body = wr_span_trim(c->in->body).len ? c->in->body : WR_LIT("{}");
    if (wr_json_parse(&c->doc, &c->arena, body, NULL, &err) ||
        !wr_json_is(&c->doc, 0, WR_JSON_OBJECT)) {
        (void)snprintf(text, sizeof(text), "the body is no JSON object: %s", err.text);
        return say_error(c, 400, text);
    }
    if (rest.len > 1)
        return on_session(c, wr_span_cut(rest, 1, rest.len));
    if (is_post)
        return create_session(c);
    return wr_span_is(c->in->method, "GET") ? list_sessions(c) : refuse_method(c, "GET, POST");
}

int wr_sidecar_answer(struct wr_sidecar *sidecar, struct wr_sidecar_call *in, struct wr_buf *answer)
{
    struct call c = {.sidecar = sidecar, .in = in, .answer = answer};

    wr_arena_init(&c.arena, WR_ARENA_BYTES_MAX);
    int status = find_verb(&c);
    weir_session_close(c.session);
    wr_buf_release(&c.settings);
    wr_arena_release(&c.arena);
    return status;
}

/* ---- on the server ---- */

struct wr_sidecar_page {
    struct wr_page_desk desk;
    const struct wr_config *config;
    struct wr_sidecar sidecar; /* its store is opened by the first call, under the desk's lock */
};

/* On a thread. Without a store nothing is taken out of requests, and sessions work all the same. */
static void answer_call(struct wr_page_call *call)
{
    struct wr_sidecar_page *page = call->desk->user;
    struct wr_sidecar_call in = {.tenant = wr_span_of(call->tenant),
                                 .method = call->method,
                                 .path = wr_target_path(call->target),
                                 .body = wr_buf_view(&call->body),
                                 .now_ms = wr_clock_ms()};

    if (!page->sidecar.store &&
        weir_store_open(page->config->store_dir, NULL, &page->sidecar.store, NULL, NULL))
        page->sidecar.store = NULL;
    if (!page->sidecar.host && weir_session_host_new(&page->sidecar.host, NULL))
        page->sidecar.host = NULL; /* each session has its own then */
    call->status = wr_sidecar_answer(&page->sidecar, &in, &call->answer);
    call->allow = in.allow;
}

struct wr_sidecar_page *wr_sidecar_page_new(uv_loop_t *loop, const struct wr_config *config)
{
    struct wr_sidecar_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    *page = (struct wr_sidecar_page){.config = config,
                                     .sidecar = {.dir = config->store_dir},
                                     .desk = {.calls_max = WR_SIDECAR_CALLS_MAX,
                                              .body_bytes_max = WR_SIDECAR_BODY_BYTES_MAX,
                                              .answer_bytes_max = WR_SIDECAR_ANSWER_BYTES_MAX,
                                              .work = answer_call,
                                              .user = page}};
    if (wr_page_desk_init(&page->desk, loop))
        return page;
    free(page);
    return NULL;
}

void wr_sidecar_page_free(struct wr_sidecar_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    weir_store_close(page->sidecar.store);
    weir_session_host_free(page->sidecar.host);
    free(page);
}

bool wr_sidecar_page_is(weir_span target)
{
    return wr_sidecar_is(wr_target_path(target));
}

void *wr_sidecar_page_begin(struct wr_sidecar_page *page, struct wr_conn *conn,
                            const struct wr_head *head, const struct wr_entry *entry)
{
    if (!page->config->store_dir) {
        wr_page_error(conn, NULL, 503, "there is no store to keep sessions in");
        return NULL;
    }
    return wr_page_call_begin(&page->desk, conn, head, entry);
}
