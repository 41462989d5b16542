/* What every ledger has in common, whoever keeps it: arguments are checked here, and the work is
 * done by the functions of the ledger at hand (ledger_host.h), as store.c does for stores. */
#include "store/ledger.h"

#include <string.h>

#include "base/hash.h"
#include "base/err.h"
#include "base/limits.h"
#include "store/ledger_host.h"

static bool is_name(weir_span name)
{
    return name.len <= WR_STORE_NAME_BYTES_MAX && (!name.len || !memchr(name.ptr, 0, name.len));
}

static weir_status check(const struct wr_ledger_row *row, struct weir_err *err)
{
    if (!row->tenant.len)
        return wr_fail(err, WEIR_INVALID, 0, "a row has no tenant");
    if (!is_name(row->tenant) || !is_name(row->session) || !is_name(row->agent) ||
        !is_name(row->model))
        return wr_fail(err, WEIR_LIMIT, 0, "a row's name is too long, or no name");
    if (row->line.len > WR_LEDGER_LINE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a row's line has more than %d bytes",
                       WR_LEDGER_LINE_BYTES_MAX);
    if (row->came.len > WR_LEDGER_SAID_BYTES_MAX || row->sent.len > WR_LEDGER_SAID_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a request said more than %d bytes",
                       WR_LEDGER_SAID_BYTES_MAX);
    if (row->report.len > WR_LEDGER_REPORT_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a report has more than %d bytes",
                       WR_LEDGER_REPORT_BYTES_MAX);
    return WEIR_OK;
}

static weir_status check_note(const struct wr_ledger_note *note, struct weir_err *err)
{
    if (!note->tenant.len || !is_name(note->tenant) || !is_name(note->session))
        return wr_fail(err, WEIR_INVALID, 0, "a note needs the names of a tenant and a session");
    if (note->data.len > WR_LEDGER_NOTE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a note has more than %d bytes",
                       WR_LEDGER_NOTE_BYTES_MAX);
    return WEIR_OK;
}

weir_status wr_ledger_keep(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                           size_t rows_count, const struct wr_ledger_note *notes,
                           size_t notes_count, struct weir_err *err)
{
    weir_status status = WEIR_OK;

    if (rows_count > WR_LEDGER_ROWS_MAX || notes_count > WR_LEDGER_ROWS_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "more than %d rows at once", WR_LEDGER_ROWS_MAX);
    for (size_t i = 0; i < rows_count && !status; i++)
        status = check(&rows[i], err);
    for (size_t i = 0; i < notes_count && !status; i++)
        status = check_note(&notes[i], err);
    return status ? status : ledger->ops->keep(ledger, rows, rows_count, notes, notes_count, err);
}

weir_status wr_ledger_add(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                          size_t rows_count, struct weir_err *err)
{
    return wr_ledger_keep(ledger, rows, rows_count, NULL, 0, err);
}

/* Kinds of notes have numbers (proxy/answers.h); this is none of theirs. */
enum { NOTE_PLAN = 'p' };

void wr_plan_key(weir_span session, unsigned char key[WR_LEDGER_KEY_BYTES])
{
    wr_hash128 hash = wr_hash128_seeded(session, (wr_hash128){.low = NOTE_PLAN});
    memcpy(key, &hash, WR_LEDGER_KEY_BYTES);
}

weir_status wr_ledger_note(struct wr_ledger *ledger, weir_span tenant,
                           const unsigned char key[WR_LEDGER_KEY_BYTES], weir_span *data,
                           struct weir_err *err)
{
    *data = (weir_span){"", 0};
    return ledger->ops->note(ledger, tenant, key, data, err);
}

weir_status wr_ledger_each(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                           wr_ledger_row_fn *row, void *user, struct weir_err *err)
{
    return ledger->ops->each(ledger, filter, row, user, err);
}

weir_status wr_ledger_said(struct wr_ledger *ledger, const struct wr_ledger_which *which,
                           struct wr_ledger_row *said, struct weir_err *err)
{
    *said = (struct wr_ledger_row){.id = 0};
    return ledger->ops->said(ledger, which, said, err);
}

uint64_t wr_ledger_said_lost(const struct wr_ledger *ledger)
{
    return ledger->said_lost_count;
}

weir_status wr_ledger_extent(struct wr_ledger *ledger, uint64_t *rows_count, int64_t *first_id,
                             struct weir_err *err)
{
    *rows_count = 0;
    *first_id = 0;
    return ledger->ops->extent(ledger, rows_count, first_id, err);
}

weir_status wr_ledger_report(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                             struct wr_ledger_row *report, struct weir_err *err)
{
    return ledger->ops->report(ledger, tenant, session, report, err);
}

weir_status wr_ledger_sessions(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                               wr_ledger_session_fn *session, void *user, struct weir_err *err)
{
    return ledger->ops->sessions(ledger, filter, session, user, err);
}

weir_status wr_ledger_add_sample(struct wr_ledger *ledger, const struct wr_ledger_sample *sample,
                                 struct weir_err *err)
{
    if (!sample->tenant.len || !sample->bucket.len || !is_name(sample->bucket) ||
        !is_name(sample->tenant) || !is_name(sample->session))
        return wr_fail(err, WEIR_INVALID, 0, "a sample needs the names of a bucket and a tenant");
    return ledger->ops->add_sample(ledger, sample, err);
}

weir_status wr_ledger_buckets(struct wr_ledger *ledger, weir_span tenant, uint32_t newest_max,
                              wr_ledger_bucket_fn *bucket, void *user, struct weir_err *err)
{
    return ledger->ops->buckets(ledger, tenant, newest_max, bucket, user, err);
}

weir_status wr_ledger_forget(struct wr_ledger *ledger, weir_span bucket, struct weir_err *err)
{
    return ledger->ops->forget(ledger, bucket, err);
}

weir_status wr_ledger_calibrate(struct wr_ledger *ledger, weir_span model,
                                wr_ledger_calibrate_fn *change, void *user, struct weir_err *err)
{
    if (!model.len || !is_name(model))
        return wr_fail(err, WEIR_INVALID, 0, "a calibration needs the name of a model");
    return ledger->ops->calibrate(ledger, model, change, user, err);
}

weir_status wr_ledger_calibration(struct wr_ledger *ledger, weir_span model,
                                  struct wr_ledger_calibration *calibration, struct weir_err *err)
{
    return ledger->ops->calibration(ledger, model, calibration, err);
}

weir_trouble wr_ledger_trouble(const struct wr_ledger *ledger)
{
    return ledger->ops->trouble(ledger);
}

void wr_ledger_close(struct wr_ledger *ledger)
{
    if (ledger)
        ledger->ops->close(ledger);
}
