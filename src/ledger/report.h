/* report.h -- rows of the ledger as one report: money, tokens, cache busts and signs of quality, of
 * all, by agent, by model and by hour.
 *
 * Rows are added in the order of the ledger. Those from before `since_ms` are not counted, but what
 * they left in the provider's cache is known then.
 */
#ifndef WR_LEDGER_REPORT_H
#define WR_LEDGER_REPORT_H

#include "base/arena.h"
#include "json/write.h"
#include "ledger/tally.h"

enum { WR_REPORT_LOOK_BACK_MS = 24 * 60 * 60 * 1000 }; /* no cache lives longer */

struct wr_report_part {
    weir_span name; /* of an agent or a model; empty: it had none */
    struct wr_tally tally;
};

struct wr_report_parts {
    struct wr_report_part *items;
    size_t count;
};

/* An hour that had requests. */
struct wr_report_hour {
    int64_t start_ms;
    uint64_t requests_count;
    uint64_t micro_usd, unchanged_micro_usd;
    uint64_t raw_tokens, sent_tokens;
    uint64_t bust_tokens[WR_BUSTS_COUNT];
};

struct wr_report {
    int64_t since_ms;       /* 0: from the beginning */
    uint64_t damaged_count; /* rows that could not be read */
    struct wr_tally all;
    struct wr_report_parts agents, models;
    struct wr_report_parts upstreams, users, teams; /* those that rows name */
    struct wr_report_hour *hours;                   /* in time */
    size_t hours_count, hours_cap;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* owns the lists and their names */
    struct wr_arena row;   /* of one row */
};

/* `models` is borrowed until the release. */
WEIR_MUST_USE weir_status wr_report_init(struct wr_report *report, const struct wr_models *models,
                                         int64_t since_ms);
void wr_report_release(struct wr_report *report);

/* A wr_ledger_row_fn, with the report as its user. */
weir_status wr_report_add(void *report, const struct wr_ledger_row *row);

/* The same of a row whose line was read; `also` (NULL: none) is one more tally that it is added to.
 */
WEIR_MUST_USE weir_status wr_report_add_record(struct wr_report *report,
                                               const struct wr_ledger_row *row,
                                               const struct wr_record *record,
                                               struct wr_tally *also);

/* Sorts agents, models, users, ..., those with most requests first. */
void wr_report_sort(struct wr_report *report);

/* docs/report.md has the members: of an object that is being written, with the hours from a time
 * on; and as an object of their own, with all. */
void wr_report_members(const struct wr_report *report, int64_t hours_since_ms,
                       struct wr_json_writer *writer);
void wr_report_json(const struct wr_report *report, struct wr_buf *out);

/* One page that loads nothing, for a phone and for a desktop. */
void wr_report_html(const struct wr_report *report, struct wr_buf *out);

/* "2026-11-15 14:00", in UTC. */
enum { WR_REPORT_TIME_BYTES = 32 };
void wr_report_time(int64_t time_ms, char text[WR_REPORT_TIME_BYTES]);

#endif
