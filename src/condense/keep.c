/* Choosing lines and writing what was chosen. The cost of each line, with the gaps it opens or
 * closes, is counted as it is kept, so that a condenser never has to write its text to know how
 * long it is. The result is scanned for signals before it is given out (law L5); where shorter
 * forms changed the set they are dropped, and where that does not help the text stays whole.
 */
#include "condense/keep.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/focus.h"
#include "condense/note.h"

enum { REPEATS_MIN = 16 }; /* lines of a run that are worth a gap */

weir_status wr_keep_init(struct wr_keep *keep, struct wr_arena *arena,
                         const struct wr_condense_input *input)
{
    weir_span rest = input->text, line;

    *keep = (struct wr_keep){.arena = arena,
                             .text = input->text,
                             .kind = input->kind,
                             .bytes_used = WR_KEEP_GAP_BYTES,
                             .bytes_budget = input->bytes_budget,
                             .cleaned = input->cleaned,
                             .first_number = input->first_number ? input->first_number : 1};
    if (input->text.len > WR_JSON_BODY_BYTES_MAX)
        return WEIR_LIMIT;
    uint32_t count = (uint32_t)wr_span_lines(input->text);
    keep->starts = WR_ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    keep->is_kept = WR_ARENA_ARRAY(arena, bool, count);
    if (!keep->starts || !keep->is_kept)
        return wr_arena_status(arena);
    while (wr_span_line(&rest, &line))
        keep->starts[keep->lines_count++] = (uint32_t)(line.ptr - input->text.ptr);
    keep->starts[count] = (uint32_t)input->text.len;
    return WEIR_OK;
}

weir_span wr_keep_line(const struct wr_keep *keep, uint32_t line)
{
    weir_span text = wr_span_cut(keep->text, keep->starts[line], keep->starts[line + 1]);
    if (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    return text;
}

/* ---- lines that are too long ---- */

/* "[… 12345678 bytes of … left out …]" without the name of what is cut. */
enum { CUT_MARK_BYTES_MAX = 40 };

weir_status wr_keep_shorten(struct wr_keep *keep, size_t line_bytes_max, weir_span what)
{
    size_t least = WR_KEEP_CUT_BYTES_MIN + what.len;
    if (!keep->is_whole)
        keep->is_whole = WR_ARENA_ARRAY(keep->arena, bool, keep->lines_count);
    if (!keep->is_whole)
        return wr_arena_status(keep->arena);
    keep->cut = (struct wr_line_cut){line_bytes_max > least ? line_bytes_max : least, what};
    return WEIR_OK;
}

void wr_keep_whole(struct wr_keep *keep, uint32_t line)
{
    if (keep->is_whole)
        keep->is_whole[line] = true;
}

size_t wr_character_start(weir_span line, size_t at)
{
    size_t start = at;
    while (start && start < line.len && at - start < 3 && wr_utf8_is_tail(line.ptr[start]))
        start--;
    return start < line.len && wr_utf8_is_tail(line.ptr[start]) ? at : start;
}

void wr_keep_cut(struct wr_buf *out, weir_span line, const struct wr_line_cut *cut)
{
    if (!cut->line_bytes_max || line.len <= cut->line_bytes_max) {
        wr_buf_append(out, line);
        return;
    }
    size_t room = cut->line_bytes_max - CUT_MARK_BYTES_MAX - cut->what.len;
    size_t head = wr_character_start(line, room - room / 3);
    size_t tail = line.len - room / 3;
    while (tail < line.len && wr_utf8_is_tail(line.ptr[tail]))
        tail++;
    wr_buf_append(out, wr_span_cut(line, 0, head));
    wr_buf_printf(out, " [… %zu bytes ", tail - head);
    if (cut->what.len)
        wr_buf_printf(out, "of %.*s ", (int)cut->what.len, cut->what.ptr);
    wr_buf_text(out, "left out …] ");
    wr_buf_append(out, wr_span_from(line, tail));
}

static bool is_cut(const struct wr_keep *keep, uint32_t line)
{
    return keep->cut.line_bytes_max && !keep->is_whole[line] &&
           wr_keep_line(keep, line).len > keep->cut.line_bytes_max;
}

/* ---- keeping ---- */

static size_t line_bytes(const struct wr_keep *keep, uint32_t line)
{
    if (wr_keep_has_form(keep, line))
        return keep->forms[line].len + 1;
    return is_cut(keep, line) ? keep->cut.line_bytes_max + 1
                              : keep->starts[line + 1] - keep->starts[line];
}

/* The bytes used once the line is kept, too: a line with both neighbours left out makes two gaps of
 * one, and one that joins two kept runs closes a gap. */
static size_t bytes_with(const struct wr_keep *keep, uint32_t line)
{
    bool before = line == 0 || keep->is_kept[line - 1];
    bool after = line + 1 == keep->lines_count || keep->is_kept[line + 1];
    size_t bytes = keep->bytes_used + line_bytes(keep, line);
    if (before && after)
        return bytes - WR_KEEP_GAP_BYTES;
    return before || after ? bytes : bytes + WR_KEEP_GAP_BYTES;
}

void wr_keep_must(struct wr_keep *keep, uint32_t line)
{
    if (keep->is_kept[line])
        return;
    keep->bytes_used = bytes_with(keep, line);
    keep->is_kept[line] = true;
}

bool wr_keep_one(struct wr_keep *keep, uint32_t line)
{
    if (keep->is_kept[line])
        return true;
    if (bytes_with(keep, line) > keep->bytes_budget)
        return false;
    wr_keep_must(keep, line);
    return true;
}

uint32_t wr_keep_from_front(struct wr_keep *keep, uint32_t first, uint32_t end)
{
    uint32_t line = first;
    while (line < end && wr_keep_one(keep, line))
        line++;
    return line - first;
}

uint32_t wr_keep_from_back(struct wr_keep *keep, uint32_t first, uint32_t end)
{
    uint32_t line = end;
    while (line > first && wr_keep_one(keep, line - 1))
        line--;
    return end - line;
}

void wr_keep_spend_until(struct wr_keep *keep, size_t bytes_total, uint32_t percent)
{
    size_t bytes = bytes_total / 100 * percent + WR_KEEP_GAP_BYTES;
    keep->bytes_budget = bytes < bytes_total ? bytes : bytes_total;
}

void wr_keep_ends(struct wr_keep *keep, uint32_t share_percent)
{
    size_t budget = keep->bytes_budget;
    size_t left = budget > keep->bytes_used ? budget - keep->bytes_used : 0;

    keep->bytes_budget = keep->bytes_used + left / 100 * share_percent;
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    keep->bytes_budget += left / 100 * share_percent;
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    keep->bytes_budget = budget;
}

weir_status wr_keep_signals(struct wr_keep *keep, enum wr_output_kind kind, uint32_t around)
{
    struct wr_signal_set *set = WR_ARENA_ARRAY(keep->arena, struct wr_signal_set, 1);
    if (!set)
        return wr_arena_status(keep->arena);
    weir_status status = wr_signal_scan(set, keep->arena, keep->text, kind);
    if (status)
        return status;
    keep->signals = set;
    keep->kind = kind;
    for (uint32_t i = 0; i < set->lines_count; i++)
        if (set->lines[i] < keep->lines_count) {
            wr_keep_whole(keep, set->lines[i]);
            wr_keep_must(keep, set->lines[i]);
        }
    wr_note_keep_ways(keep);
    for (uint32_t i = 0; i < set->lines_count; i++) {
        uint32_t line = set->lines[i];
        for (uint32_t d = 1; d <= around; d++) {
            if (line >= d)
                (void)wr_keep_one(keep, line - d);
            if (line + d < keep->lines_count)
                (void)wr_keep_one(keep, line + d);
        }
    }
    return WEIR_OK;
}

/* ---- shorter forms ---- */

weir_status wr_keep_form(struct wr_keep *keep, uint32_t line, weir_span form)
{
    if (!keep->forms) {
        keep->forms = WR_ARENA_ARRAY(keep->arena, weir_span, keep->lines_count);
        if (!keep->forms)
            return wr_arena_status(keep->arena);
    }
    size_t before = line_bytes(keep, line);
    keep->forms[line] = form;
    if (keep->is_kept[line])
        keep->bytes_used = keep->bytes_used - before + line_bytes(keep, line);
    return WEIR_OK;
}

/* ---- writing ---- */

static uint32_t run_end(const struct wr_keep *keep, uint32_t line)
{
    bool kept = keep->is_kept[line];
    while (line < keep->lines_count && keep->is_kept[line] == kept)
        line++;
    return line;
}

static size_t run_bytes(const struct wr_keep *keep, uint32_t line, uint32_t end)
{
    size_t bytes = 0;
    for (; line < end; line++)
        bytes += line_bytes(keep, line);
    return bytes;
}

void wr_keep_fill(struct wr_keep *keep)
{
    for (uint32_t line = 0, end; line < keep->lines_count; line = end) {
        end = run_end(keep, line);
        if (keep->is_kept[line] || run_bytes(keep, line, end) > WR_KEEP_GAP_BYTES)
            continue;
        memset(keep->is_kept + line, true, end - line);
    }
}

enum { WIDEN_ROUNDS = 4 };

void wr_keep_widen(struct wr_keep *keep)
{
    for (int round = 0; keep->cut.line_bytes_max && round < WIDEN_ROUNDS; round++) {
        size_t count = 0, width = keep->cut.line_bytes_max;
        for (uint32_t line = 0; line < keep->lines_count; line++)
            count += keep->is_kept[line] && !wr_keep_has_form(keep, line) && is_cut(keep, line);
        if (!count || keep->bytes_used + count > keep->bytes_budget)
            return;
        size_t wider = width + (keep->bytes_budget - keep->bytes_used) / count;
        for (uint32_t line = 0; line < keep->lines_count; line++) {
            if (!keep->is_kept[line] || wr_keep_has_form(keep, line) || !is_cut(keep, line))
                continue;
            size_t len = wr_keep_line(keep, line).len;
            keep->bytes_used += (len < wider ? len : wider) - width;
        }
        keep->cut.line_bytes_max = wider;
    }
}

static uint32_t count_runs(const struct wr_keep *keep)
{
    uint32_t count = 0;
    for (uint32_t line = 0; line < keep->lines_count; line = run_end(keep, line))
        count += keep->is_kept[line];
    return count;
}

static bool is_shortened(const struct wr_keep *keep, uint32_t line)
{
    return wr_keep_has_form(keep, line) || is_cut(keep, line);
}

static void write_shortened(const struct wr_keep *keep, struct wr_buf *buf, uint32_t line)
{
    if (wr_keep_has_form(keep, line))
        wr_buf_append(buf, keep->forms[line]);
    else
        wr_keep_cut(buf, wr_keep_line(keep, line), &keep->cut);
    if (keep->text.ptr[keep->starts[line + 1] - 1] == '\n')
        wr_buf_byte(buf, '\n');
}

static bool any_shortened(const struct wr_keep *keep)
{
    return keep->cut.line_bytes_max || keep->forms;
}

/* Writes [first, end) with the shortened lines short, and lists those. */
static void write_lines(struct wr_keep *keep, struct wr_buf *buf, uint32_t *cut_lines,
                        struct wr_line_range run, struct wr_condensed *out)
{
    uint32_t from = run.first;
    for (uint32_t line = run.first; any_shortened(keep) && line < run.end; line++) {
        if (!is_shortened(keep, line))
            continue;
        wr_buf_append(buf, wr_span_cut(keep->text, keep->starts[from], keep->starts[line]));
        write_shortened(keep, buf, line);
        cut_lines[out->cut_count++] = line;
        from = line + 1;
    }
    wr_buf_append(buf, wr_span_cut(keep->text, keep->starts[from], keep->starts[run.end]));
}

static uint32_t count_cut(const struct wr_keep *keep)
{
    uint32_t count = 0;
    for (uint32_t line = 0; any_shortened(keep) && line < keep->lines_count; line++)
        count += keep->is_kept[line] && is_shortened(keep, line);
    return count;
}

/* Lines are named by their numbers in the text as it came. */
static void write_gap(const struct wr_keep *keep, struct wr_buf *buf, uint32_t first, uint32_t end)
{
    const uint32_t *origins = keep->cleaned ? keep->cleaned->origins : NULL;
    if (keep->is_parts)
        wr_gap_write_parts(buf, end - first);
    else if (keep->cleaned && !origins)
        wr_gap_write_shown(buf, end - first);
    else if (origins)
        wr_gap_write(buf, keep->first_number + origins[first], origins[end] - origins[first]);
    else
        wr_gap_write(buf, keep->first_number + first, end - first);
}

static weir_status write_runs(struct wr_keep *keep, struct wr_buf *buf, struct wr_condensed *out)
{
    struct wr_line_range *kept =
        WR_ARENA_ARRAY(keep->arena, struct wr_line_range, count_runs(keep));
    uint32_t *cut_lines = WR_ARENA_ARRAY(keep->arena, uint32_t, count_cut(keep));
    if (!kept || !cut_lines)
        return wr_arena_status(keep->arena);
    *out = (struct wr_condensed){.lines_total = keep->lines_count,
                                 .kept = kept,
                                 .cut = keep->cut,
                                 .cut_lines = cut_lines,
                                 .forms = keep->forms};
    for (uint32_t line = 0, end; line < keep->lines_count; line = end) {
        end = run_end(keep, line);
        if (!keep->is_kept[line]) {
            write_gap(keep, buf, line, end);
            continue;
        }
        kept[out->kept_count] = (struct wr_line_range){line, end};
        write_lines(keep, buf, cut_lines, kept[out->kept_count++], out);
    }
    return buf->status;
}

/* ---- law L5 ---- */

enum { REPAIRS_MAX = 4 };

#define NO_LINE UINT32_MAX

/* Which line of the text each line of the result is; NO_LINE for gap lines. */
static uint32_t *origins_of(struct wr_keep *keep, const struct wr_condensed *out)
{
    uint32_t *origins = WR_ARENA_ARRAY(keep->arena, uint32_t, (size_t)keep->lines_count * 2 + 1);
    uint32_t count = 0, behind = 0;
    for (uint32_t i = 0; origins && i < out->kept_count; i++) {
        if (out->kept[i].first > behind)
            origins[count++] = NO_LINE;
        for (uint32_t line = out->kept[i].first; line < out->kept[i].end; line++)
            origins[count++] = line;
        behind = out->kept[i].end;
    }
    if (origins)
        origins[count] = NO_LINE;
    return origins;
}

static bool carries_signal(const struct wr_keep *keep, uint32_t line)
{
    return wr_signal_set_has_line(keep->signals, line);
}

/* A frame without the one above it, a line of a diff without its header: what reads as a signal in
 * the result only is left out. Returns how many lines are. */
static uint32_t leave_out_added(struct wr_keep *keep, const struct wr_signal_set *found,
                                const uint32_t *origins)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct wr_signal *signal = &found->signals[i];
        if (wr_signal_set_find(keep->signals, signal->kind, signal->text))
            continue;
        for (uint32_t at = signal->first_line; at < signal->end_line; at++) {
            uint32_t line = origins[at];
            if (line == NO_LINE || carries_signal(keep, line) || !keep->is_kept[line])
                continue;
            keep->is_kept[line] = false;
            count++;
        }
    }
    return count;
}

static weir_status repair(struct wr_keep *keep, const struct wr_signal_set *found,
                          const struct wr_condensed *out, uint32_t round)
{
    if (out->cut_count) { /* What stands around a cut may read as a signal, too. */
        keep->cut = (struct wr_line_cut){0};
        keep->forms = NULL;
        return WEIR_OK;
    }
    const uint32_t *origins = origins_of(keep, out);
    if (!origins)
        return wr_arena_status(keep->arena);
    if (round + 1 < REPAIRS_MAX && leave_out_added(keep, found, origins))
        return WEIR_OK;
    /* Of the lines that carry signals it is known that they are enough. */
    for (uint32_t line = 0; line < keep->lines_count; line++)
        keep->is_kept[line] = carries_signal(keep, line);
    return WEIR_OK;
}

/* Lines that were left out may have decided how those behind them are read. */
static weir_status write_lawful(struct wr_keep *keep, struct wr_buf *buf, struct wr_condensed *out,
                                bool *lawful)
{
    weir_status status = write_runs(keep, buf, out);
    *lawful = !keep->signals;
    for (uint32_t round = 0; !status && !*lawful; round++) {
        struct wr_signal_set found;
        status = wr_signal_scan(&found, keep->arena, wr_buf_view(buf), keep->kind);
        *lawful = !status && wr_signal_set_equal(keep->signals, &found, NULL);
        if (status || *lawful || round == REPAIRS_MAX)
            break;
        status = repair(keep, &found, out, round);
        wr_buf_reset(buf);
        if (!status)
            status = write_runs(keep, buf, out);
    }
    return status;
}

weir_status wr_keep_all(struct wr_keep *keep, struct wr_condensed *out)
{
    struct wr_line_range *whole = WR_ARENA_ARRAY(keep->arena, struct wr_line_range, 1);
    if (!whole)
        return wr_arena_status(keep->arena);
    *whole = (struct wr_line_range){0, keep->lines_count};
    *out = (struct wr_condensed){.text = keep->text,
                                 .kept = whole,
                                 .kept_count = keep->lines_count ? 1 : 0,
                                 .lines_total = keep->lines_count,
                                 .is_same = true};
    return WEIR_OK;
}

/* Behind the last of the lines that are the same as `first`. */
static uint32_t repeats_end(const struct wr_keep *keep, uint32_t first)
{
    weir_span text = wr_keep_line(keep, first);
    uint32_t end = first + 1;
    while (end < keep->lines_count && wr_span_eq(wr_keep_line(keep, end), text))
        end++;
    return end;
}

/* A line that was printed over and over says no more than its first and its last time. */
static void leave_out_repeats(struct wr_keep *keep)
{
    for (uint32_t first = 0, end; first < keep->lines_count; first = end) {
        end = repeats_end(keep, first);
        if (end - first < REPEATS_MIN || keep->is_parts)
            continue;
        for (uint32_t line = first + 1; line + 1 < end; line++)
            keep->is_kept[line] &= keep->signals && carries_signal(keep, line);
    }
}

weir_status wr_keep_write(struct wr_keep *keep, struct wr_condensed *out)
{
    struct wr_buf buf;
    bool lawful = false;
    leave_out_repeats(keep);
    wr_keep_fill(keep);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = write_lawful(keep, &buf, out, &lawful);
    if (!status && (!lawful || buf.len >= keep->text.len)) {
        status = wr_keep_all(keep, out);
    } else if (!status) {
        out->text = wr_arena_copy(keep->arena, wr_buf_view(&buf));
        status = out->text.ptr ? WEIR_OK : wr_arena_status(keep->arena);
    }
    wr_buf_release(&buf);
    return status;
}

/* ---- choosing ---- */

enum {
    LINE_SHARE = 8, /* of the budget, what one line may have */
    LINE_BYTES_MIN = 320,
};

weir_status wr_choose_begin(struct wr_keep *keep, struct wr_arena *arena,
                            const struct wr_condense_input *input)
{
    size_t line_bytes_max = input->bytes_budget / LINE_SHARE;
    weir_status status = wr_keep_init(keep, arena, input);
    if (line_bytes_max < LINE_BYTES_MIN)
        line_bytes_max = LINE_BYTES_MIN;
    if (line_bytes_max > WR_KEEP_LINE_BYTES_MAX)
        line_bytes_max = WR_KEEP_LINE_BYTES_MAX;
    if (!status && input->text.len > input->bytes_budget)
        status = wr_keep_shorten(keep, line_bytes_max, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(keep, input->kind, 0);
    if (!status)
        wr_note_keep(keep);
    return status;
}

size_t wr_choose_share(struct wr_keep *keep, uint32_t percent)
{
    size_t budget = keep->bytes_budget;
    size_t left = budget > keep->bytes_used ? budget - keep->bytes_used : 0;
    keep->bytes_budget = keep->bytes_used + left * percent / 100;
    return budget;
}

/* How far what belongs to one signal has grown. */
struct reach {
    uint32_t first, last;
    bool is_closed_above, is_closed_below;
};

static void grow_up(struct wr_keep *keep, const uint8_t *borders, struct reach *reach)
{
    if (reach->is_closed_above)
        return;
    bool at_border = !reach->first || borders[reach->first] == WR_BORDER_HEADING ||
                     borders[reach->first - 1] == WR_BORDER_WALL;
    if (at_border || !wr_keep_one(keep, reach->first - 1))
        reach->is_closed_above = true;
    else
        reach->first--;
}

static void grow_down(struct wr_keep *keep, const uint8_t *borders, struct reach *reach)
{
    if (reach->is_closed_below)
        return;
    bool at_border =
        reach->last + 1 >= keep->lines_count || borders[reach->last + 1] != WR_BORDER_NONE;
    if (at_border || !wr_keep_one(keep, reach->last + 1))
        reach->is_closed_below = true;
    else
        reach->last++;
}

weir_status wr_choose_context(struct wr_keep *keep, const uint8_t *borders, uint32_t before,
                              uint32_t after)
{
    const struct wr_signal_set *set = keep->signals;
    uint32_t most = before > after ? before : after, count = 0;
    struct reach *reaches = WR_ARENA_ARRAY(keep->arena, struct reach, set->lines_count);
    if (!reaches)
        return wr_arena_status(keep->arena);
    for (uint32_t i = 0; i < set->lines_count; i++)
        if (set->lines[i] < keep->lines_count)
            reaches[count++] = (struct reach){set->lines[i], set->lines[i], false, false};
    for (uint32_t distance = 1; distance <= most; distance++)
        for (uint32_t i = 0; i < count && keep->bytes_used < keep->bytes_budget; i++) {
            if (distance <= after)
                grow_down(keep, borders, &reaches[i]);
            if (distance <= before)
                grow_up(keep, borders, &reaches[i]);
        }
    return WEIR_OK;
}

weir_status wr_choose_focus(struct wr_keep *keep, const struct wr_condense_input *input,
                            uint32_t percent)
{
    struct wr_focus focus;
    if (!input->query.len && !input->focus.len)
        return WEIR_OK;
    weir_status status = wr_focus_init(&focus, keep->arena, input);
    if (!status)
        status = wr_focus_find(&focus, keep);
    if (status)
        return status;
    size_t left = keep->bytes_budget > keep->bytes_used ? keep->bytes_budget - keep->bytes_used : 0;
    wr_focus_keep(&focus, keep, 1, left * percent / 100);
    return WEIR_OK;
}

enum { STRIDE_MAX = 256 };

void wr_choose_spread(struct wr_keep *keep, const uint32_t *lines, uint32_t count)
{
    for (uint32_t stride = STRIDE_MAX; stride && keep->bytes_used < keep->bytes_budget; stride /= 2)
        for (uint32_t i = 0; i < count; i += stride)
            (void)wr_keep_one(keep, lines[i]);
}
