/* simulate_answer.c -- the sentence:
 *
 *   Your 64 sessions of 30 days: $158.03 as they were, $106.20 with auto; nothing
 *   lost, 38 recalls. Your dearest habit: files that were read, 41 % of all that tools
 *   returned, as often as it was sent; 58 % of that was never used.
 *
 * and below it what each policy would have cost and kept in view. Money is rounded only here: to
 * cents, below a dollar to hundredths of one. What is not known (days without time stamps, a habit
 * without results) is left out of the sentence, not guessed.
 */
#include "lab/simulate_answer.h"

#include "base/span.h"
#include "base/text.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)

static const char *const policies[] = {"exact", "careful", "auto", "lean"};
enum { RAW, CAREFUL, AUTO, LEAN, POLICIES };
enum { WIDE_COLUMNS = 76, WIDER_COLUMNS = 100 };

const char *const *wr_simulate_answer_policies(uint32_t *count)
{
    *count = POLICIES;
    return policies;
}

/* ---- habits ---- */

/* What a person would call it; NULL: not worth a word. */
static const char *const habit_words[WR_EFFECT_KINDS] = {
    [WR_EFFECT_READ] = "files that were read",
    [WR_EFFECT_SEARCH] = "results of searches",
    [WR_EFFECT_LIST] = "listings of files",
    [WR_EFFECT_DIFF] = "diffs",
    [WR_EFFECT_RUN] = "output of commands",
    [WR_EFFECT_POLL] = "output of commands that run on",
    [WR_EFFECT_FETCH] = "pages from the network",
    [WR_EFFECT_SKILL] = "instructions of skills",
    [WR_EFFECT_OTHER] = "results of other tools",
};

void wr_habits_add(struct wr_habits *habits, const struct wr_misses *misses,
                   uint32_t requests_count)
{
    for (uint32_t i = 0; i < misses->results_count; i++) {
        const struct wr_miss_result *result = &misses->results[i];
        uint64_t times = requests_count >= result->turn ? requests_count - result->turn + 1 : 0;
        habits->sent[result->effect] += result->tokens * times;
        if (!result->next_count && !result->later_count)
            habits->unused[result->effect] += result->tokens * times;
    }
}

static unsigned percent_of(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

static void write_habit(struct wr_buf *text, const struct wr_habits *habits, bool are_found)
{
    uint64_t all = 0;
    int dearest = -1;

    for (int i = 0; i < WR_EFFECT_KINDS; i++)
        all += habits->sent[i];
    for (int i = 0; i < WR_EFFECT_KINDS; i++)
        if (habit_words[i] && habits->sent[i] &&
            (dearest < 0 || habits->sent[i] > habits->sent[dearest]))
            dearest = i;
    if (dearest < 0)
        return;
    wr_buf_printf(text, " %s dearest habit: %s, %u %% of all that tools returned",
                  are_found ? "Your" : "The", habit_words[dearest],
                  percent_of(habits->sent[dearest], all));
    unsigned unused = percent_of(habits->unused[dearest], habits->sent[dearest]);
    if (unused)
        wr_buf_printf(text, "; %u %% of that was never used", unused);
    wr_buf_byte(text, '.');
}

/* ---- the sentence ---- */

static void write_wrapped(struct wr_buf *out, weir_span text, uint32_t columns)
{
    wr_text_wrap(out, text, columns, 0);
    wr_buf_byte(out, '\n');
}

static void write_money(struct wr_buf *out, uint64_t micro_usd)
{
    uint64_t cents = (micro_usd + 5000) / 10000;

    if (cents >= 100)
        wr_buf_printf(out, "$%s.%02u", WR_GROUPED(cents / 100), (unsigned)(cents % 100));
    else
        wr_buf_printf(out, "$0.%04u", (unsigned)((micro_usd + 50) / 100 % 10000));
}

static void write_days(struct wr_buf *text, const struct wr_simulate_report *report)
{
    int64_t days = (report->last_ms - report->first_ms + DAY_MS - 1) / DAY_MS;

    if (report->first_ms > report->last_ms)
        return;
    if (days <= 1)
        wr_buf_text(text, " of one day");
    else
        wr_buf_printf(text, " of %s days", WR_GROUPED((uint64_t)days));
}

static void write_sentence(struct wr_buf *text, const struct wr_simulate_report *report,
                           const struct wr_habits *habits, bool are_found)
{
    const struct wr_lane_result *raw = &report->pooled.lanes[RAW],
                                *with = &report->pooled.lanes[AUTO];
    uint64_t lost = with->evidence.all[WR_EVIDENCE_LOST];

    if (report->sessions_count == 1)
        wr_buf_printf(text, "%s session", are_found ? "Your one" : "This");
    else
        wr_buf_printf(text, "%s %s sessions", are_found ? "Your" : "These",
                      WR_GROUPED(report->sessions_count));
    write_days(text, report);
    wr_buf_text(text, ": ");
    write_money(text, raw->cost_micro_usd);
    wr_buf_printf(text, " as %s, ", report->sessions_count == 1 ? "it was" : "they were");
    write_money(text, with->cost_micro_usd);
    wr_buf_text(text, " with auto; ");
    if (lost)
        wr_buf_printf(text, "%s pieces lost, ", WR_GROUPED(lost));
    else
        wr_buf_text(text, "nothing lost, ");
    wr_buf_printf(text, "%s recall%s.", WR_GROUPED(with->recalls), with->recalls == 1 ? "" : "s");
    write_habit(text, habits, are_found);
}

/* ---- the table ---- */

static const char *shown_name(uint32_t policy)
{
    return policy == RAW ? "as they were" : policy == AUTO ? "auto (default)" : policies[policy];
}

static void put_money(struct wr_buf *out, uint64_t micro_usd, int width)
{
    struct wr_buf money;

    wr_buf_init(&money, 64);
    write_money(&money, micro_usd);
    wr_buf_printf(out, "%*.*s", width, (int)money.len, money.len ? money.bytes : "");
    wr_buf_release(&money);
}

static void write_row(struct wr_buf *out, const struct wr_simulate_report *report, uint32_t policy,
                      uint32_t columns)
{
    const struct wr_lane_result *raw = &report->pooled.lanes[RAW],
                                *r = &report->pooled.lanes[policy];
    const struct wr_evidence_tally *e = &r->evidence;

    wr_buf_printf(out, "%-15s ", shown_name(policy));
    put_money(out, r->cost_micro_usd, 12);
    if (policy == RAW) {
        wr_buf_text(out, "\n");
        return;
    }
    double saved = 1 - wr_simulate_share(r->cost_micro_usd, raw->cost_micro_usd);
    wr_buf_printf(out, " %6.0f %%", 100 * saved);
    if (columns >= WIDE_COLUMNS)
        wr_buf_printf(out, " %9.1f %% %9.1f %%",
                      100 * wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED],
                                              wr_simulate_evidence_total(e->first_sight)),
                      100 * wr_simulate_share(e->all[WR_EVIDENCE_SUPPORTED],
                                              wr_simulate_evidence_total(e->all)));
    wr_buf_printf(out, " %8s %5s", WR_GROUPED(r->recalls), WR_GROUPED(e->all[WR_EVIDENCE_LOST]));
    if (columns >= WIDER_COLUMNS) {
        wr_buf_printf(out, " %7s ", WR_GROUPED(r->steps));
        put_money(out, r->steps_micro_usd, 11);
    }
    wr_buf_byte(out, '\n');
}

static void write_notes(struct wr_buf *out, const struct wr_simulate_report *report,
                        uint32_t columns)
{
    struct wr_buf text;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&text, "Prices: %s, cache included, for each policy alike.",
                  report->options.model ? report->options.model : "each log's own model");
    if (report->repriced_count)
        wr_buf_printf(&text, " %s of them name%s no model whose price is known: as %s.",
                      WR_GROUPED(report->repriced_count), report->repriced_count == 1 ? "s" : "",
                      report->options.fallback_model);
    uint32_t dearer = wr_simulate_report_dearer(report, AUTO);
    if (dearer)
        wr_buf_printf(&text, " auto makes %s session%s dearer by over 2 %%.", WR_GROUPED(dearer),
                      dearer == 1 ? "" : "s");
    if (columns >= WIDE_COLUMNS)
        wr_buf_text(&text,
                    " In view: of what the next action used, and of what any later one used, "
                    "the part that stood in the prompt; the rest is one recall away.");
    else
        wr_buf_text(&text, " Not shown in this width: what was in view.");
    if (columns >= WIDER_COLUMNS)
        wr_buf_text(&text,
                    " Steps rewrite what was sent before, and so the provider's cache; what that "
                    "cost is in the cost.");
    if (!wr_buf_status(&text))
        write_wrapped(out, wr_buf_view(&text), columns);
    wr_buf_release(&text);
}

void wr_simulate_answer(struct wr_simulate_report *report, const struct wr_habits *habits,
                        bool are_found, uint32_t columns, struct wr_buf *out)
{
    struct wr_buf text;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    write_sentence(&text, report, habits, are_found);
    if (!wr_buf_status(&text))
        write_wrapped(out, wr_buf_view(&text), columns);
    wr_buf_release(&text);
    bool is_wide = columns >= WIDE_COLUMNS;
    wr_buf_text(out, is_wide ? "\n                        cost    saved    in view,    in view,\n"
                               "                                        used next  used later"
                             : "\n                        cost    saved");
    wr_buf_text(out, "  recalls  lost");
    wr_buf_text(out, columns >= WIDER_COLUMNS ? "   steps    they cost\n" : "\n");
    for (uint32_t i = 0; i < POLICIES; i++)
        write_row(out, report, i, columns);
    wr_buf_byte(out, '\n');
    write_notes(out, report, columns);
}
