/* keep.h -- choosing lines: which stay, and how what stays is written.
 *
 * A condenser marks lines as kept, in the order of their worth, until the budget is spent; then the
 * kept lines are written in the order of the text with a gap line (note.h) for each run that was
 * left out.
 *
 * 1. A line costs its bytes and its line end; a gap costs WR_KEEP_GAP_BYTES until it is closed.
 * 2. Lines kept by wr_keep_must() count against the budget but are never refused.
 * 3. A gap of fewer lines than it takes to name it is not left: short gaps are filled when written.
 * 4. A gap line holds no signal of any kind of output. Of a line that repeats 16 times or more the
 * first and the last time are kept, whatever was chosen.
 * 5. Where wr_keep_shorten() was asked, a kept line that is too long is written without its middle:
 *
 *   const a="...first bytes [… 48210 bytes left out …] last bytes...";
 *
 * Lines that carry signals, and those of wr_keep_whole(), are never cut. A line may also be given a
 * form of its own (wr_keep_form()). Where a cut or a form would change the set of signals, every
 * kept line is written as it is.
 */
#ifndef WR_CONDENSE_KEEP_H
#define WR_CONDENSE_KEEP_H

#include "base/buf.h"
#include "condense/condense.h"
#include "condense/signal.h"

enum {
    WR_KEEP_GAP_BYTES = 40,
    WR_KEEP_CUT_BYTES_MIN = 96, /* no line is cut to less */
};

struct wr_keep {
    struct wr_arena *arena; /* borrowed */
    weir_span text;
    uint32_t *starts; /* of each line, and the text's length behind the last */
    uint32_t lines_count;
    bool *is_kept;
    bool *is_whole;   /* never cut; NULL until wr_keep_shorten() */
    weir_span *forms; /* of each line, ptr NULL where it has none; NULL until wr_keep_form() */
    struct wr_line_cut cut;
    enum wr_output_kind kind;
    const struct wr_signal_set *signals; /* NULL until wr_keep_signals() */
    size_t bytes_used, bytes_budget;
    uint64_t first_number; /* of the first line, for gap lines */
    bool is_parts;         /* the lines are parts of one line, and gap lines say so */
    const struct wr_lossless_text *cleaned; /* borrowed: where gap lines find numbers; or NULL */
};

/* Finds the lines of the input. */
WEIR_MUST_USE weir_status wr_keep_init(struct wr_keep *keep, struct wr_arena *arena,
                                       const struct wr_condense_input *input);

/* The text of a line, without its line end. */
weir_span wr_keep_line(const struct wr_keep *keep, uint32_t line);

/* From here on lines longer than `line_bytes_max` (at least WR_KEEP_CUT_BYTES_MIN) cost that much
 * and are cut when written. `what` names what is cut and may be empty; it is borrowed as long as
 * the arena lives. To be asked before any line is kept. */
WEIR_MUST_USE weir_status wr_keep_shorten(struct wr_keep *keep, size_t line_bytes_max,
                                          weir_span what);

/* Says that a line is not to be cut. To be asked before it is kept. */
void wr_keep_whole(struct wr_keep *keep, uint32_t line);

/* Writes `line` (without its line end) as a cut line is written: its front, a mark with the number
 * of bytes left out, its end; never more than cut->line_bytes_max, no character of UTF-8 cut in
 * two. A line that is not longer is written as it is. */
void wr_keep_cut(struct wr_buf *out, weir_span line, const struct wr_line_cut *cut);

/* Keeps a line if the budget allows; true when it is kept (also from before). */
bool wr_keep_one(struct wr_keep *keep, uint32_t line);

/* Keeps a line whatever it costs. */
void wr_keep_must(struct wr_keep *keep, uint32_t line);

/* Keeps lines of [first, end), from the front (or the back), while the budget allows. Returns how
 * many of them are kept. */
uint32_t wr_keep_from_front(struct wr_keep *keep, uint32_t first, uint32_t end);
uint32_t wr_keep_from_back(struct wr_keep *keep, uint32_t first, uint32_t end);

/* Lets the next steps spend until `percent` of `bytes_total`, the whole budget, is used: each may
 * take what those before it left. The gap that is counted from the start comes on top, since a
 * small share could not pay it. */
void wr_keep_spend_until(struct wr_keep *keep, size_t bytes_total, uint32_t percent);

/* Head and tail: up to `share_percent` of what is left of the budget on the first lines, and as
 * much on the last. */
void wr_keep_ends(struct wr_keep *keep, uint32_t share_percent);

/* From here on the line stands in `form`, which lives as long as the arena: a shortening of this
 * line alone, by a rule that the condenser's file states. It costs what the form has. A line that
 * carries signals may have one that says them too. */
WEIR_MUST_USE weir_status wr_keep_form(struct wr_keep *keep, uint32_t line, weir_span form);

/* Keeps every line that carries a signal of this kind of output (law L5) and those that say how to
 * get at more (wr_note_keep_ways()), and `around` lines on each side of a signal where the budget
 * allows. */
WEIR_MUST_USE weir_status wr_keep_signals(struct wr_keep *keep, enum wr_output_kind kind,
                                          uint32_t around);

/* Whether all of the text is within the budget. */
static inline bool wr_keep_fits(const struct wr_keep *keep)
{
    return keep->text.len <= keep->bytes_budget;
}

/* Whether the line has a shorter form. */
static inline bool wr_keep_has_form(const struct wr_keep *keep, uint32_t line)
{
    return keep->forms && keep->forms[line].ptr;
}

/* The nearest place at or before `at` where a character begins. Bytes that are no UTF-8 are cut
 * where they stand. */
size_t wr_character_start(weir_span line, size_t at);

/* The result is the text itself. */
WEIR_MUST_USE weir_status wr_keep_all(struct wr_keep *keep, struct wr_condensed *out);

/* Keeps what a gap line would cost as much as (3). wr_keep_write() does it, too. */
void wr_keep_fill(struct wr_keep *keep);

/* Gives what is left of the budget to the kept lines that are cut (5), the same to each. To be
 * asked last. */
void wr_keep_widen(struct wr_keep *keep);

/* Writes what was kept. */
WEIR_MUST_USE weir_status wr_keep_write(struct wr_keep *keep, struct wr_condensed *out);

/* ---- choosing ----
 *
 * Steps that the condensers of printed output take alike, each worth less than the one
 * before it. All of them keep lines of a struct wr_keep while its budget lasts. */

/* Begins: the lines, those with signals, and the tool's notes. Lines that are too long for the
 * budget will be cut. */
WEIR_MUST_USE weir_status wr_choose_begin(struct wr_keep *keep, struct wr_arena *arena,
                                          const struct wr_condense_input *input);

/* Lets only `percent` of what is left of the budget be spent from here on. Returns the budget to
 * put back afterwards. */
size_t wr_choose_share(struct wr_keep *keep, uint32_t percent);

/* Where what belongs to a signal ends. */
enum wr_border {
    WR_BORDER_NONE,
    WR_BORDER_WALL,    /* belongs to nothing */
    WR_BORDER_HEADING, /* begins what is below it */
};

/* Keeps what stands around the signals, up to `before` and `after` lines and over no border (an
 * enum wr_border for each line): first the nearest lines of all signals, then those further away.
 */
WEIR_MUST_USE weir_status wr_choose_context(struct wr_keep *keep, const uint8_t *borders,
                                            uint32_t before, uint32_t after);

/* Keeps lines with words that were sought or that matter now. */
WEIR_MUST_USE weir_status wr_choose_focus(struct wr_keep *keep,
                                          const struct wr_condense_input *input, uint32_t percent);

/* Keeps as many of `lines` (ascending) as the budget allows, spread over all of them. */
void wr_choose_spread(struct wr_keep *keep, const uint32_t *lines, uint32_t count);

/* ---- the condensers, one a kind of output; wr_condense() chooses ---- */

typedef weir_status wr_condense_fn(struct wr_condensed *out, struct wr_arena *arena,
                                   const struct wr_condense_input *input);

wr_condense_fn wr_condense_file;    /* source files: head, outline, what was named */
wr_condense_fn wr_condense_process; /* what a command printed */
wr_condense_fn wr_condense_log;
wr_condense_fn wr_condense_test;
wr_condense_fn wr_condense_search;
wr_condense_fn wr_condense_diff;
wr_condense_fn wr_condense_json;
wr_condense_fn wr_condense_list;
wr_condense_fn wr_condense_blob;
wr_condense_fn wr_condense_prose;

#endif
