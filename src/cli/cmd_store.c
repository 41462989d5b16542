/* `weir store`: is everything there, how much is it, what may go. A table of actions (stats,
 * verify, gc, purge, copy); each writes its figures once, with a key for JSON and a label for
 * people. */
#include "base/clock.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "store/copy.h"
#include "store/store.h"

enum { NUMBER_MAX = 1000 * 1000 * 1000 };

static const int64_t hour_ms = 60 * 60 * 1000;

struct store_options {
    const char *dir, *tenant, *session;
    uint64_t days, live_hours, megabytes;
    bool is_all, as_json;
};

#define VALUES struct store_options

static const struct wr_option options[] = {
    {"verify", WR_NOTE, "reads everything and checks every hash"},
    {"stats", WR_NOTE, "how much there is"},
    {"gc", WR_NOTE,
     "takes out sessions not used for --days, then the least recently used ones until no more than "
     "--megabytes are left"},
    {"purge", WR_NOTE, "takes out a session, or everything, and leaves no trace of it"},
    {"copy", WR_NOTE,
     "brings everything of one store into another, a folder or postgresql://..., and compares; one "
     "that was broken off is made once more, and takes up where it was"},
    {"days", WR_NUMBER("N", days, 0, NUMBER_MAX),
     "gc: how long sessions are kept (30); 0: as long as there is room"},
    {"live-hours", WR_NUMBER("N", live_hours, 0, NUMBER_MAX),
     "gc: a session used in the last N hours (24) never goes, nor anything it refers to"},
    {"megabytes", WR_NUMBER("N", megabytes, 0, NUMBER_MAX),
     "gc: how much is kept (2048); 0: any amount"},
    {"session", WR_TEXT("S", session), "purge: this session"},
    {"all", WR_FLAG(is_all), "purge: everything"},
    WR_ROW_STORE(dir),
    WR_ROW_TENANT(tenant),
    {"json", WR_FLAG(as_json), "the result as one line of JSON"},
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
static void put_figure(struct output *out, const char *key, const char *label, uint64_t number)
{
    if (!out->as_json) {
        wr_buf_printf(&out->text, "%-18s %s\n", label, WR_GROUPED(number));
        return;
    }
    wr_json_member_i64(&out->json, key, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void put_time(struct output *out, const char *key, const char *label, int64_t time_ms)
{
    if (out->as_json) {
        wr_json_member_i64(&out->json, key, time_ms);
        return;
    }
    int64_t ago_ms = wr_clock_ms() - time_ms;
    wr_buf_printf(&out->text, "%-18s %s hours ago\n", label,
                  WR_GROUPED(ago_ms > 0 ? (uint64_t)(ago_ms / hour_ms) : 0));
}

static int output_end(struct output *out, int code)
{
    if (out->as_json) {
        wr_json_write_object_end(&out->json);
        wr_buf_byte(&out->text, '\n');
    }
    return wr_cli_end(&out->text, code);
}

static int fail_store(const struct weir_store *store, const struct weir_err *err)
{
    return wr_cli_fail("%s%s", err->text, wr_cli_store_advice(weir_store_trouble(store)));
}

/* ---- the commands ---- */

static int run_stats(struct weir_store *store, const struct store_options *o)
{
    struct weir_store_stats stats;
    struct weir_err err = {0};
    struct output out;

    if (weir_store_stats(store, &stats, &err))
        return fail_store(store, &err);
    output_init(&out, o->as_json);
    put_figure(&out, "schema", "schema", stats.schema_version);
    put_figure(&out, "tenants", "tenants", stats.tenants_count);
    put_figure(&out, "sessions", "sessions", stats.sessions_count);
    put_figure(&out, "artifacts", "artifacts", stats.artifacts_count);
    put_figure(&out, "text_bytes", "bytes of text", stats.text_bytes);
    put_figure(&out, "stored_bytes", "bytes stored", stats.stored_bytes);
    put_figure(&out, "file_bytes", "bytes of files", stats.file_bytes);
    put_figure(&out, "marks", "marks", stats.marks_count);
    put_figure(&out, "pins", "pins", stats.pins_count);
    put_figure(&out, "expired", "expired handles", stats.expired_count);
    put_figure(&out, "requests", "rows of requests", stats.rows_count);
    put_figure(&out, "requests_bytes", "bytes of rows", stats.rows_bytes);
    put_figure(&out, "samples", "samples", stats.samples_count);
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
    (void)wr_cli_fail("%s of tenant %.*s is not what was stored", text, (int)(tenant.len & 0xFFFF),
                      tenant.ptr);
}

static int run_verify(struct weir_store *store, const struct store_options *o)
{
    struct weir_verify_report report;
    struct weir_err err = {0};
    struct output out;

    if (weir_store_verify(store, say_corrupt, NULL, &report, &err))
        return fail_store(store, &err);
    if (report.has_damage)
        (void)wr_cli_fail("the file is damaged: %s", report.damage);
    output_init(&out, o->as_json);
    put_figure(&out, "artifacts", "artifacts", report.artifacts_count);
    put_figure(&out, "text_bytes", "bytes of text", report.text_bytes);
    put_figure(&out, "corrupt", "corrupt", report.corrupt_count);
    put_figure(&out, "damaged", "damage to the file", report.has_damage);
    bool is_good = !report.corrupt_count && !report.has_damage;
    return output_end(&out, is_good ? WR_EXIT_OK : WR_EXIT_CHECK);
}

static int put_removed(const struct weir_gc_report *report, const struct store_options *o)
{
    struct output out;
    output_init(&out, o->as_json);
    put_figure(&out, "sessions", "sessions out", report->sessions_count);
    put_figure(&out, "artifacts", "artifacts out", report->artifacts_count);
    put_figure(&out, "stored_bytes", "bytes freed", report->stored_bytes);
    put_figure(&out, "marks", "marks out", report->marks_count);
    put_figure(&out, "pins", "pins out", report->pins_count);
    put_figure(&out, "requests", "rows out", report->rows_count);
    return output_end(&out, WR_EXIT_OK);
}

static int run_gc(struct weir_store *store, const struct store_options *o)
{
    struct weir_gc_report report;
    struct weir_err err = {0};
    struct weir_gc_options how = {
        .now_ms = wr_clock_ms(),
        .retention_ms = (int64_t)o->days * 24 * hour_ms,
        .live_ms = (int64_t)o->live_hours * hour_ms,
        .stored_bytes_max = o->megabytes * 1000 * 1000,
    };

    if (weir_store_gc(store, &how, &report, &err))
        return fail_store(store, &err);
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
        return wr_cli_fail("tenant %s has no session '%s'", o->tenant, o->session);
    return status ? fail_store(store, &err) : put_removed(&report, o);
}

static void say_differs(void *user, weir_span tenant, weir_span session)
{
    (void)user;
    (void)wr_cli_fail("session '%.*s' of tenant %.*s is otherwise in the target, which has used it "
                      "or lacks something of it",
                      (int)(session.len & 0xFFFF), session.ptr, (int)(tenant.len & 0xFFFF),
                      tenant.ptr);
}

static int put_copied(const struct wr_copy_report *copied, const struct weir_verify_report *found,
                      bool as_json)
{
    struct output out;
    bool is_good = !copied->damaged_count && !copied->differ_count && !found->corrupt_count &&
                   !found->has_damage;

    output_init(&out, as_json);
    put_figure(&out, "sessions", "sessions", copied->sessions_count);
    put_figure(&out, "same", "there already", copied->same_count);
    put_figure(&out, "artifacts", "artifacts copied", copied->artifacts_count);
    put_figure(&out, "text_bytes", "bytes of text", copied->text_bytes);
    put_figure(&out, "marks", "marks", copied->marks_count);
    put_figure(&out, "pins", "pins", copied->pins_count);
    put_figure(&out, "requests", "rows of requests", copied->rows_count);
    put_figure(&out, "notes", "notes", copied->notes_count);
    put_figure(&out, "samples", "samples", copied->samples_count);
    put_figure(&out, "calibrations", "calibrations", copied->calibrations_count);
    put_figure(&out, "counters", "counters of what was used", copied->counters_count);
    put_figure(&out, "damaged", "lost in the source", copied->damaged_count);
    put_figure(&out, "differ", "sessions differ", copied->differ_count);
    put_figure(&out, "verified", "artifacts verified", found->artifacts_count);
    put_figure(&out, "corrupt", "corrupt", found->corrupt_count);
    return output_end(&out, is_good ? WR_EXIT_OK : WR_EXIT_CHECK);
}

/* Behind the copy all of the target is read, and every hash checked. */
static int run_copy(const char *from, const char *to, const struct store_options *o)
{
    struct weir_store_options how = {.must_exist = true};
    struct wr_copy_report copied;
    struct weir_verify_report found = {0};
    struct weir_err err = {0};
    char shown[2][WR_WHERE_SHOWN_BYTES];

    if (wr_store_copy(from, to, say_differs, NULL, &copied, &err))
        return wr_cli_fail("copying %s to %s: %s. What was copied is there: the same command goes "
                           "on from it",
                           wr_where_shown(from, shown[0]), wr_where_shown(to, shown[1]), err.text);
    struct weir_store *store = wr_cli_store(to, &how);
    if (!store)
        return WR_EXIT_USAGE;
    weir_status status = weir_store_verify(store, say_corrupt, NULL, &found, &err);
    int code = status ? fail_store(store, &err) : put_copied(&copied, &found, o->as_json);
    weir_store_close(store);
    return code;
}

static const struct store_action {
    const char *name;
    int (*run)(struct weir_store *store, const struct store_options *o);
} actions[] = {
    {"verify", run_verify},
    {"gc", run_gc},
    {"stats", run_stats},
    {"purge", run_purge},
};

/* Everything is purged only if that is asked for by name, never by leaving something out. */
static bool check_options(const struct store_action *action, const struct store_options *o)
{
    bool has_session = o->session && o->session[0];
    if (action->run == run_purge) {
        if (has_session != o->is_all)
            return true;
        wr_cli_fail("purge wants either --session S or --all");
        return false;
    }
    if (!o->session && !o->is_all)
        return true;
    wr_cli_fail("--session and --all go with purge");
    return false;
}

static int run_store(void *values, const struct wr_words *words)
{
    const struct store_options *o = values;
    struct weir_store_options how = {.must_exist = true};
    const struct store_action *action = NULL;
    struct wr_near near = wr_near_to(wr_span_of(words->items[0]));

    if (!strcmp(words->items[0], "copy")) {
        if (words->count != 3)
            return wr_cli_fail("copy wants two stores: weir store copy FROM TO");
        return run_copy(words->items[1], words->items[2], o);
    }
    wr_near_offer(&near, "copy", "");
    for (size_t i = 0; i < WR_COUNT_OF(actions); i++) {
        wr_near_offer(&near, actions[i].name, "");
        if (!strcmp(actions[i].name, words->items[0]))
            action = &actions[i];
    }
    if (!action)
        return wr_cli_fail("there is no '%s'%s one of verify, gc, stats, purge, copy is wanted",
                           words->items[0], near.text);
    if (words->count > 1)
        return wr_cli_fail("'%s' is one word too many for %s", words->items[1], action->name);
    struct weir_store *store = check_options(action, o) ? wr_cli_store(o->dir, &how) : NULL;
    int code = store ? action->run(store, o) : WR_EXIT_USAGE;
    weir_store_close(store);
    return code;
}

const struct wr_command wr_cmd_store = {
    .name = "store",
    .purpose = "the store of originals: verify, gc, stats, purge, copy",
    .usage = "verify|stats [--store DIR] [--json]\n"
             "gc [--days N] [--live-hours N] [--megabytes N]\n"
             "purge --session S | --all [--tenant T]\n"
             "copy FROM TO [--json]",
    .about = "The store keeps the originals of everything that was taken out of requests.",
    WR_OPTIONS(options),
    .defaults =
        &(const struct store_options){
            .tenant = WR_CLI_TENANT, .days = 30, .live_hours = 24, .megabytes = 2048},
    .words_min = 1,
    .words_max = 3,
    .wants = "one of verify, gc, stats, purge, copy is wanted",
    .words = "verify gc stats purge copy",
    .exits = "Exit 1: verify found something wrong, or a copy is not all that its source is.",
    .example = "weir store gc --days 14 && weir store stats\n"
               "weir store copy ~/.local/share/weir postgresql://weir@db/weir",
    .run = run_store,
};
