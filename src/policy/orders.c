/* Orders as lines: read, written, compared; and which tools and paths a pin fits.
 *
 * The words are tables, so that reading and writing cannot drift apart. A line that is not one of
 * them is refused and not guessed at: it may come from a person's hand.
 */
#include "policy/orders.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "policy/policy.h"
#include "transcript/tool.h"

static const char *const order_names[] = {
#define X(name, text) text,
    WR_ORDER_MAP(X)
#undef X
};

static const char *const pin_names[] = {
#define X(name, text) text,
    WR_PIN_MAP(X)
#undef X
};

const char *wr_pin_name(enum wr_pin_kind kind)
{
    return pin_names[kind];
}

/* The number of the word that `*text` begins with, which is cut off; `count`: none. */
static size_t take_word(weir_span *text, const char *const *words, size_t count)
{
    size_t space = wr_span_find(*text, WR_LIT(" "), 0), i = 0;
    weir_span word = wr_span_cut(*text, 0, space < text->len ? space : text->len);

    while (i < count && !wr_span_is(word, words[i]))
        i++;
    *text = wr_span_cut(*text, word.len + (word.len < text->len), text->len);
    return i;
}

/* No line's end, no other control byte: an order is a line, and is shown on terminals. */
static bool is_plain_line(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7F)
            return false;
    return text.len <= WR_ORDER_BYTES_MAX;
}

static bool read_odds(weir_span text, struct wr_order *order)
{
    uint64_t pct;

    if (!wr_span_u64(text, &pct) || !pct || pct > WR_ODDS_LEARNED_PCT_MAX)
        return false;
    order->odds_pct = (uint32_t)pct;
    return true;
}

/* A handle has no space: what is behind one is the path. */
static bool read_pin(weir_span text, struct wr_order *order)
{
    size_t pin = take_word(&text, pin_names, WR_PINS_COUNT);
    size_t space = pin == WR_PIN_HANDLE ? wr_span_find(text, WR_LIT(" "), 0) : SIZE_MAX;

    order->pin = (enum wr_pin_kind)pin;
    order->name = wr_span_cut(text, 0, space < text.len ? space : text.len);
    if (space < text.len)
        order->of = wr_span_from(text, space + 1);
    return pin < WR_PINS_COUNT && order->name.len;
}

bool wr_order_read(weir_span line, struct wr_order *order)
{
    if (!is_plain_line(line))
        return false;
    size_t kind = take_word(&line, order_names, WR_ORDERS_COUNT);
    *order = (struct wr_order){.kind = (enum wr_order_kind)kind, .name = {"", 0}, .of = {"", 0}};
    if (kind == WR_ORDER_PIN || kind == WR_ORDER_UNPIN)
        return read_pin(line, order);
    if (kind == WR_ORDER_ODDS)
        return read_odds(line, order);
    return kind < WR_ORDERS_COUNT && !line.len;
}

void wr_order_write(struct wr_buf *out, const struct wr_order *order)
{
    wr_buf_text(out, order_names[order->kind]);
    if (order->kind == WR_ORDER_ODDS)
        wr_buf_printf(out, " %u", order->odds_pct);
    if (order->kind != WR_ORDER_PIN && order->kind != WR_ORDER_UNPIN)
        return;
    wr_buf_printf(out, " %s ", pin_names[order->pin]);
    wr_buf_append(out, order->name);
    if (order->of.len) {
        wr_buf_byte(out, ' ');
        wr_buf_append(out, order->of);
    }
}

bool wr_order_is_same_pin(const struct wr_order *a, const struct wr_order *b)
{
    return a->pin == b->pin && wr_span_eq(a->name, b->name);
}

/* ---- what is meant ---- */

/* '*' matches any bytes, also none. Takes linear time, except for going back to the last star. */
static bool fits(weir_span pattern, weir_span text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

bool wr_pin_fits_tool(weir_span pattern, weir_span tool)
{
    weir_span last = wr_tool_last_part(tool);

    return tool.len && (fits(pattern, tool) || (last.len && fits(pattern, last)));
}

/* A path may be named from the project's folder on, and be absolute in a call. */
bool wr_pin_fits_path(weir_span pattern, weir_span path)
{
    while (wr_span_starts(pattern, WR_LIT("./")))
        pattern = wr_span_from(pattern, 2);
    if (!path.len || !pattern.len)
        return false;
    if (fits(pattern, path))
        return true;
    for (size_t at = 0; (at = wr_span_find(path, WR_LIT("/"), at)) != SIZE_MAX; at++)
        if (fits(pattern, wr_span_from(path, at + 1)))
            return true;
    return false;
}

bool wr_pin_fits(const struct wr_order *pin, const struct wr_segment *s)
{
    const struct wr_tool_handles *h = s->handles;

    if (s->kind != WEIR_KIND_TOOL_CALL && s->kind != WEIR_KIND_TOOL_RESULT)
        return false;
    if (pin->pin == WR_PIN_TOOL)
        return wr_pin_fits_tool(pin->name, s->tool);
    if (pin->pin != WR_PIN_PATH || !h)
        return false;
    if (wr_pin_fits_path(pin->name, h->path))
        return true;
    for (size_t i = 0; i < h->effects_count; i++)
        if (wr_pin_fits_path(pin->name, h->effects[i].path))
            return true;
    return false;
}
