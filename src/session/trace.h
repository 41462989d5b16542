/* trace.h -- trace.jsonl: what happened, for people and scorers. Only ever added to, and nothing is
 * ever read from it. */
#ifndef WR_SESSION_TRACE_H
#define WR_SESSION_TRACE_H

#include "base/limits.h"
#include "json/write.h"

#define WR_TRACE_FILE "trace.jsonl"

struct wr_trace {
    int fd; /* -1: none */
    uint64_t end_bytes;
    char path[WR_SESSION_PATH_BYTES_MAX];
};

WEIR_MUST_USE weir_status wr_trace_open(struct wr_trace *trace, const char *dir,
                                        struct weir_err *err);
void wr_trace_close(struct wr_trace *trace);

/* {"at_ms":...,"kind":"...", FIELDS}; `fields` are JSON members, or empty. */
WEIR_MUST_USE weir_status wr_trace_write(struct wr_trace *trace, int64_t at_ms, const char *kind,
                                         weir_span fields, struct weir_err *err);

/* The same with numbers and one text, for what Weir itself tells; a failure is not told. */
struct wr_trace_field {
    const char *key;
    uint64_t number;
    weir_span text; /* instead of the number, where it is not empty */
};
void wr_trace_tell(struct wr_trace *trace, int64_t at_ms, const char *kind,
                   const struct wr_trace_field *fields, size_t count);

#endif
