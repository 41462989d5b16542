/* Sentences of the page (sentence.h): one vocabulary, in tables, so that it can be read at once. */
#include "traffic/sentence.h"

#include "base/span.h"
#include "base/text.h"
#include "policy/form.h"

static const struct {
    const char *form, *deed;
} deeds[] = {
    {"edited", "Edited."},
    {"tidied",
     "All that it says is left; white space, what was drawn over or line numbers are out."},
    {"capped", "Cut in the middle: its beginning and its end are left."},
    {"condensed", "Only the lines that matter are left."},
    {"reference", "The same text stands elsewhere in the prompt; a pointer to it is left."},
    {"masked", "An old result: one line that names it is left."},
    {"cleared", "An old result, taken out: one line that names it is left."},
    {"folded", "Part of a finished task; its summary is left."},
    {"evicted", "Put aside whole: a preview is left."},
    {"summarised", "A summary is left."},
    {"pruned", "The arguments of an old call were shortened."},
    {"dropped", "Taken out."},
};

static const char *deed_of(const struct wr_sentence *s)
{
    if (s->is_in_summary)
        return "Part of a finished task: the summary stands for it.";
    for (size_t i = 0; i < WR_COUNT_OF(deeds); i++)
        if (wr_span_is(s->form, deeds[i].form))
            return deeds[i].deed;
    return "Changed.";
}

void wr_sentence_deed(const struct wr_sentence *s, struct wr_buf *out)
{
    if (s->is_rolled_back) {
        wr_buf_printf(out, "Stays whole: a shorter form was tried and taken back (%.*s).",
                      (int)s->reason.len, s->reason.len ? s->reason.ptr : "");
        return;
    }
    wr_buf_text(out, deed_of(s));
    if (s->lines_before > s->lines_after && s->lines_after && wr_span_is(s->form, "condensed"))
        wr_buf_printf(out, " %s lines became %s.", WR_GROUPED(s->lines_before),
                      WR_GROUPED(s->lines_after));
    if (s->is_operators)
        wr_buf_text(out,
                    " The request would have been refused for its length; no tool of the agent "
                    "brings this back, `weir recall` does.");
}

void wr_sentence_sum(const struct wr_sentence *s, struct wr_buf *out)
{
    if (!s->has_worth || s->is_rolled_back || !s->saves_tokens)
        return;
    uint64_t net = s->saves_tokens > s->costs_tokens ? s->saves_tokens - s->costs_tokens : 0;
    wr_buf_printf(out, "Saves %s tokens over the next %s answers", WR_GROUPED(net),
                  WR_GROUPED(s->turns_left));
    if (s->ever_miss_bp < 100)
        wr_buf_text(out, "; it is hardly ever asked for again.");
    else
        wr_buf_printf(out,
                      ", after paying for the %llu in 100 cases in which it is asked for again.",
                      (unsigned long long)(s->ever_miss_bp + 50) / 100);
}

const char *wr_sentence_step(weir_span reason)
{
    static const struct {
        const char *reason, *text;
    } steps[] = {
        {"loop completed", "a task was finished, so what it read is summed up"},
        {"window", "the window would not have held the prompt"},
        {"pressure", "the window was filling up"},
        {"cold",
         "the pause had emptied the provider's cache, so changing older parts cost nothing"},
        {"model", "the model changed, so the cache was gone anyway"},
        {"tools", "the tools changed, so the cache was gone anyway"},
        {"pays", "writing the cache anew costs less than carrying the older parts on"},
        {"policy", "another policy or mode was asked for"},
        {"store", "an original was missing in the store"},
        {"late result", "a result came for an older call"},
        {"back", "the request before had to leave otherwise, and older parts are as they were"},
    };
    for (size_t i = 0; i < WR_COUNT_OF(steps); i++)
        if (wr_span_is(reason, steps[i].reason))
            return steps[i].text;
    return "older parts were changed";
}

const char *wr_sentence_advice(weir_span bust, weir_span place)
{
    if (wr_span_is(bust, "host") && wr_span_has(place, WR_LIT("system")))
        return "The agent's instructions changed in the middle of a session. Dates, times and "
               "counters belong at the end of the prompt, not into its instructions.";
    if (wr_span_is(bust, "host") && wr_span_has(place, WR_LIT("tools")))
        return "The list of tools changed or was sent in another order. Send it the same way each "
               "time; connect servers of tools before the session begins.";
    if (wr_span_is(bust, "host"))
        return "The agent changed a message that it had sent before. Append instead of editing "
               "earlier messages, and keep times and ids out of them.";
    if (wr_span_is(bust, "expired"))
        return "The pause was longer than the provider keeps its cache. A longer lifetime (1 h, "
               "where the provider has it) pays for sessions with pauses.";
    if (wr_span_is(bust, "model"))
        return "The model or its tools changed, and each model has a cache of its own. Switch "
               "between tasks rather than within one.";
    if (wr_span_is(bust, "provider"))
        return "Nothing had changed: the provider did not find its own cache. There is nothing to "
               "change in the agent.";
    if (wr_span_is(bust, "moved"))
        return "A place of the upstream failed or was full, and the session went on at another, "
               "where its cache had to be written anew. Higher limits there, or fewer sessions.";
    return "A planned step of Weir's own: its cost is in the sums, and so is what it brought.";
}
