/* strict_case.h -- cases of a strict replay: requests, and what must be true of what is sent.
 *
 * A file is `{"scenarios":[...]}`; docs/replay.md has every field. A case is a list of turns. A
 * turn is a whole request body, or the messages (items) that the last one has grown by.
 */
#ifndef WR_LAB_STRICT_CASE_H
#define WR_LAB_STRICT_CASE_H

#include "json/json.h"

enum wr_case_mode {
    WR_CASE_ACTIVE,
    WR_CASE_SHADOW, /* decided, and the request sent as it came */
    WR_CASE_EXACT,
};

enum wr_case_outcome { WR_CASE_ANY, WR_CASE_REWRITE, WR_CASE_PASS_THROUGH };

/* What has become of the store before a turn. */
enum wr_case_trouble {
    WR_CASE_SOUND,
    WR_CASE_MISSING, /* what was stored so far is gone */
    WR_CASE_CORRUPT, /* what was stored so far has other bytes */
    WR_CASE_LOCKED,  /* nothing can be written in this turn */
};

struct wr_case_texts {
    weir_span *items;
    uint32_t count;
};

struct wr_case_turn {
    wr_json_id request;              /* a whole body; NONE: the last one, grown by `append` */
    wr_json_id append;               /* an array, or NONE */
    struct wr_case_texts required;   /* in what is sent, or one recall away */
    struct wr_case_texts kept;       /* in what is sent, word for word */
    struct wr_case_texts pointers;   /* JSON pointers to values that stay the same bytes */
    struct wr_case_texts unresolved; /* handles in the request that lead nowhere and stay in it */
    struct wr_case_texts resolved; /* handles that, where a form carried them, lead to their text */
    enum wr_case_outcome outcome;
    enum wr_case_trouble trouble;
    bool restarts; /* the process was started anew before this turn */
    uint64_t pause_ms;
};

struct wr_case {
    const struct wr_json *doc;
    weir_span id;
    const char *dialect; /* a constant; NULL: by shape */
    bool is_foreign;     /* of a path that is none of the three APIs': never read */
    enum wr_case_mode mode;
    uint32_t window_tokens; /* 0: the model's */
    struct wr_case_turn *turns;
    uint32_t turns_count;
};

struct wr_cases {
    struct wr_json doc;
    struct wr_case *items;
    uint32_t count;
};

/* Reads a file's text, which is borrowed for as long as the cases are used; all else is in `arena`.
 * WEIR_SYNTAX: not JSON. WEIR_INVALID: no file of cases, or one is wrong; with the byte. */
WEIR_MUST_USE weir_status wr_cases_read(struct wr_cases *cases, struct wr_arena *arena,
                                        weir_span text, struct weir_err *err);

/* The value that a JSON pointer (RFC 6901) leads to, or NONE. */
wr_json_id wr_json_pointer(const struct wr_json *doc, struct wr_arena *arena, weir_span pointer);

#endif
