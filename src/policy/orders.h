/* orders.h -- what somebody says about a session while it runs, a line each:
 *
 *   pin tool Read            results and calls of that tool stay whole; the name may end in '*'
 *   pin path src/main.c      what shows or writes that file; '*' stands for any bytes
 *   pin handle wr_...        the text of that handle, or what a summary of that handle stands for
 *                            (behind the handle may stand the path that it was chosen by)
 *   unpin ...                takes back the pin of the same words
 *   back                     what is pinned and was taken out comes back at once
 *   undo                     what the last step took is as it was before it
 *   now                      the next step is taken at once
 *   exact                    from now on messages go as they came
 *   resume                   and from now on not any more
 *   odds 300                 nobody says it: the odds of a blind quote, in percent of the table's,
 *                            that the session began with (docs/quality.md)
 *
 * A fold hears them turn by turn (struct wr_fold_turn); `exact` and `resume` are for whoever
 * chooses its policy. How they come to a session is in engine/steer.h.
 */
#ifndef WR_POLICY_ORDERS_H
#define WR_POLICY_ORDERS_H

#include <stdbool.h>

#include "base/buf.h"
#include "transcript/transcript.h"

#define WR_ORDER_MAP(X) \
    X(PIN, "pin")       \
    X(UNPIN, "unpin")   \
    X(BACK, "back")     \
    X(UNDO, "undo")     \
    X(NOW, "now")       \
    X(EXACT, "exact")   \
    X(RESUME, "resume") \
    X(ODDS, "odds")

enum wr_order_kind {
#define X(name, text) WR_ORDER_##name,
    WR_ORDER_MAP(X)
#undef X
        WR_ORDERS_COUNT
};

/* What a pin is of. */
#define WR_PIN_MAP(X) \
    X(TOOL, "tool")   \
    X(PATH, "path")   \
    X(HANDLE, "handle")

enum wr_pin_kind {
#define X(name, text) WR_PIN_##name,
    WR_PIN_MAP(X)
#undef X
        WR_PINS_COUNT
};

/* What a session begins with by rules and learning, as words of weir_project_options.tools. */
#define WR_WORD_PATH  "-path:"
#define WR_WORD_BLIND "blind:"

const char *wr_pin_name(enum wr_pin_kind kind);

struct wr_order {
    enum wr_order_kind kind;
    enum wr_pin_kind pin; /* of PIN and UNPIN, as what follows */
    weir_span name;       /* points into what was read */
    weir_span of;         /* of a handle: the path that was meant; empty: nobody knows */
    uint32_t odds_pct;    /* of ODDS */
};

/* Reads a line. False: it is none, or longer than WR_ORDER_BYTES_MAX. */
bool wr_order_read(weir_span line, struct wr_order *order);

/* Appends it, without a line's end. */
void wr_order_write(struct wr_buf *out, const struct wr_order *order);

/* Whether both are of the same thing. */
bool wr_order_is_same_pin(const struct wr_order *a, const struct wr_order *b);

/* Whether a tool's name is meant: all of it, its last part behind a server's name, or as far as a
 * '*' at the end. */
bool wr_pin_fits_tool(weir_span pattern, weir_span tool);

/* Whether a path is meant: all of it, its last parts, or what '*' lets through of either. */
bool wr_pin_fits_path(weir_span pattern, weir_span path);

#endif
