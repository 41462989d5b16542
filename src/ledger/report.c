/* report.c -- all rows of a time summed up: in all, by hour, and by agent, model, upstream,
 * user and team.
 *
 * Names come from clients, so their lists have a cap; the last place takes all that find none of
 * their own. Rows come nearly in the order of time, so the hour of a row is found from the end.
 */
#include "ledger/report.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/record_row.h"
#include "ledger/context.h"

enum { HOUR_MS = 60 * 60 * 1000, HOURS_CAP_FIRST = 64 };

/* ---- life ---- */

weir_status wr_report_init(struct wr_report *report, const struct wr_models *models,
                           int64_t since_ms)
{
    *report = (struct wr_report){.since_ms = since_ms};
    wr_arena_init(&report->arena, WR_ARENA_BYTES_MAX);
    wr_arena_init(&report->row, WR_ARENA_BYTES_MAX);
    struct wr_report_parts *all[] = {&report->agents, &report->models, &report->upstreams,
                                     &report->users, &report->teams};
    for (size_t i = 0; i < WR_COUNT_OF(all); i++)
        all[i]->items = WR_ARENA_ARRAY(&report->arena, struct wr_report_part, WR_REPORT_NAMES_MAX);
    report->tallier = wr_tallier_new(models);
    return report->tallier ? wr_arena_status(&report->arena) : WEIR_NOMEM;
}

void wr_report_release(struct wr_report *report)
{
    wr_tallier_free(report->tallier);
    wr_arena_release(&report->row);
    wr_arena_release(&report->arena);
}

/* ---- adding ---- */

/* The last place is for all that have none of their own. NULL: out of memory. */
static struct wr_tally *part_of(struct wr_report *report, struct wr_report_parts *parts,
                                weir_span name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (wr_span_eq(parts->items[i].name, name))
            return &parts->items[i].tally;
    if (parts->count == WR_REPORT_NAMES_MAX)
        return &parts->items[WR_REPORT_NAMES_MAX - 1].tally;
    struct wr_report_part *part = &parts->items[parts->count];
    if (parts->count + 1 == WR_REPORT_NAMES_MAX)
        name = WR_LIT("other");
    part->name = wr_arena_copy(&report->arena, name);
    if (!part->name.ptr)
        return NULL;
    parts->count++;
    return &part->tally;
}

/* Rows come nearly in time: the hour is mostly the last one. */
static struct wr_report_hour *hour_of(struct wr_report *report, int64_t time_ms)
{
    int64_t start_ms = time_ms - time_ms % HOUR_MS;
    size_t at = report->hours_count;

    while (at > 0 && report->hours[at - 1].start_ms > start_ms)
        at--;
    if (at > 0 && report->hours[at - 1].start_ms == start_ms)
        return &report->hours[at - 1];
    if (report->hours_count == WR_REPORT_HOURS_MAX)
        return &report->hours[at ? at - 1 : 0];
    if (!WR_ARENA_ROOM(&report->arena, report->hours, report->hours_count, report->hours_cap,
                       HOURS_CAP_FIRST))
        return NULL;
    memmove(report->hours + at + 1, report->hours + at,
            (report->hours_count - at) * sizeof(*report->hours));
    report->hours[at] = (struct wr_report_hour){.start_ms = start_ms};
    report->hours_count++;
    return &report->hours[at];
}

static void add_hour(struct wr_report_hour *hour, const struct wr_tally *row)
{
    hour->requests_count += row->requests_count;
    hour->micro_usd += row->micro_usd;
    hour->unchanged_micro_usd += row->unchanged_micro_usd;
    hour->raw_tokens += row->raw_tokens;
    hour->sent_tokens += row->sent_tokens;
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        hour->bust_tokens[i] += row->bust_tokens[i];
}

weir_status wr_report_add_record(struct wr_report *report, const struct wr_ledger_row *row,
                                 const struct wr_record *record, struct wr_tally *also)
{
    struct wr_tally one = {0};
    bool counts = row->time_ms >= report->since_ms;
    const struct {
        struct wr_report_parts *parts;
        weir_span name;
        bool is_there;
    } rows[] = {{&report->agents, row->agent, true},
                {&report->models, row->model, true},
                {&report->upstreams, record->upstream, record->upstream.len},
                {&report->users, record->user, record->user.len},
                {&report->teams, record->team, record->team.len}};
    struct wr_tally *tallies[3 + WR_COUNT_OF(rows)] = {&one, &report->all};
    size_t count = 2;

    for (size_t i = 0; i < WR_COUNT_OF(rows) && counts; i++) {
        if (!rows[i].is_there)
            continue;
        tallies[count] = part_of(report, rows[i].parts, rows[i].name);
        if (!tallies[count++])
            return WEIR_NOMEM;
    }
    if (also)
        tallies[count++] = also;
    weir_status status = wr_tallier_add(report->tallier, row, record, tallies, counts ? count : 0);
    if (status || !counts)
        return status;
    struct wr_report_hour *hour = hour_of(report, row->time_ms);
    if (!hour)
        return WEIR_NOMEM;
    add_hour(hour, &one);
    return WEIR_OK;
}

weir_status wr_report_add(void *user, const struct wr_ledger_row *row)
{
    struct wr_report *report = user;
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &report->row, &record);

    if (status == WEIR_SYNTAX) {
        report->damaged_count += row->time_ms >= report->since_ms;
        return WEIR_OK;
    }
    return status ? status : wr_report_add_record(report, row, &record, NULL);
}

static int by_requests(const void *a, const void *b)
{
    const struct wr_report_part *x = a, *y = b;
    if (x->tally.requests_count != y->tally.requests_count)
        return x->tally.requests_count < y->tally.requests_count ? 1 : -1;
    size_t shorter = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = shorter ? memcmp(x->name.ptr, y->name.ptr, shorter) : 0;
    return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

void wr_report_sort(struct wr_report *report)
{
    struct wr_report_parts *all[] = {&report->agents, &report->models, &report->upstreams,
                                     &report->users, &report->teams};

    for (size_t i = 0; i < WR_COUNT_OF(all); i++)
        qsort(all[i]->items, all[i]->count, sizeof(*all[i]->items), by_requests);
}

/* ---- time ---- */

/* The calendar of 400 years, which repeats; days count from 1 March of the year 0. */
void wr_report_time(int64_t time_ms, char text[WR_REPORT_TIME_BYTES])
{
    enum { DAY_S = 86400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 };
    int64_t seconds = time_ms > 0 ? time_ms / 1000 : 0;
    int64_t days = seconds / DAY_S + EPOCH_DAYS, era = days / ERA_DAYS, day = days % ERA_DAYS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t rest = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * rest + 2) / 153;

    (void)snprintf(text, WR_REPORT_TIME_BYTES, "%04d-%02d-%02d %02d:%02d",
                   (int)(year + era * 400 + (month >= 10)) % 10000,
                   (int)(month < 10 ? month + 3 : month - 9),
                   (int)(rest - (153 * month + 2) / 5 + 1), (int)(seconds % DAY_S / 3600),
                   (int)(seconds % 3600 / 60));
}

/* ---- JSON ---- */

static void put_tally(struct wr_json_writer *w, const struct wr_tally *t)
{
    wr_tally_write_json(t, w);
    wr_tally_write_busts(w, "bust_tokens", t->bust_tokens);
    wr_tally_write_busts(w, "bust_micro_usd", t->bust_micro_usd);
    wr_json_member_number(w, "passed_requests", t->passed_count);
    wr_json_member_number(w, "passed_bytes", t->passed_bytes);
    wr_json_member_number(w, "hook_results", t->hooked_count);
    wr_json_member_number(w, "hook_tokens_before", t->hooked_raw_tokens);
    wr_json_member_number(w, "hook_tokens_after", t->hooked_sent_tokens);
}

static void put_parts(struct wr_json_writer *w, const char *key, const char *name,
                      const struct wr_report_parts *parts)
{
    wr_json_write_key(w, key);
    wr_json_write_array(w);
    for (size_t i = 0; i < parts->count; i++) {
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_text(w, name, parts->items[i].name);
        put_tally(w, &parts->items[i].tally);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static void put_hours(struct wr_json_writer *w, const struct wr_report *report,
                      int64_t hours_since_ms)
{
    wr_json_write_key(w, "hours");
    wr_json_write_array(w);
    for (size_t i = 0; i < report->hours_count; i++) {
        const struct wr_report_hour *h = &report->hours[i];
        if (h->start_ms < hours_since_ms)
            continue;
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_number(w, "start_ms", (uint64_t)h->start_ms);
        wr_json_member_number(w, "requests", h->requests_count);
        wr_json_member_number(w, "micro_usd", h->micro_usd);
        wr_json_member_number(w, "unchanged_micro_usd", h->unchanged_micro_usd);
        wr_json_member_number(w, "raw_tokens", h->raw_tokens);
        wr_json_member_number(w, "sent_tokens", h->sent_tokens);
        wr_tally_write_busts(w, "bust_tokens", h->bust_tokens);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

void wr_report_members(const struct wr_report *report, int64_t hours_since_ms,
                       struct wr_json_writer *w)
{
    wr_json_member_number(w, "since_ms", (uint64_t)report->since_ms);
    wr_json_member_number(w, "first_ms", (uint64_t)report->all.first_ms);
    wr_json_member_number(w, "last_ms", (uint64_t)report->all.last_ms);
    wr_json_member_number(w, "damaged_rows", report->damaged_count);
    wr_json_write_newline(w);
    wr_json_write_key(w, "all");
    wr_json_write_object(w);
    put_tally(w, &report->all);
    wr_json_write_object_end(w);
    wr_json_write_newline(w);
    put_parts(w, "agents", "agent", &report->agents);
    put_parts(w, "models", "model", &report->models);
    put_parts(w, "upstreams", "upstream", &report->upstreams);
    put_parts(w, "users", "user", &report->users);
    put_parts(w, "teams", "team", &report->teams);
    put_hours(w, report, hours_since_ms);
}

void wr_report_json(const struct wr_report *report, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_report_members(report, 0, &w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
