/* past.h -- a part of a session's past as one conversation: its facts, its summary, its text.
 *
 * It is read from the journal, from the first event on, whatever was compacted since: so a second
 * summary is made of what happened, not of the first summary. What is larger than one document can
 * be is read in parts of WR_PAST_PART_BYTES, each cut before an answer or words of the user: memory
 * does not grow with the past, and the file has all of it.
 *
 * A past that is kept is extended: only what came since is read, and appended to the file. That
 * gives the same facts and text as reading all of it again.
 */
#ifndef WR_SESSION_PAST_H
#define WR_SESSION_PAST_H

#include "policy/summary.h"
#include "session/thread.h"

struct wr_past_options {
    const char *dir;          /* the session's */
    uint64_t before;          /* everything before this event */
    const char *history_path; /* the file that gets its text, in place of what it held */
    bool has_facts;           /* false: the text alone */
    uint64_t part_bytes;      /* 0: WR_PAST_PART_BYTES */
    wr_count_fn *count;
    void *user;
};

struct wr_past {
    const struct wr_past_options *options; /* outlives the past */
    struct wr_arena arena;
    struct wr_facts facts;
    struct wr_buf newest; /* text: all of it, or the newest parts; wr_past_load_newest() */
    uint64_t lines_count; /* of all of the text */
    uint64_t file_bytes;
    uint32_t parts_count;
    bool can_be_extended; /* no call waits for its result where it ends */
    uint64_t before;      /* the events before this one are in it */
    struct {
        uint64_t line, byte, seq;
    } end; /* where those end in the journal */
};

/* On failure there is nothing to release, and the file is as it was. */
WEIR_MUST_USE weir_status wr_past_open(struct wr_past *past, const struct wr_past_options *options,
                                       struct weir_err *err);
void wr_past_release(struct wr_past *past);

/* Reads on up to `before` of the past's options, which may have changed. False: it has to be opened
 * again (the cut lies before its end, or the file is another); it is to be released then. */
WEIR_MUST_USE bool wr_past_extend(struct wr_past *past);

/* Reads `newest`, for whoever wants to see it. */
WEIR_MUST_USE weir_status wr_past_load_newest(struct wr_past *past, struct weir_err *err);

/* The structured summary; empty where not even its first lines fit. In the past's arena. */
WEIR_MUST_USE weir_status wr_past_summary(struct wr_past *past, uint64_t tokens_max,
                                          weir_span *text);

/* Whether `text` names what a summary must not lose: every file that was changed, every task that
 * failed last (its command, or one of its messages), and every open item of the newest plan (half
 * of its longer words: a model may say it otherwise). */
bool wr_past_facts_are_in(const struct wr_past *past, weir_span text);

#endif
