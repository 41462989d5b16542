/* summary_facts.h -- what happened in a part of a conversation: files, commands, errors, plans,
 * decisions.
 *
 * 1. Facts come from the segments of the range alone, and of them in order: extending the range
 * adds facts behind those already there and updates them, and reorders none.
 * 2. A task is an activity that may be repeated: a command line (without its `cd`, its redirections
 *    and what its output is piped through), a file that is changed, or a call of another tool
 *    with the same arguments. Its newest outcome is what counts: a task that failed and then
 *    succeeded is a resolved error, one that failed last is an open one.
 * 3. A command failed when its result or its exit code says so; also when its output names failed
 *    tests or ends in a crash, because a pipe hides the exit code. That a search found nothing, or
 *    that two files differ, is no failure; nor is a look at a file that is not there.
 * 4. A path is as the transcript knows it: normalised. Paths that are not literal are not facts.
 */
#ifndef WR_POLICY_SUMMARY_FACTS_H
#define WR_POLICY_SUMMARY_FACTS_H

#include "base/hash.h"
#include "base/limits.h"
#include "transcript/effect.h"
#include "transcript/transcript.h"

enum wr_fact_outcome {
    WR_FACT_UNKNOWN,
    WR_FACT_SUCCEEDED,
    WR_FACT_FAILED,
    WR_FACT_RUNNING,
};

struct wr_fact_file {
    weir_span path;
    uint32_t reads_count, changes_count;
    bool is_read_whole;
    struct wr_lines ranges[WR_FACT_RANGES_MAX]; /* that were read, by first occurrence */
    uint32_t ranges_count;
    uint32_t last; /* segment of the newest call on it */
};

struct wr_fact_task {
    wr_hash128 key;
    weir_span line; /* the newest command line, or tool and path, on one line */
    bool is_command;
    uint32_t runs_count, failures_count;
    enum wr_fact_outcome outcome; /* of the newest run */
    bool has_exit_code;
    int exit_code;
    weir_span totals; /* "3 failed, 10 passed" of the newest run; may be empty */

    /* of the newest failure */
    weir_span messages[WR_FACT_MESSAGES_MAX];
    uint32_t messages_count;
    weir_span places[WR_FACT_PLACES_MAX]; /* files it named */
    uint32_t places_count;
    bool is_edited_since; /* one of those files, or the very file of the task, was changed later */

    weir_span process_id; /* of the newest run, while it goes on; empty: none */
    uint32_t last;        /* segment of the newest call */
};

enum wr_fact_progress { WR_FACT_PENDING, WR_FACT_ACTIVE, WR_FACT_DONE };

struct wr_fact_item { /* of a plan */
    weir_span text;
    weir_span id; /* of an item that was made on its own; else empty */
    enum wr_fact_progress progress;
};

struct wr_facts {
    weir_span intent; /* the user's first words, and the newest */
    weir_span latest; /* empty where there are no others */
    bool has_intent;  /* false: `intent` is what an agent put into the user's mouth, at best */
    struct wr_fact_file *files;
    uint32_t files_count;
    struct wr_fact_task *tasks;
    uint32_t tasks_count;
    struct wr_fact_item *items; /* of the newest plan */
    uint32_t items_count;
    weir_span *decisions; /* sentences of the model, each on one line */
    uint32_t decisions_count;
    weir_span steps[WR_FACT_STEPS_MAX]; /* what the model's newest text says comes next */
    uint32_t steps_count;
    uint32_t segments_before; /* of the transcripts that were read already */
};

struct wr_facts_range {
    const struct wr_transcript *transcript;
    uint32_t first_segment, end_segment; /* [first, end) */
    const bool *is_included;             /* by number of segment; NULL: all of them */
};

/* Adds what a range tells to `facts`, which are all zero at first. A past that is too long for one
 * transcript is read part by part, and gives what it would have given at once; segments are counted
 * through. Everything is copied into `arena`. */
WEIR_MUST_USE weir_status wr_facts_add(struct wr_facts *facts, struct wr_arena *arena,
                                       const struct wr_facts_range *range);

/* ---- between summary_facts.c and summary_words.c ---- */

struct wr_facts_reader {
    struct wr_facts *facts;
    struct wr_arena *arena;  /* for what stays */
    struct wr_arena indexes; /* for as long as the range is read */
    struct wr_arena scratch; /* emptied after every call and every text */
    const struct wr_facts_range *range;
};

bool wr_facts_include(const struct wr_facts_range *range, uint32_t segment);

/* Makes room for `more` items behind `count` of them; false: no memory. */
#define WR_FACTS_ROOM(arena, items, count, more)                                    \
    (((items) = wr_arena_grow((arena), (items), (size_t)(count) * sizeof(*(items)), \
                              ((size_t)(count) + (more)) * sizeof(*(items)))) != NULL)

/* Puts a number behind all others that have its hash. */
void wr_facts_index(struct wr_index *index, uint64_t hash, uint32_t item);

/* What was said: plans, sentences of the model, words of the user. */
WEIR_MUST_USE weir_status wr_facts_read_words(struct wr_facts_reader *reader);

#endif
