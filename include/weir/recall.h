/* recall.h -- bringing back what was taken out: whole, by line, or by pattern; in pages if wanted.
 *
 * Lines count from 1 and keep their ends; the last may have none. Without a pattern what comes back
 * is byte for byte what was stored, so pages put together give the whole; a line `--` stands
 * between ranges that do not touch. With one, lines have their number in front as of grep -n:
 * `12:` of a match, `11-` of the lines around it.
 */
#ifndef WEIR_RECALL_H
#define WEIR_RECALL_H

#include "weir/store.h"

WEIR_BEGIN_DECLS

#define WEIR_LINES_END UINT64_MAX

/* Lines `first` to `last`, both included. */
struct weir_lines {
    uint64_t first;
    uint64_t first_byte; /* of the first line, from 1; 0: from its beginning */
    uint64_t last;       /* WEIR_LINES_END: to the end */
};

typedef uint64_t weir_tokens_fn(void *user, weir_span text);

struct weir_recall_options {
    size_t struct_bytes;            /* sizeof, by WEIR_RECALL_OPTIONS_INIT; see weir/api.h */
    const struct weir_lines *lines; /* in any order; none: all */
    size_t lines_count;
    uint64_t head_lines, tail_lines; /* instead of `lines`, one of them; 0: not wanted */
    weir_span pattern;               /* of PCRE2, matched line by line; only lines that match */
    uint64_t context_lines;          /* and as many before and after */

    /* A page ends where the next line would not fit: one line says so and which `lines` come next.
     * A line too long for a page is cut, and the next page begins inside it. */
    size_t page_bytes_max;        /* 0: no such cap */
    uint64_t page_tokens_max;     /* 0: no such cap */
    weir_tokens_fn *count_tokens; /* where there is a cap in tokens */
    void *user;
};
#define WEIR_RECALL_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_recall_options)

struct weir_recalled {
    weir_span text;
    size_t content_bytes;   /* of the text: what stands before the line that ends a page */
    weir_span next;         /* "201-300,512-": the `lines` of the next page; empty: that was all */
    uint64_t lines_total;   /* of the stored text */
    uint64_t lines_count;   /* given back */
    uint64_t matches_count; /* lines that match, on this page or a later one */
    void *owned;            /* what text and next are part of */
};

/* Reads "A-B", "A-", "A", several with commas; "A.C-B" begins at byte C of line A. WEIR_SYNTAX when
 * it is not that, WEIR_LIMIT for more than `lines_max` ranges. */
WEIR_API WEIR_MUST_USE weir_status weir_lines_parse(weir_span text, struct weir_lines *lines,
                                                    size_t lines_max, size_t *lines_count,
                                                    struct weir_err *err);

/* Chooses from a text. `recalled` is released by the caller. Failure: WEIR_INVALID where nothing
 * could be meant (a line past the end, a page without room), WEIR_SYNTAX of the pattern, at its
 * byte, WEIR_LIMIT where the pattern takes too long. No match is no failure. */
WEIR_API WEIR_MUST_USE weir_status weir_recall_select(weir_span text,
                                                      const struct weir_recall_options *options,
                                                      struct weir_recalled *recalled,
                                                      struct weir_err *err);

/* The same of a stored text, verified. WEIR_NOTFOUND: `*miss` says why. `options` may be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_recall(struct weir_store *store,
                                               const struct weir_lookup *lookup,
                                               const struct weir_recall_options *options,
                                               struct weir_recalled *recalled, weir_miss *miss,
                                               struct weir_err *err);

WEIR_API void weir_recalled_release(struct weir_recalled *recalled);

WEIR_END_DECLS

#endif
