/* record.h -- what is known of one request when it is over: a line of the log, and figures.
 *
 * It holds sizes, counts, times and names; never a word of what was said.
 */
#ifndef WR_PROXY_RECORD_H
#define WR_PROXY_RECORD_H

#include "proxy/projector.h"
#include "proxy/tap.h"

struct wr_record {
    uint64_t number;    /* counts the requests of this process */
    int64_t started_ms; /* since 1970 */
    const char *upstream, *path;
    enum wr_api api;
    const char *agent; /* empty: not known */
    weir_span tenant;
    weir_span run;             /* of `weir run`; empty: none */
    const struct wr_task *job; /* NULL: the body was not read */
    const struct wr_tap *tap;
    int status; /* 0: there was no answer */
    uint64_t request_bytes, sent_bytes, answer_bytes;
    uint64_t first_byte_us, total_us, added_us; /* added: by us, before the upstream was asked */
    uint32_t retries_count;
    const char *retry_reason; /* NULL: none */
    const char *end;          /* "done", "client_gone", "upstream_unreachable", ... */
};

/* Appends one line, LF included. */
void wr_record_write(const struct wr_record *record, struct wr_buf *out);

/* The prompt that was sent, by our count and by the provider's `usage`. */
struct wr_prompt_count {
    uint64_t ours_tokens, theirs_tokens;
    bool is_believed; /* theirs is of the same prompt, as far as can be told */
};

/* False: they are not both known, or not of the same: the provider holds a part of it. */
bool wr_record_counts(const struct wr_record *record, struct wr_prompt_count *count);

/* Keeps that line, without its LF, as a row of its session; of the run, where it has none. */
struct wr_ledger_writer;
void wr_record_keep(const struct wr_record *record, weir_span line,
                    struct wr_ledger_writer *writer);

#endif
