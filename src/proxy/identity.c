#include "proxy/identity.h"

#include "api/api.h"
#include "base/hash.h"
#include "base/span.h"

/* "PREFIX:VALUE"; a value that is too long is hashed. */
static void set_name(struct wr_session_name *name, const char *prefix, weir_span value,
                     weir_span more)
{
    int bytes;
    if (value.len + more.len + strlen(prefix) + 3 < WR_SESSION_NAME_BYTES) {
        bytes = snprintf(name->text, sizeof(name->text), "%s:%.*s%s%.*s", prefix, (int)value.len,
                         value.ptr, more.len ? "/" : "", (int)more.len, more.len ? more.ptr : "");
    } else {
        wr_hash128 hash = wr_hash128_seeded(more, wr_hash128_of(value));
        bytes = snprintf(name->text, sizeof(name->text), "%s:#%016llx%016llx", prefix,
                         (unsigned long long)hash.high, (unsigned long long)hash.low);
    }
    name->len = (size_t)bytes;
}

void wr_identity_from_head(const struct wr_head *head, struct wr_session_name *name)
{
    static const struct {
        const char *header, *prefix, *more;
    } headers[] = {
        {"thread-id", "codex", NULL},
        {"conversation_id", "codex", NULL},
        {"session-id", "codex", NULL},
        {"session_id", "codex", NULL},
        {"x-claude-code-session-id", "claude", "x-claude-code-agent-id"},
        {"x-weir-session", "weir", NULL},
    };

    name->len = 0;
    for (size_t i = 0; i < WR_COUNT_OF(headers); i++) {
        weir_span value = wr_head_find(head, headers[i].header);
        weir_span more = {"", 0};
        if (!value.len)
            continue;
        if (headers[i].more && wr_head_find(head, headers[i].more).len)
            more = wr_head_find(head, headers[i].more);
        set_name(name, headers[i].prefix, value, more);
        return;
    }
}

/* ---- from the body ---- */

enum { KEY, METADATA, FIELDS_COUNT };

static void name_by_hash(const struct wr_json *doc, weir_span run, struct wr_session_name *name)
{
    wr_hash128 hash = wr_api_hash_beginning(doc);
    char text[40];

    int bytes = snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)hash.high,
                         (unsigned long long)hash.low);
    set_name(name, "hash", (weir_span){text, (size_t)bytes}, run);
}

/* Claude Code writes "user_X_account_Y_session_UUID", or JSON with a session_id in it. */
static bool name_by_user(const struct wr_json *doc, wr_json_id metadata, struct wr_arena *arena,
                         struct wr_session_name *name)
{
    wr_json_id id = wr_json_find(doc, metadata, "user_id");
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    weir_span text = wr_json_text(doc, arena, id);
    size_t at = text.ptr ? wr_span_find(text, WR_LIT("_session_"), 0) : SIZE_MAX;
    if (at != SIZE_MAX) {
        set_name(name, "claude", wr_span_cut(text, at + strlen("_session_"), text.len),
                 (weir_span){"", 0});
        return true;
    }
    struct wr_json inner;
    if (!text.ptr || wr_json_parse(&inner, arena, text, NULL, NULL))
        return false;
    wr_json_id session = wr_json_find(&inner, 0, "session_id");
    if (!wr_json_is(&inner, session, WR_JSON_STRING))
        return false;
    set_name(name, "claude", wr_json_inner(&inner, session), (weir_span){"", 0});
    return true;
}

void wr_identity_from_body(const struct wr_json *body, struct wr_arena *arena, weir_span before,
                           weir_span run, struct wr_session_name *name)
{
    static const char *const names[FIELDS_COUNT] = {"prompt_cache_key", "metadata"};
    wr_json_id fields[FIELDS_COUNT];

    (void)wr_json_pick(body, 0, names, FIELDS_COUNT, fields);
    if (wr_json_is(body, fields[KEY], WR_JSON_STRING) && wr_json_inner(body, fields[KEY]).len)
        set_name(name, "key", wr_json_inner(body, fields[KEY]), (weir_span){"", 0});
    else if (name_by_user(body, fields[METADATA], arena, name))
        return;
    else if (before.len && before.len < WR_SESSION_NAME_BYTES)
        name->len =
            (size_t)snprintf(name->text, sizeof(name->text), "%.*s", (int)before.len, before.ptr);
    else
        name_by_hash(body, run, name);
}
