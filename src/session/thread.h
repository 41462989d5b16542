/* thread.h -- a session as its journal tells it, in memory: what a request is made from.
 *
 * 1. A thread is a fold over the events: the same events give the same thread.
 * 2. An event is staged, then written to the journal, then committed; committing cannot fail, so
 *    what is in the journal and what is in memory never differ.
 * 3. A compaction drops the messages before it from memory (they are in the journal). Words of the
 *    user stay, unless the event says otherwise.
 * 4. Words that came in since the last turn wait for the next one.
 */
#ifndef WR_SESSION_THREAD_H
#define WR_SESSION_THREAD_H

#include "base/hash.h"
#include "base/limits.h"
#include "policy/fold.h"
#include "policy/budget.h"
#include "session/event.h"

struct wr_message {
    struct wr_event event; /* user, steering, assistant, result or turn */
    uint64_t tokens;       /* of the text and the images */
    uint64_t call_tokens;  /* of the arguments of its calls */
    uint32_t score;        /* 0: never rated */
    bool is_head;          /* words of the user from before the last compaction: carried over */
    bool is_counted;       /* the two counts are those of the model in use */
};

/* What a checkpoint remembers of a message that is held; the message itself is in the journal. */
struct wr_held {
    struct wr_place place;
    uint64_t tokens, call_tokens;
    uint32_t score;
    bool is_head;
};

struct wr_thread {
    struct wr_arena arena;       /* of everything below */
    struct wr_message *messages; /* heap */
    uint32_t messages_count, messages_cap;
    weir_span prompt, model;
    struct wr_place prompt_place, tools_place, summary_place; /* of their events */
    uint64_t prompt_tokens;
    weir_span prompt_pieces,
        tools_pieces;       /* as the journal has them (prompt.h); empty: it has none */
    uint64_t window_tokens; /* as a switch of models said; 0: it did not */
    weir_span summary;      /* of what left; empty: none */
    uint64_t summary_tokens;
    uint64_t omitted_count;       /* messages that left without a summary; 0: none */
    weir_span history_path;       /* the file that has what left; empty: none */
    uint64_t binds_after;         /* what stands before this event was changed at it */
    uint64_t cut_seq;             /* of the last compaction */
    struct wr_event last_summary; /* not in force until a compaction names it */
    struct weir_call pending[WR_JOURNAL_CALLS_MAX];
    uint32_t pending_count;
    wr_hash128 begun; /* of the id of the call that was begun last; zero: it has its result */
    uint64_t seq, turn_seq, answer_seq; /* of the last event, turn, answer */
    uint64_t turn_before_seq;           /* of the turn before the last one */
    bool is_paused;
    int64_t run_started_ms;      /* the user's last words, or a program that began a run */
    int64_t run_worked_ms;       /* the last turn, answer or result since then */
    struct wr_run_used used;     /* since then; elapsed_ms is not filled in */
    struct wr_run_used all_used; /* since the first event; elapsed_ms is that of the runs before */
    uint64_t unpriced_count;     /* answers since then whose price is not known */
    uint64_t iterations;         /* answers with calls since the user's last words */
    uint64_t last_input_tokens;
    uint64_t sent_seq;   /* of the last event that says what left; 0: none does */
    struct wr_sent sent; /* what it says */
    bool counts_later;   /* nothing is counted until wr_thread_recount() */
    wr_count_fn *count;
    void *user;
    const struct wr_image_rule *image_rule; /* of the model in use; NULL: images count nothing */
};

/* An event that is ready to become part of a thread. */
struct wr_staged {
    struct wr_event event;
    struct wr_message message;
    struct wr_arena arena; /* of a compaction: what takes the old one's place */
    struct wr_message *messages;
    uint32_t messages_count;
    weir_span prompt, model, summary, history_path, prompt_pieces, tools_pieces;
    bool has_arena;
};

void wr_thread_init(struct wr_thread *thread, wr_count_fn *count, void *user);
void wr_thread_release(struct wr_thread *thread);

/* Makes room. Nothing is changed but memory; a staged event is committed or dropped. */
WEIR_MUST_USE weir_status wr_thread_stage(struct wr_thread *thread, const struct wr_event *event,
                                          struct wr_staged *staged);
void wr_thread_drop(struct wr_staged *staged);

/* `written` is the event as the journal took it: with its number and its place. */
void wr_thread_commit(struct wr_thread *thread, struct wr_staged *staged,
                      const struct wr_event *written);

/* The counts by the model in use: all, or those that are missing. */
void wr_thread_recount(struct wr_thread *thread, bool all);

/* An event as a checkpoint says it is held: a message, or the text that a number of the thread
 * names (prompt, tools, summary). They come in order. WEIR_INVALID: it is none of these. */
WEIR_MUST_USE weir_status wr_thread_hold(struct wr_thread *thread, const struct wr_event *event,
                                         const struct wr_held *held);

/* Messages as an actor counts them: turns are none, and words that were carried over are one
 * section, whatever their number. */
uint64_t wr_thread_count(const struct wr_thread *thread);

/* Whether something is there that the model has not answered. */
bool wr_thread_has_news(const struct wr_thread *thread);

/* Whether the next request begins a turn, and is not the last one again. */
bool wr_thread_needs_turn(const struct wr_thread *thread);

/* Whether words of the user wait. */
bool wr_thread_has_words(const struct wr_thread *thread);

/* What the run, or the session, used until `now_ms`. A session's time is that of its runs: what
 * lies between the last answer and the user's next words is nobody's work. */
struct wr_run_used wr_thread_run_used(const struct wr_thread *thread, int64_t now_ms);
struct wr_run_used wr_thread_all_used(const struct wr_thread *thread, int64_t now_ms);

struct wr_message *wr_thread_find(struct wr_thread *thread, uint64_t seq);

static inline bool wr_message_is_words(const struct wr_message *message)
{
    return message->event.kind == WR_EVENT_USER || message->event.kind == WR_EVENT_STEERING;
}

#endif
