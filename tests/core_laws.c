#include "tests/core_laws.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/lawful.h"
#include "base/span.h"

static bool broken(const char *what, uint32_t segment)
{
    printf("BROKEN: %s (segment %u)\n", what, segment);
    return false;
}

/* L1: with no edit the body that leaves is the very one that came. */
static bool exact_holds(struct weir_request *request, weir_span body)
{
    weir_span out;
    struct weir_write_report report;
    if (weir_request_write(request, &out, &report, NULL))
        return broken("writing without an edit fails", 0);
    return (out.ptr == body.ptr && out.len == body.len && !report.first_reason) ||
           broken("no edit, other bytes", 0);
}

/* Segments stand where they say, in order, and every part is the inside of a string. */
static bool spans_hold(struct weir_request *request, weir_span body,
                       struct core_laws_counts *counts)
{
    uint32_t turn = 0;
    for (uint32_t i = 0; i < weir_request_segments(request); i++) {
        struct weir_segment s;
        if (weir_request_segment(request, i, &s))
            return broken("a segment cannot be had", i);
        if (s.span.start > s.span.end || s.span.end > body.len)
            return broken("a span lies outside the body", i);
        if (s.turn < turn || !s.why)
            return broken("turns go back, or a class has no reason", i);
        turn = s.turn;
        for (uint32_t p = 0; p < s.parts_count; p++)
            if (body.ptr[s.parts[p].start - 1] != '"' || body.ptr[s.parts[p].end] != '"' ||
                s.parts[p].start < s.span.start || s.parts[p].end > s.span.end)
                return broken("a part is not the inside of a string of its segment", i);
        if (s.kind == WEIR_KIND_TOOL_RESULT && s.pair == WEIR_NONE)
            return broken("a recorded result has no call", i);
        counts->parts += s.parts_count;
    }
    counts->segments += weir_request_segments(request);
    return true;
}

/* An edit changes its own bytes and no others: what stands before and behind is compared as it is.
 */
static bool one_edit_holds(weir_span body, const struct weir_request_options *options,
                           uint32_t index)
{
    static const char text[] = "[left out: 3 lines \"a\\b\" \n\t]";
    static const char escaped[] = "[left out: 3 lines \\\"a\\\\b\\\" \\n\\t]";
    struct weir_request *request;
    struct weir_segment s;
    weir_span out = {NULL, 0};

    if (weir_request_new(body, options, &request, NULL))
        return broken("a body that was read once cannot be read again", index);
    bool ok = !weir_request_segment(request, index, &s) &&
              !weir_request_edit(request, index, (weir_span){text, sizeof(text) - 1}, NULL) &&
              !weir_request_write(request, &out, NULL, NULL);
    weir_range part = s.parts_count ? s.parts[0] : (weir_range){0, 0};
    size_t tail = body.len - part.end;
    ok = ok && out.len == part.start + sizeof(escaped) - 1 + tail &&
         !memcmp(out.ptr, body.ptr, part.start) &&
         !memcmp(out.ptr + part.start, escaped, sizeof(escaped) - 1) &&
         !memcmp(out.ptr + out.len - tail, body.ptr + part.end, tail);
    weir_request_free(request);
    return ok || broken("an edit of one string changed something else", index);
}

/* All results edited at once: each says the new text, everything else is what it was. */
static bool all_edits_hold(weir_span body, const struct weir_request_options *options,
                           struct core_laws_counts *counts)
{
    struct weir_request *before, *after = NULL;
    struct weir_write_report report = {0};
    weir_span out = {NULL, 0};
    bool ok = !weir_request_new(body, options, &before, NULL);

    for (uint32_t i = 0; ok && i < weir_request_segments(before); i++) {
        struct weir_segment s;
        ok = !weir_request_segment(before, i, &s);
        if (!ok || s.kind != WEIR_KIND_TOOL_RESULT || !s.parts_count)
            continue;
        ok = !weir_request_edit(before, i, WR_LIT("[x]"), NULL);
        counts->edits++;
    }
    ok = ok && !weir_request_write(before, &out, &report, NULL) && !report.first_reason &&
         !weir_request_new(out, options, &after, NULL) &&
         weir_request_segments(after) == weir_request_segments(before);
    for (uint32_t i = 0; ok && i < weir_request_segments(before); i++) {
        struct weir_segment a, b;
        weir_span text;
        ok = !weir_request_segment(before, i, &a) && !weir_request_segment(after, i, &b) &&
             a.kind == b.kind && a.role == b.role && a.turn == b.turn && a.loop == b.loop &&
             wr_span_eq(a.call_id, b.call_id) && !weir_request_text(after, i, &text);
        if (ok && a.kind == WEIR_KIND_TOOL_RESULT && a.parts_count)
            ok = wr_span_is(text, "[x]");
        else if (ok)
            ok = wr_span_eq((weir_span){body.ptr + a.span.start, a.span.end - a.span.start},
                            (weir_span){out.ptr + b.span.start, b.span.end - b.span.start});
    }
    weir_request_free(after);
    weir_request_free(before);
    return ok || broken("editing all results broke something", report.first_segment);
}

static uint32_t members_of_group(const struct weir_request *request, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < weir_request_segments(request); i++) {
        struct weir_segment s;
        if (!weir_request_segment(request, i, &s) && s.group == group)
            count++;
    }
    return count;
}

/* Where user and model must take turns, what stands between two messages of one side may not leave
 * without anything in its place: it stays, and the body is what it was. */
static bool stays_for_turns(weir_span body, const struct weir_request *request,
                            const struct weir_write_report *report, weir_span out)
{
    return report->first_reason && wr_api_of(weir_request_dialect(request))->must_alternate &&
           !strcmp(report->first_reason, wr_rule_text(WR_RULE_TURNS_NOT_TAKEN)) &&
           wr_span_eq(out, body);
}

/* The first group with a call leaves whole; the rest still pairs up. */
static bool drop_holds(weir_span body, const struct weir_request_options *options,
                       struct core_laws_counts *counts)
{
    struct weir_request *before, *after = NULL;
    struct weir_write_report report = {0};
    weir_span out = {NULL, 0};
    uint32_t dropped = WEIR_NONE, members = 0;
    bool ok = !weir_request_new(body, options, &before, NULL);

    for (uint32_t i = 0; ok && i < weir_request_segments(before) && dropped == WEIR_NONE; i++) {
        struct weir_segment s;
        if (!weir_request_segment(before, i, &s) && s.kind == WEIR_KIND_TOOL_CALL &&
            s.pair != WEIR_NONE) {
            dropped = i;
            members = members_of_group(before, s.group);
        }
    }
    if (ok && dropped != WEIR_NONE) {
        ok = !weir_request_drop(before, dropped, NULL) &&
             !weir_request_write(before, &out, &report, NULL);
        if (!ok || !stays_for_turns(body, before, &report, out))
            ok = ok && !report.first_reason && !weir_request_new(out, options, &after, NULL) &&
                 weir_request_segments(after) + members == weir_request_segments(before);
        counts->drops++;
    }
    for (uint32_t i = 0; ok && after && i < weir_request_segments(after); i++) {
        struct weir_segment s;
        ok = !weir_request_segment(after, i, &s) &&
             (s.kind != WEIR_KIND_TOOL_RESULT || s.pair != WEIR_NONE);
    }
    weir_request_free(after);
    weir_request_free(before);
    return ok ||
           broken(report.first_reason ? report.first_reason : "dropping a group broke something",
                  dropped);
}

/* The first, a middle and the last editable segment, each on its own. */
static bool single_edits_hold(weir_span body, const struct weir_request_options *options,
                              uint32_t count)
{
    for (uint32_t i = 0, tried = 0; i < count && tried < 3; i++) {
        struct weir_request *request;
        struct weir_segment s;
        if (weir_request_new(body, options, &request, NULL))
            return false;
        bool is_single = !weir_request_segment(request, i, &s) && s.parts_count == 1;
        weir_request_free(request);
        if (!is_single)
            continue;
        if (!one_edit_holds(body, options, i))
            return false;
        i += tried++ ? count / 2 : count / 3;
    }
    return true;
}

/* Messages without calls are the same in Chat Completions and with Ollama. */
static bool reads_as_chat(const struct weir_request *request, weir_dialect dialect)
{
    struct weir_segment s;

    if (dialect != WEIR_DIALECT_OLLAMA || weir_request_dialect(request) != WEIR_DIALECT_CHAT)
        return false;
    for (uint32_t i = 0; i < weir_request_segments(request); i++)
        if (!weir_request_segment(request, i, &s) && s.kind == WEIR_KIND_TOOL_CALL)
            return false;
    return true;
}

bool core_laws_hold(weir_span body, weir_dialect dialect, struct core_laws_counts *counts)
{
    struct weir_request_options options = {.dialect = weir_dialect_name(dialect)};
    struct weir_request_options by_shape = {0};
    struct weir_request *request;

    if (weir_request_new(body, &by_shape, &request, NULL))
        return broken("the body is not read", 0);
    bool ok = weir_request_dialect(request) == dialect || weir_request_segments(request) < 4 ||
              reads_as_chat(request, dialect) ||
              broken("the dialect is not recognised by its shape", 0);
    uint32_t count = weir_request_segments(request);
    ok = ok && exact_holds(request, body) && spans_hold(request, body, counts);
    weir_request_free(request);
    counts->requests++;
    counts->bytes += body.len;
    return ok && all_edits_hold(body, &options, counts) && drop_holds(body, &options, counts) &&
           single_edits_hold(body, &options, count);
}
