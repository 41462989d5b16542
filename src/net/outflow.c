#include "net/outflow.h"

#include "base/limits.h"

enum {
    BYTES_KEPT = 4 * 1024,        /* of an empty buffer that waits for the next write */
    BYTES_MAX = 64 * 1024 * 1024, /* what one answer of our own may take */
    HAND_BYTES = 32 * 1024,       /* not worth waiting for more */
};

const struct wr_outflow_marks wr_outflow_marks_default = {
    .high_bytes = WR_NET_QUEUED_BYTES_MAX,
    .low_bytes = WR_NET_QUEUED_BYTES_LOW,
    .hand_bytes = HAND_BYTES,
};

void wr_outflow_init(struct wr_outflow *flow, const struct wr_outflow_marks *marks,
                     const struct wr_outflow_writer *writer, void *user)
{
    *flow = (struct wr_outflow){.marks = *marks, .writer = writer, .user = user};
    wr_buf_init(&flow->bytes, BYTES_MAX);
}

void wr_outflow_release(struct wr_outflow *flow)
{
    wr_buf_release(&flow->bytes);
}

struct wr_buf *wr_outflow_buf(struct wr_outflow *flow)
{
    return &flow->bytes;
}

void wr_outflow_added(struct wr_outflow *flow)
{
    if (flow->bytes.len >= flow->marks.hand_bytes)
        wr_outflow_hand_on(flow);
}

static void empty_buf(struct wr_buf *buf)
{
    if (buf->cap <= BYTES_KEPT) {
        wr_buf_reset(buf);
        return;
    }
    wr_buf_release(buf);
    wr_buf_init(buf, BYTES_MAX);
}

static bool is_over(const struct wr_outflow *flow)
{
    return flow->state == WR_OUTFLOW_BROKEN || flow->state == WR_OUTFLOW_GONE;
}

void wr_outflow_hand_on(struct wr_outflow *flow)
{
    struct wr_buf *bytes = &flow->bytes;

    if (is_over(flow))
        return;
    if (wr_buf_status(bytes)) {
        flow->state = WR_OUTFLOW_BROKEN;
        return;
    }
    if (!bytes->len)
        return;
    size_t len = bytes->len;
    ssize_t taken = flow->writer->write_now(flow->user, wr_buf_view(bytes));
    if (taken == (ssize_t)len) {
        empty_buf(bytes);
    } else if (taken >= 0 && flow->writer->write_later(flow->user, bytes, (size_t)taken)) {
        wr_buf_init(bytes, BYTES_MAX);
    } else {
        flow->state = WR_OUTFLOW_BROKEN;
        return;
    }
    flow->handed_bytes += len;
}

size_t wr_outflow_queued_bytes(const struct wr_outflow *flow)
{
    return flow->bytes.len + flow->writer->waiting_bytes(flow->user);
}

uint64_t wr_outflow_gone_bytes(const struct wr_outflow *flow)
{
    return flow->handed_bytes - flow->writer->waiting_bytes(flow->user);
}

bool wr_outflow_has_room(struct wr_outflow *flow)
{
    if (wr_outflow_queued_bytes(flow) <= flow->marks.high_bytes)
        return true;
    if (flow->state == WR_OUTFLOW_OPEN)
        flow->state = WR_OUTFLOW_FULL;
    return false;
}

void wr_outflow_end(struct wr_outflow *flow)
{
    if (!is_over(flow))
        flow->state = WR_OUTFLOW_LAST;
}

void wr_outflow_fail(struct wr_outflow *flow)
{
    flow->state = WR_OUTFLOW_BROKEN;
}

enum wr_outflow_news wr_outflow_settle(struct wr_outflow *flow)
{
    switch (flow->state) {
    case WR_OUTFLOW_FULL:
        if (wr_outflow_queued_bytes(flow) > flow->marks.low_bytes)
            return WR_OUTFLOW_NO_NEWS;
        flow->state = WR_OUTFLOW_OPEN;
        return WR_OUTFLOW_HAS_ROOM;
    case WR_OUTFLOW_LAST:
        if (wr_outflow_queued_bytes(flow))
            return WR_OUTFLOW_NO_NEWS;
        flow->state = WR_OUTFLOW_GONE;
        return WR_OUTFLOW_IS_GONE;
    case WR_OUTFLOW_BROKEN:
        return WR_OUTFLOW_IS_BROKEN;
    case WR_OUTFLOW_OPEN:
    case WR_OUTFLOW_GONE:
        break;
    }
    return WR_OUTFLOW_NO_NEWS;
}
