/* What several commands open: the store, its ledger, models, policies, a meter. Each says itself
 * what went wrong, so that a command has nothing left to do but to end. */
#include "cli/open.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "ledger/context.h"
#include "store/store.h"

enum { PATH_BYTES_MAX = 4096, SECOND_MS = 1000, SESSIONS_LISTED = 100 };

/* ---- values ---- */

void wr_list_policies(wr_word_fn *each, void *user)
{
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        each(user, wr_policy_at(i)->name, wr_policy_at(i)->what);
}

void wr_list_models(wr_word_fn *each, void *user)
{
    struct wr_models *models;

    if (wr_models_new(&models, NULL, NULL))
        return;
    for (uint32_t i = 0; i < wr_models_count(models); i++) {
        char name[WR_MODEL_NAME_BYTES_MAX + 1];
        weir_span id = wr_models_at(models, i)->id;
        (void)snprintf(name, sizeof(name), "%.*s", (int)id.len, id.ptr);
        each(user, name, "");
    }
    wr_models_free(models);
}

struct session_words {
    wr_word_fn *each;
    void *user;
    struct wr_buf name, what;
    size_t count;
};

static weir_status give_session(void *user, const struct wr_ledger_session *session)
{
    struct session_words *w = user;
    size_t colon = wr_span_find(session->session, WR_LIT(":"), 0);

    if (w->count++ >= SESSIONS_LISTED)
        return WEIR_OK;
    wr_buf_reset(&w->name);
    wr_buf_reset(&w->what);
    wr_session_put_short(&w->name, session->session);
    wr_buf_byte(&w->name, '\0');
    wr_buf_printf(&w->what, "%.*s, %s requests, ", (int)session->model.len, session->model.ptr,
                  WR_GROUPED(session->requests_count));
    wr_cli_put_ago(&w->what, session->last_ms);
    wr_buf_text(&w->what, " ago");
    wr_buf_byte(&w->what, '\0');
    if (!wr_buf_status(&w->name) && !wr_buf_status(&w->what))
        w->each(w->user, w->name.bytes + (colon == SIZE_MAX ? 0 : colon + 1), w->what.bytes);
    return WEIR_OK;
}

void wr_list_sessions(wr_word_fn *each, void *user)
{
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger_filter filter = {.since_ms = 0};
    struct session_words words = {.each = each, .user = user};
    struct wr_ledger *ledger = NULL;
    struct wr_buf path;

    wr_buf_init(&words.name, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&words.what, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_cli_store_path(NULL, &path)
                             ? wr_ledger_open(path.bytes, &options, &ledger, NULL, NULL)
                             : WEIR_NOMEM;
    if (!status)
        status = wr_ledger_sessions(ledger, &filter, give_session, &words, NULL);
    (void)status; /* without a store, or memory, the list is shorter, and nothing is wrong */
    wr_ledger_close(ledger);
    wr_buf_release(&path);
    wr_buf_release(&words.name);
    wr_buf_release(&words.what);
}

/* ---- the store ---- */

/* The specification of XDG_DATA_HOME says that a path that is not absolute is to be ignored. */
bool wr_cli_store_path(const char *dir, struct wr_buf *path)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    wr_buf_init(path, PATH_BYTES_MAX);
    if (dir) {
        wr_buf_text(path, dir);
    } else if (data && data[0] == '/') {
        wr_buf_printf(path, "%s/weir", data);
    } else if (home && home[0]) {
        wr_buf_printf(path, "%s/.local/share/weir", home);
    } else {
        wr_cli_fail("neither XDG_DATA_HOME nor HOME is set; name the store: --store DIR");
        return false;
    }
    wr_buf_byte(path, '\0');
    if (!wr_buf_status(path))
        return true;
    wr_cli_fail("the path of the store is longer than %d bytes", (int)PATH_BYTES_MAX);
    return false;
}

const char *wr_cli_store_advice(weir_trouble trouble)
{
    switch (trouble) {
    case WEIR_TROUBLE_MISSING:
    case WEIR_TROUBLE_FOREIGN:
    case WEIR_TROUBLE_NEWER:
        return "; --store DIR names another";
    case WEIR_TROUBLE_LOCKED:
        return "; try again";
    case WEIR_TROUBLE_FULL:
        return "; make room on its disk and try again, nothing that was stored is lost";
    case WEIR_TROUBLE_DENIED:
        return "; check who owns it and its directory";
    case WEIR_TROUBLE_AWAY:
        return "; is it running, and may this machine reach it?";
    case WEIR_TROUBLE_CORRUPT:
        return "; move it away, a new one is made when it is needed";
    default:
        return "";
    }
}

struct weir_store *wr_cli_store(const char *dir, const struct weir_store_options *options)
{
    struct weir_store *store = NULL;
    struct weir_err err = {0};
    char shown[WR_WHERE_SHOWN_BYTES];
    struct wr_buf path;
    weir_trouble trouble;

    if (wr_cli_store_path(dir, &path) &&
        weir_store_open(path.bytes, options, &store, &trouble, &err))
        wr_cli_fail("store %s: %s%s", wr_where_shown(path.bytes, shown), err.text,
                    wr_cli_store_advice(trouble));
    wr_buf_release(&path);
    return store;
}

struct wr_ledger *wr_cli_ledger(const char *dir)
{
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger = NULL;
    struct weir_err err = {0};
    char shown[WR_WHERE_SHOWN_BYTES];
    struct wr_buf path;
    weir_trouble trouble;

    weir_status status = wr_cli_store_path(dir, &path)
                             ? wr_ledger_open(path.bytes, &options, &ledger, &trouble, &err)
                             : WEIR_OK;
    if (status == WEIR_NOTFOUND && !dir)
        wr_cli_fail(
            "nothing has gone through Weir yet (no store in %s); `weir run -- claude` is the "
            "first time, --store DIR names another store",
            wr_where_shown(path.bytes, shown));
    else if (status)
        wr_cli_fail("store %s: %s%s", wr_where_shown(path.bytes, shown), err.text,
                    wr_cli_store_advice(trouble));
    wr_buf_release(&path);
    return ledger;
}

/* ---- models and policies ---- */

struct wr_models *wr_cli_models(const char *config)
{
    struct wr_models_source source = {.overrides_shared = true};
    struct wr_models *models = NULL;
    struct wr_buf yaml = {0};
    struct weir_err err = {0};

    if (!config || wr_cli_read(config, &yaml)) {
        source.overrides = wr_buf_view(&yaml);
        if (wr_models_new(&models, &source, &err))
            wr_cli_fail("%s: %s; docs/models.md shows the format",
                        config ? config : "built-in registry", err.text);
    }
    wr_buf_release(&yaml);
    return models;
}

int wr_cli_fail_model(const struct wr_models *models, weir_span name)
{
    weir_span near[WR_SUGGESTIONS_MAX];
    uint32_t count = wr_models_suggest(models, name, near);
    struct wr_buf names;

    wr_buf_init(&names, 4096);
    for (uint32_t i = 0; i < count; i++)
        wr_buf_printf(&names, "%s%.*s", i ? ", " : "; did you mean ", (int)near[i].len,
                      near[i].ptr);
    int code = wr_cli_fail("no model or family '%.*s'%.*s%s `weir models` lists them, "
                           "docs/models.md shows how to add one",
                           (int)name.len, name.ptr, (int)names.len, names.len ? names.bytes : "",
                           count ? "?" : ";");
    wr_buf_release(&names);
    return code;
}

bool wr_books_open(struct wr_books *books, const char *dir, const char *config)
{
    *books = (struct wr_books){.models = wr_cli_models(config)};
    if (books->models)
        books->ledger = wr_cli_ledger(dir);
    return books->ledger;
}

void wr_books_close(struct wr_books *books)
{
    wr_ledger_close(books->ledger);
    wr_models_free(books->models);
}

struct wr_policies *wr_cli_policies(const char *path, struct wr_buf *yaml)
{
    struct wr_policies *policies = NULL;
    struct weir_err err = {0};

    *yaml = (struct wr_buf){0};
    if ((!path || wr_cli_read(path, yaml)) && wr_policies_new(&policies, wr_buf_view(yaml), &err))
        wr_cli_fail("%s: %s", path ? path : "presets", err.text);
    return policies;
}

const struct wr_policy *wr_cli_policy(const struct wr_policies *policies, const char *name)
{
    const struct wr_policy *policy = wr_policies_find(policies, wr_span_of(name));
    struct wr_near near = wr_near_to(wr_span_of(name));

    for (uint32_t i = 0; i < wr_policies_count(policies) && !policy; i++)
        wr_near_offer(&near, wr_policies_at(policies, i)->name, "");
    if (!policy)
        wr_cli_fail("no policy is called '%.60s'%s `weir policies` lists them", name, near.text);
    return policy;
}

bool wr_ruler_open(struct wr_ruler *ruler, weir_span model, bool must_know)
{
    struct weir_err err = {0};
    *ruler = (struct wr_ruler){0};
    weir_status status = wr_models_new(&ruler->models, NULL, &err);
    if (!status)
        status = wr_meter_new(&ruler->meter);
    if (status) {
        wr_cli_fail_status(status, &err);
        wr_ruler_close(ruler);
        return false;
    }
    ruler->match = wr_models_lookup(ruler->models, model);
    bool is_known = ruler->match.rule != WR_RULE_FALLBACK;
    if (must_know && !is_known) {
        wr_cli_fail_model(ruler->models, model);
        wr_ruler_close(ruler);
        return false;
    }
    if (!wr_meter_use_model(ruler->meter, ruler->match.model, &err))
        return true;
    wr_cli_fail("%s", err.text);
    wr_ruler_close(ruler);
    return false;
}

void wr_ruler_close(struct wr_ruler *ruler)
{
    wr_meter_free(ruler->meter);
    wr_models_free(ruler->models);
    *ruler = (struct wr_ruler){0};
}

/* ---- money and time ---- */

void wr_cli_put_money(struct wr_buf *out, int64_t micro_usd)
{
    uint64_t amount = micro_usd < 0 ? (uint64_t)-micro_usd : (uint64_t)micro_usd;
    const char *sign = micro_usd < 0 ? "-" : "";
    if (amount >= 999950) /* whole cents, and what would be rounded up to a dollar */
        wr_buf_printf(out, "%s$%s.%02llu", sign, WR_GROUPED((amount + 5000) / 1000000),
                      (unsigned long long)((amount + 5000) / 10000 % 100));
    else
        wr_buf_printf(out, "%s$0.%04llu", sign, (unsigned long long)((amount + 50) / 100));
}

void wr_cli_put_ago(struct wr_buf *out, int64_t time_ms)
{
    int64_t seconds = (wr_clock_ms() - time_ms) / SECOND_MS;
    if (seconds < 0)
        seconds = 0;
    if (seconds < 120)
        wr_buf_printf(out, "%lld s", (long long)seconds);
    else if (seconds < 2 * 3600)
        wr_buf_printf(out, "%lld min", (long long)seconds / 60);
    else if (seconds < 48 * 3600)
        wr_buf_printf(out, "%lld h", (long long)seconds / 3600);
    else
        wr_buf_printf(out, "%lld days", (long long)seconds / 86400);
}

bool wr_cli_since(const char *text, int64_t *since_ms)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    enum { NUMBER_MAX = 1000 * 1000 * 1000 };
    weir_span word = wr_span_of(text ? text : "0");
    uint64_t number = 0;

    *since_ms = 0;
    for (size_t i = 0; i < WR_COUNT_OF(units) && word.len > 1; i++) {
        weir_span digits = wr_span_cut(word, 0, word.len - 1);
        if (word.ptr[word.len - 1] != units[i].unit || !wr_span_u64(digits, &number) ||
            number > NUMBER_MAX)
            continue;
        *since_ms = wr_clock_ms() - (int64_t)number * units[i].seconds * SECOND_MS;
        return true;
    }
    if (wr_span_u64(word, &number) && number <= 4ULL * NUMBER_MAX) {
        *since_ms = (int64_t)number * SECOND_MS;
        return true;
    }
    wr_cli_fail("--since takes how long ago (90m, 24h, 7d) or seconds since 1970, not '%s'", text);
    return false;
}
