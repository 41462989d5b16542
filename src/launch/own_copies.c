/* Copies of settings files in which every address leads through Weir, for agents that take an
 * address from nowhere else but let a run name another file.
 *
 *   droid   {"customModels": [{"baseUrl": URL, ...}, ...]}
 *           the copy has this member alone: droid merges it over the user's
 *   cline   {"lastUsedProvider": NAME, "providers": {NAME: {"settings": {"baseUrl": URL, ...}}}}
 *           the copy is whole: cline reads it in the place of the user's
 *
 * A copy is kept as pieces of the user's own bytes with addresses between them: the server's
 * address is not known yet while settings are read. It has the keys that stand in the user's file,
 * and goes into the run's folder, which only the user can read and which goes when the agent ends.
 *
 * A login that is renewed now and then is written back by the agent. In a copy the new one would be
 * lost and the old one no longer valid, so a file that has one is not copied (holds_login()).
 */
#include "launch/own_settings.h"

#include "base/span.h"
#include "json/json.h"

enum { NAME_BYTES_MAX = 128 };

/* The copy grows from the front: `at` is the first byte of the file that is in no piece yet. */
struct copying {
    struct wr_own *own;
    struct wr_arena *arena;
    const struct wr_json *doc;
    const char *at;
};

static bool add_piece(struct copying *c, const char *end, const char *address)
{
    if (c->own->pieces_count == WR_COUNT_OF(c->own->pieces) || (!address && end == c->at))
        return false;
    c->own->pieces[c->own->pieces_count++] =
        (struct wr_own_piece){{c->at, (size_t)(end - c->at)}, address};
    c->at = end;
    return true;
}

static bool add_words(struct copying *c, const char *words)
{
    const char *rest = c->at;
    c->at = words;
    bool ok = add_piece(c, words + strlen(words), NULL);
    c->at = rest;
    return ok;
}

/* In a copy that is cut short some would lead elsewhere. */
static void give_up(struct copying *c)
{
    c->own->is_redirected = false;
    c->own->refusal = "its settings name more addresses than can be redirected";
}

static const char *address_of(struct copying *c, const char *name)
{
    size_t bytes = strlen("/p/") + strlen(name) + 1;
    char *address = wr_arena_alloc(c->arena, bytes);
    if (address)
        (void)snprintf(address, bytes, "/p/%s", name);
    return address;
}

/* The address in `settings`, if it is one, becomes that of the upstream `name`. */
static void redirect(struct copying *c, wr_json_id settings, const char *name)
{
    wr_json_id url = wr_json_find(c->doc, settings, "baseUrl");

    if (!wr_json_is(c->doc, url, WR_JSON_STRING) ||
        !wr_own_add_upstream(c->own, c->arena, wr_span_of(name),
                             wr_json_text(c->doc, c->arena, url)))
        return;
    const char *address = address_of(c, name);
    weir_span inner = wr_json_inner(c->doc, url);
    if (address && add_piece(c, inner.ptr, address)) {
        c->at = inner.ptr + inner.len;
        c->own->is_redirected = true;
    }
}

/* ---- droid ---- */

static void copy_droid(struct copying *c)
{
    wr_json_id list = wr_json_find(c->doc, 0, "customModels");
    char name[NAME_BYTES_MAX];
    unsigned number = 0;

    if (!wr_json_is(c->doc, list, WR_JSON_ARRAY))
        return;
    weir_span all = wr_json_raw(c->doc, list);
    c->at = all.ptr;
    if (!add_words(c, "{\"customModels\":"))
        return;
    for (wr_json_id at = wr_json_first(c->doc, list); at != WR_JSON_NONE;
         at = wr_json_next(c->doc, list, at)) {
        (void)snprintf(name, sizeof(name), "custom-model-%u", ++number);
        redirect(c, at, name);
    }
    if (!add_piece(c, all.ptr + all.len, NULL) || !add_words(c, "}\n"))
        give_up(c);
}

/* ---- cline ---- */

static bool holds_login(const struct wr_json *doc)
{
    return wr_span_find(doc->text, WR_LIT("\"refreshToken\""), 0) != SIZE_MAX;
}

/* Providers that have an address without being told one; it ends as their SDKs want it. */
static bool is_usual(weir_span name)
{
    return wr_span_is(name, "anthropic") || wr_span_is(name, "openai-native");
}

static void redirect_provider(struct copying *c, weir_span name, wr_json_id settings)
{
    char text[NAME_BYTES_MAX];

    if (name.len >= sizeof(text) || !wr_json_is(c->doc, settings, WR_JSON_OBJECT))
        return;
    (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
    if (wr_json_find(c->doc, settings, "baseUrl") != WR_JSON_NONE) {
        redirect(c, settings, text);
    } else if (is_usual(name)) {
        /* Right behind the brace; an empty object has no provider's name and is not used. */
        if (wr_json_first(c->doc, settings) != WR_JSON_NONE &&
            add_piece(c, wr_json_raw(c->doc, settings).ptr + 1, NULL) &&
            add_words(c, "\"baseUrl\":\"")) {
            c->own->pieces[c->own->pieces_count - 1].address = "/v1";
            c->own->is_redirected = add_words(c, "\",");
        }
    }
}

static void copy_cline(struct copying *c)
{
    wr_json_id list = wr_json_find(c->doc, 0, "providers");
    wr_json_id last = wr_json_find(c->doc, 0, "lastUsedProvider");
    weir_span used = wr_json_is(c->doc, last, WR_JSON_STRING) ? wr_json_text(c->doc, c->arena, last)
                                                              : (weir_span){"", 0};
    bool is_reached = !used.len || wr_span_is(used, "cline");

    for (wr_json_id at = wr_json_first(c->doc, list); at != WR_JSON_NONE && !holds_login(c->doc);
         at = wr_json_next(c->doc, list, at)) {
        weir_span name = wr_json_text(c->doc, c->arena, at);
        size_t before = c->own->pieces_count;
        redirect_provider(c, name, wr_json_find(c->doc, wr_json_value(at), "settings"));
        if (c->own->pieces_count > before && wr_span_eq(name, used))
            is_reached = true;
    }
    if (c->own->is_redirected && !add_piece(c, c->doc->text.ptr + c->doc->text.len, NULL))
        give_up(c);
    else if (!is_reached)
        c->own->refusal = "the provider that its providers.json names last has an address that "
                          "cannot be redirected; `cline auth` with an API key makes one that can";
}

void wr_own_copy(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                 weir_span text)
{
    struct wr_json doc;
    struct copying c = {.own = own, .arena = arena, .doc = &doc};

    if (wr_own_parse(&doc, arena, text, NULL))
        return;
    c.at = doc.text.ptr;
    if (format == WR_OWN_DROID)
        copy_droid(&c);
    else
        copy_cline(&c);
}
