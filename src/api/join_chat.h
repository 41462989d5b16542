/* join_chat.h -- what join_chat.c (events) and join_chat_leg.c (legs) share. */
#ifndef WR_API_JOIN_CHAT_H
#define WR_API_JOIN_CHAT_H

#include "api/join_api.h"

/* What stands in a chunk. */
struct wr_chat_chunk {
    const struct wr_json *doc;
    wr_json_id choice, delta, calls, role, finish, usage;
    bool is_finish;     /* it says why the answer ended */
    bool is_usage;      /* it has nothing but usage */
    size_t own_count;   /* calls of ours in it */
    size_t calls_count; /* and of the client's */
};

struct wr_chat_chunk wr_chat_read_chunk(const struct wr_json *doc);

/* null, or empty. */
bool wr_chat_is_nothing(const struct wr_json *doc, wr_json_id value);

/* The number of a call; -1: it has none, and is known by its id. */
int64_t wr_chat_index(const struct wr_json *doc, wr_json_id entry);

/* For the table. */
void wr_chat_read_leg(struct wr_join *join, struct wr_leg *leg);
void wr_chat_edit_whole(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc);
void wr_chat_write_elements(const struct wr_leg *leg, struct wr_buf *out);

#endif
