/* `weir store`: is everything there, how much is it, what may go. */
#include "cli/cmd.h"

#include <string.h>

#include "base/clock.h"
#include "base/span.h"
#include "cli/store_dir.h"
#include "json/write.h"

static const char help[] =
    "usage: weir store verify|gc|stats|purge [--store DIR] [--json]\n"
    "       weir store gc [--days N] [--live-hours N] [--megabytes N]\n"
    "       weir store purge --session S | --all [--tenant T]\n"
    "\n"
    "The store keeps the originals of everything that was taken out of requests.\n"
    "\n"
    "  verify   reads everything and checks every hash; exit 1 when something is wrong\n"
    "  stats    how much there is\n"
    "  gc       takes out sessions not used for --days (30), then the least recently used ones\n"
    "           until no more than --megabytes (2048) are left; 0 switches either off. A session\n"
    "           used in the last --live-hours (24) never goes, nor anything it refers to.\n"
    "  purge    takes out a session, or everything, and leaves no trace of it\n"
    "\n"
    "  --store DIR     the store (default: $XDG_DATA_HOME/weir, or ~/.local/share/weir)\n"
    "  --tenant T      whose session (default: local)\n"
    "  --json          the result as one line of JSON\n"
    "\n"
    "example: weir store gc --days 14 && weir store stats\n";

enum {
    DAYS_DEFAULT = 30,
    LIVE_HOURS_DEFAULT = 24,
    MEGABYTES_DEFAULT = 2048,
    NUMBER_MAX = 1000 * 1000 * 1000,
};

static const int64_t hour_ms = 60 * 60 * 1000;

struct store_options {
    const char *dir, *tenant, *session, *days, *live_hours, *megabytes;
    bool is_all, as_json;
};

struct output {
    struct wr_buf text;
    struct wr_json_writer json;
    bool as_json;
};

/* ---- output ---- */

static void output_init(struct output *out, bool as_json)
{
    wr_buf_init(&out->text, 64 * 1024);
    wr_json_write_init(&out->json, &out->text);
    out->as_json = as_json;
    if (as_json)
        wr_json_write_object(&out->json);
}

/* One fact: `key` in JSON, `label` to a reader. */
static void put_number(struct output *out, const char *key, const char *label, uint64_t number)
{
    if (!out->as_json) {
        wr_buf_printf(&out->text, "%-18s %s\n", label, wr_cli_number(number));
        return;
    }
    wr_json_write_key(&out->json, key);
    wr_json_write_i64(&out->json, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void put_time(struct output *out, const char *key, const char *label, int64_t time_ms)
{
    if (out->as_json) {
        wr_json_write_key(&out->json, key);
        wr_json_write_i64(&out->json, time_ms);
        return;
    }
    int64_t ago_ms = wr_clock_ms() - time_ms;
    wr_buf_printf(&out->text, "%-18s %s hours ago\n", label,
                  wr_cli_number(ago_ms > 0 ? (uint64_t)(ago_ms / hour_ms) : 0));
}

static int output_end(struct output *out, int code)
{
    if (out->as_json) {
        wr_json_write_object_end(&out->json);
        wr_buf_byte(&out->text, '\n');
    }
    weir_status status = wr_buf_status(&out->text);
    if (status)
        code = wr_cli_fail("store", "%s", weir_status_text(status));
    else if (!wr_cli_write("store", wr_buf_view(&out->text)))
        code = WR_EXIT_USAGE;
    wr_buf_release(&out->text);
    return code;
}

static int fail(const struct weir_store *store, const struct weir_err *err)
{
    return wr_cli_fail("store", "%s%s", err->text, wr_cli_store_advice(weir_store_trouble(store)));
}

/* ---- the commands ---- */

static int run_stats(struct weir_store *store, const struct store_options *o)
{
    struct weir_store_stats stats;
    struct weir_err err = {0};
    struct output out;

    if (weir_store_stats(store, &stats, &err))
        return fail(store, &err);
    output_init(&out, o->as_json);
    put_number(&out, "schema", "schema", stats.schema_version);
    put_number(&out, "tenants", "tenants", stats.tenants_count);
    put_number(&out, "sessions", "sessions", stats.sessions_count);
    put_number(&out, "artifacts", "artifacts", stats.artifacts_count);
    put_number(&out, "text_bytes", "bytes of text", stats.text_bytes);
    put_number(&out, "stored_bytes", "bytes stored", stats.stored_bytes);
    put_number(&out, "file_bytes", "bytes of files", stats.file_bytes);
    put_number(&out, "marks", "marks", stats.marks_count);
    put_number(&out, "pins", "pins", stats.pins_count);
    put_number(&out, "expired", "expired handles", stats.expired_count);
    put_number(&out, "requests", "rows of requests", stats.rows_count);
    put_number(&out, "requests_bytes", "bytes of rows", stats.rows_bytes);
    put_number(&out, "samples", "samples", stats.samples_count);
    if (stats.sessions_count) {
        put_time(&out, "oldest_used_ms", "oldest session", stats.oldest_used_ms);
        put_time(&out, "newest_used_ms", "newest session", stats.newest_used_ms);
    }
    return output_end(&out, WR_EXIT_OK);
}

/* Handles are names, not content: they may be printed. */
static void say_corrupt(void *user, weir_span tenant, weir_handle handle)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    (void)user;
    weir_handle_format(handle, text);
    (void)wr_cli_fail("store", "%s of tenant %.*s is not what was stored", text,
                      (int)(tenant.len & 0xFFFF), tenant.ptr);
}

static int run_verify(struct weir_store *store, const struct store_options *o)
{
    struct weir_verify_report report;
    struct weir_err err = {0};
    struct output out;

    if (weir_store_verify(store, say_corrupt, NULL, &report, &err))
        return fail(store, &err);
    if (report.has_damage)
        (void)wr_cli_fail("store", "the file is damaged: %s", report.damage);
    output_init(&out, o->as_json);
    put_number(&out, "artifacts", "artifacts", report.artifacts_count);
    put_number(&out, "text_bytes", "bytes of text", report.text_bytes);
    put_number(&out, "corrupt", "corrupt", report.corrupt_count);
    put_number(&out, "damaged", "damage to the file", report.has_damage);
    bool is_good = !report.corrupt_count && !report.has_damage;
    return output_end(&out, is_good ? WR_EXIT_OK : WR_EXIT_CHECK);
}

static int put_removed(const struct weir_gc_report *report, const struct store_options *o)
{
    struct output out;
    output_init(&out, o->as_json);
    put_number(&out, "sessions", "sessions out", report->sessions_count);
    put_number(&out, "artifacts", "artifacts out", report->artifacts_count);
    put_number(&out, "stored_bytes", "bytes freed", report->stored_bytes);
    put_number(&out, "marks", "marks out", report->marks_count);
    put_number(&out, "pins", "pins out", report->pins_count);
    put_number(&out, "requests", "rows out", report->rows_count);
    return output_end(&out, WR_EXIT_OK);
}

static bool read_number(const char *option, const char *text, int64_t *number)
{
    uint64_t read;
    if (!text)
        return true;
    if (!wr_span_u64(wr_span_of(text), &read) || read > NUMBER_MAX) {
        wr_cli_fail("store", "--%s wants a number up to %d, not '%s'", option, (int)NUMBER_MAX,
                    text);
        return false;
    }
    *number = (int64_t)read;
    return true;
}

static int run_gc(struct weir_store *store, const struct store_options *o)
{
    int64_t days = DAYS_DEFAULT, live_hours = LIVE_HOURS_DEFAULT, megabytes = MEGABYTES_DEFAULT;
    struct weir_gc_report report;
    struct weir_err err = {0};

    if (!read_number("days", o->days, &days) ||
        !read_number("live-hours", o->live_hours, &live_hours) ||
        !read_number("megabytes", o->megabytes, &megabytes))
        return WR_EXIT_USAGE;
    struct weir_gc_options options = {
        .now_ms = wr_clock_ms(),
        .retention_ms = days * 24 * hour_ms,
        .live_ms = live_hours * hour_ms,
        .stored_bytes_max = (uint64_t)megabytes * 1000 * 1000,
    };
    if (weir_store_gc(store, &options, &report, &err))
        return fail(store, &err);
    return put_removed(&report, o);
}

static int run_purge(struct weir_store *store, const struct store_options *o)
{
    struct weir_gc_report report;
    struct weir_err err = {0};
    weir_status status = o->is_all ? weir_store_purge_all(store, &report, &err)
                                   : weir_store_purge(store, wr_span_of(o->tenant),
                                                      wr_span_of(o->session), &report, &err);

    if (status == WEIR_NOTFOUND)
        return wr_cli_fail("store", "tenant %s has no session '%s'", o->tenant, o->session);
    return status ? fail(store, &err) : put_removed(&report, o);
}

static const struct action {
    const char *name;
    int (*run)(struct weir_store *store, const struct store_options *o);
} actions[] = {
    {"verify", run_verify},
    {"gc", run_gc},
    {"stats", run_stats},
    {"purge", run_purge},
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (!strcmp(actions[i].name, name))
            return &actions[i];
    return NULL;
}

/* Purging everything by a slip is not possible: it has to be said. */
static bool check_options(const struct action *action, const struct store_options *o)
{
    bool has_session = o->session && o->session[0];
    if (action->run == run_purge) {
        if (has_session != o->is_all)
            return true;
        wr_cli_fail("store", "purge wants either --session S or --all");
        return false;
    }
    if (!o->session && !o->is_all)
        return true;
    wr_cli_fail("store", "--session and --all go with purge");
    return false;
}

static int run(const struct action *action, const struct store_options *o)
{
    struct weir_store_options options = {.must_exist = true};
    struct weir_store *store = wr_cli_store("store", o->dir, &options);
    if (!store)
        return WR_EXIT_USAGE;
    int code = action->run(store, o);
    weir_store_close(store);
    return code;
}

int wr_cmd_store(int argc, char **argv)
{
    struct store_options o = {.tenant = WR_CLI_TENANT};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {
        {"store", WR_OPT_TEXT, &o.dir},           {"tenant", WR_OPT_TEXT, &o.tenant},
        {"session", WR_OPT_TEXT, &o.session},     {"all", WR_OPT_FLAG, &o.is_all},
        {"days", WR_OPT_TEXT, &o.days},           {"live-hours", WR_OPT_TEXT, &o.live_hours},
        {"megabytes", WR_OPT_TEXT, &o.megabytes}, {"json", WR_OPT_FLAG, &o.as_json},
    };
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    const struct action *action = rest.count == 1 ? find_action(rest.items[0]) : NULL;
    if (!action)
        return wr_cli_fail("store", "one of verify, gc, stats, purge is wanted; `weir store --help`"
                                    " shows how");
    return check_options(action, &o) ? run(action, &o) : WR_EXIT_USAGE;
}
