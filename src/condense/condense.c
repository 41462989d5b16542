/* One output condensed from end to end: cleaned as its kind allows, given to the condenser of its
 * kind, its lines numbered as they came. Numbers are put back here and not in the condensers, so
 * that these need not know that their text was cleaned. wr_condense_within() tries smaller budgets
 * until the result fits: what a condenser must keep is known only when it is done.
 */
#include "condense/condense.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/words.h"
#include "condense/keep.h"

/* -- what is never condensed ------------------------------------------------------------------- */

enum { STUB_BYTES_MAX = 2048 };

/* "File unchanged since last read. ..." */
static bool is_unchanged_stub(weir_span text)
{
    return text.len <= STUB_BYTES_MAX &&
           wr_front_of(text, "File unchanged|<file_unchanged|[File unchanged");
}

bool wr_exempt_is(enum wr_output_origin origin, weir_span text)
{
    bool is_confirmation =
        origin == WR_ORIGIN_CHANGE && text.len <= WR_EXEMPT_CONFIRMATION_BYTES_MAX;
    return origin == WR_ORIGIN_TELL || is_confirmation || is_unchanged_stub(text);
}

/* All of it, where the budget allows. */
static weir_status keep_all(struct wr_condensed *out, struct wr_arena *arena,
                            const struct wr_condense_input *input)
{
    struct wr_keep keep;
    weir_status status = wr_keep_init(&keep, arena, input);
    return status ? status : wr_keep_all(&keep, out);
}

static weir_status condense_by_kind(struct wr_condensed *out, struct wr_arena *arena,
                                    const struct wr_condense_input *input)
{
    if (input->text.len <= input->bytes_budget)
        return keep_all(out, arena, input);
    switch (input->kind) {
    case WR_OUTPUT_FILE:
        return wr_condense_file(out, arena, input);
    case WR_OUTPUT_LOG:
        return wr_condense_log(out, arena, input);
    case WR_OUTPUT_TEST:
        return wr_condense_test(out, arena, input);
    case WR_OUTPUT_SEARCH:
        return wr_condense_search(out, arena, input);
    case WR_OUTPUT_DIFF:
        return wr_condense_diff(out, arena, input);
    case WR_OUTPUT_JSON:
        return wr_condense_json(out, arena, input);
    case WR_OUTPUT_LIST:
        return wr_condense_list(out, arena, input);
    case WR_OUTPUT_BLOB:
        return wr_condense_blob(out, arena, input);
    case WR_OUTPUT_PROSE:
        return wr_condense_prose(out, arena, input);
    case WR_OUTPUT_PROCESS:
    case WR_OUTPUT_KINDS:
        break;
    }
    return wr_condense_process(out, arena, input);
}

/* ---- what a terminal showed ---- */

static bool has_long_line(weir_span text, size_t bytes_max)
{
    weir_span line;
    while (wr_span_line(&text, &line))
        if (line.len > bytes_max)
            return true;
    return false;
}

/* A stream that a terminal showed has caps of its own, whatever the budget: its end, and of each
 * value in it so much. */
static bool is_over_caps(const struct wr_condense_input *input)
{
    return input->cleaned && input->cleaned->is_rendered &&
           input->bytes_budget > WR_TERMINAL_STREAM_BYTES_MAX &&
           (input->text.len > WR_TERMINAL_STREAM_BYTES_MAX ||
            has_long_line(input->text, WR_TERMINAL_VALUE_BYTES_MAX));
}

static weir_status cap_stream(struct wr_condensed *out, struct wr_arena *arena,
                              const struct wr_condense_input *input)
{
    struct wr_condense_input capped = *input;
    struct wr_keep keep;
    capped.bytes_budget = WR_TERMINAL_STREAM_BYTES_MAX;
    weir_status status = wr_keep_init(&keep, arena, &capped);
    if (!status)
        status = wr_keep_shorten(&keep, WR_TERMINAL_VALUE_BYTES_MAX, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&keep, input->kind, 0);
    if (status)
        return status;
    (void)wr_keep_from_back(&keep, 0, keep.lines_count);
    return wr_keep_write(&keep, out);
}

/* ---- numbers of lines ---- */

static weir_status renumber_forms(struct wr_condensed *out, struct wr_arena *arena,
                                  const struct wr_lossless_text *cleaned)
{
    if (!out->forms)
        return WEIR_OK;
    weir_span *forms = WR_ARENA_ARRAY(arena, weir_span, cleaned->lines_total);
    if (!forms)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < cleaned->lines_count; i++)
        forms[cleaned->origins[i]] = out->forms[i];
    out->forms = forms;
    return WEIR_OK;
}

/* From the lines of the cleaned text to those of the text as it came. */
static weir_status renumber(struct wr_condensed *out, struct wr_arena *arena,
                            const struct wr_lossless_text *cleaned)
{
    const uint32_t *origins = cleaned->origins;
    struct wr_line_range *kept = WR_ARENA_ARRAY(arena, struct wr_line_range, out->kept_count);
    uint32_t *cut_lines = WR_ARENA_ARRAY(arena, uint32_t, out->cut_count);
    if (!kept || !cut_lines)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < out->kept_count; i++)
        kept[i] = (struct wr_line_range){origins[out->kept[i].first], origins[out->kept[i].end]};
    for (uint32_t i = 0; i < out->cut_count; i++)
        cut_lines[i] = origins[out->cut_lines[i]];
    out->kept = kept;
    out->cut_lines = cut_lines;
    return renumber_forms(out, arena, cleaned);
}

static weir_status condense_cleaned(struct wr_condensed *out, struct wr_arena *arena,
                                    const struct wr_condense_input *input)
{
    const struct wr_lossless_text *cleaned = input->cleaned;
    weir_status status =
        is_over_caps(input) ? cap_stream(out, arena, input) : condense_by_kind(out, arena, input);
    if (status)
        return status;
    out->is_same = false; /* what was taken out without loss is gone */
    out->lines_total = cleaned->lines_total;
    if (cleaned->origins)
        return renumber(out, arena, cleaned);
    out->lines_moved = true;
    out->kept_count = out->cut_count = 0;
    out->forms = NULL;
    return WEIR_OK;
}

weir_status wr_condense(struct wr_condensed *out, struct wr_arena *arena,
                        const struct wr_condense_input *input)
{
    struct wr_lossless_text cleaned;
    struct wr_condense_input inner = *input;
    if (wr_exempt_is(input->origin, input->text))
        return keep_all(out, arena, input);
    weir_status status = wr_lossless(&cleaned, arena, input->text, input->kind);
    if (status)
        return status;
    if (cleaned.is_same)
        return condense_by_kind(out, arena, input);
    inner.text = cleaned.text;
    inner.cleaned = &cleaned;
    return condense_cleaned(out, arena, &inner);
}

/* ---- a budget that is a promise ---- */

enum { TRIES_MAX = 4 };

static bool is_within(const struct wr_condensed *condensed, size_t bytes_budget)
{
    return condensed->is_same || condensed->text.len <= bytes_budget + bytes_budget / 10;
}

weir_status wr_condense_within(struct wr_condensed *out, struct wr_arena *arena,
                               const struct wr_condense_input *input)
{
    struct wr_condense_input less = *input;
    weir_status status = wr_condense(out, arena, input);

    for (int i = 0; !status && i < TRIES_MAX && !is_within(out, input->bytes_budget); i++) {
        struct wr_condensed shorter;
        /* As much less as the last try was too long; the last try has room for signals alone. */
        less.bytes_budget =
            i + 1 < TRIES_MAX ? less.bytes_budget * input->bytes_budget / out->text.len : 0;
        status = wr_condense(&shorter, arena, &less);
        if (!status && shorter.text.len < out->text.len)
            *out = shorter;
    }
    return status;
}
