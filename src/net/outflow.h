/* outflow.h -- the bytes on their way out of one connection: the queue, its marks, its end.
 *
 * Bytes are added, handed on to a writer, and gone when the writer has put them on the wire. The
 * writer takes what it can at once, and the rest as a write that ends later. It comes from outside,
 * so that every order of those ends can be tried without a socket.
 *
 *           wr_outflow_has_room() says no               wr_outflow_end()
 *    OPEN ───────────────────────────────▶ FULL   OPEN, FULL ─────▶ LAST
 *         ◀───────────────────────────────                           │ wr_outflow_settle(): all is
 *           wr_outflow_settle(): at most the                         ▼ gone; it says so, once
 *           low mark is queued; it says so                         GONE
 *
 *    A write that fails, or bytes that find no memory: BROKEN, from any state, for good.
 *
 * 1. Whoever was told that there is no room is told when there is room again. The queue gets
 * shorter in two ways: a write ends, or the writer takes bytes at once, for which no end is ever
 *    reported. So the owner calls wr_outflow_settle() after both.
 * 2. Nothing here calls its owner: what is to be done is what wr_outflow_settle() returns.
 */
#ifndef WR_NET_OUTFLOW_H
#define WR_NET_OUTFLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct wr_outflow_writer {
    /* Takes what it can at once and says how much. -1: the connection is broken. */
    ssize_t (*write_now)(void *user, weir_span bytes);
    /* Takes the buffer itself, to write what is in it from `from` on. The owner calls
     * wr_outflow_settle() when that is done, or wr_outflow_fail() before. False: it is broken, and
     * the buffer was not taken. */
    bool (*write_later)(void *user, struct wr_buf *bytes, size_t from);
    /* How much of what write_later() took is not written yet. */
    size_t (*waiting_bytes)(void *user);
};

struct wr_outflow_marks {
    size_t high_bytes; /* with more than this queued there is no room */
    size_t low_bytes;  /* with this or less queued there is room again */
    size_t hand_bytes; /* with this added it is handed on at once, not when the turn ends */
};

extern const struct wr_outflow_marks wr_outflow_marks_default;

enum wr_outflow_state {
    WR_OUTFLOW_OPEN,
    WR_OUTFLOW_FULL, /* somebody waits for room */
    WR_OUTFLOW_LAST, /* nothing is added any more */
    WR_OUTFLOW_GONE,
    WR_OUTFLOW_BROKEN,
};

enum wr_outflow_news {
    WR_OUTFLOW_NO_NEWS,
    WR_OUTFLOW_HAS_ROOM, /* whoever waits may go on */
    WR_OUTFLOW_IS_GONE,  /* the last byte is with the client's system: the side may be closed */
    WR_OUTFLOW_IS_BROKEN,
};

struct wr_outflow {      /* private; visible only so that a connection can hold one */
    struct wr_buf bytes; /* added and not handed on */
    struct wr_outflow_marks marks;
    enum wr_outflow_state state;
    uint64_t handed_bytes; /* to the writer, ever */
    const struct wr_outflow_writer *writer;
    void *user;
};

void wr_outflow_init(struct wr_outflow *flow, const struct wr_outflow_marks *marks,
                     const struct wr_outflow_writer *writer, void *user);
void wr_outflow_release(struct wr_outflow *flow);

/* What is appended here is added. Call wr_outflow_added() behind it. */
struct wr_buf *wr_outflow_buf(struct wr_outflow *flow);
void wr_outflow_added(struct wr_outflow *flow);

/* All that was added goes to the writer. A failure shows in wr_outflow_settle(). */
void wr_outflow_hand_on(struct wr_outflow *flow);

/* Added and not gone yet; and how much has gone, ever. */
size_t wr_outflow_queued_bytes(const struct wr_outflow *flow);
uint64_t wr_outflow_gone_bytes(const struct wr_outflow *flow);

/* Whether more may be added. Who hears no will hear WR_OUTFLOW_HAS_ROOM. */
bool wr_outflow_has_room(struct wr_outflow *flow);

/* Nothing is added any more. */
void wr_outflow_end(struct wr_outflow *flow);
void wr_outflow_fail(struct wr_outflow *flow);

/* What has happened since the last call. Each piece of news is told once, except that it is broken,
 * which is told every time. */
enum wr_outflow_news wr_outflow_settle(struct wr_outflow *flow);

#endif
