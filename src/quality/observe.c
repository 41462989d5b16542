/* Signs of how a task goes, read from a request and from an answer.
 *
 * A request repeats the whole history, so only what is new is looked at: from the newest output of
 * the model to the end. For each new call: was the same call made before with nothing changed
 * between; is a file read whose earlier read was taken out; does it write a placeholder of ours
 * into a file. For each new result: a recall that brought nothing; a test that passed before and
 * fails now. For a new message of the user: is it a correction.
 *
 * Looking back ends after WR_QUALITY_LOOK_BACK_CALLS, so a request costs the same however long its
 * session is. What is not certain does not count: these signs decide which policy later sessions
 * get.
 */
#include "quality/observe.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/output_kind.h"
#include "condense/signal.h"
#include "policy/marker.h"
#include "quality/correction.h"

/* ---- what is new ---- */

static uint32_t first_new(const struct wr_transcript *t)
{
    uint32_t i = t->segments_count;
    while (i > 0 && !t->segments[i - 1].from_model)
        i--;
    while (i > 0 && t->segments[i - 1].from_model)
        i--;
    return i;
}

static bool is_recall(const struct wr_segment *s)
{
    return wr_tool_is_recall(s->tool);
}

static bool is_changed(const struct wr_observe_input *in, uint32_t segment)
{
    return in->changed && segment < in->changed_count && in->changed[segment];
}

/* ---- recalls ---- */

/* The ways in which a recall says that nothing came. What was recalled may hold such words too, so
 * they count in short results only. */
static bool says_missing(const struct wr_transcript *t, const struct wr_segment *result)
{
    static const char *const words[] = {"never stored",
                                        "expired: it was stored",
                                        "stored by another tenant",
                                        "corrupt: what is stored",
                                        "nothing is stored under",
                                        "Nothing has been stored",
                                        "The store cannot be read",
                                        "is no handle"};
    if (result->is_error || (result->handles && result->handles->is_error))
        return true;
    weir_span text = wr_segment_text(t, result, t->arena);
    if (!text.ptr || text.len > WR_QUALITY_MISSING_BYTES_MAX)
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        if (wr_span_find(text, wr_span_of(words[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

static void see_recalls(const struct wr_transcript *t, uint32_t from, struct wr_quality *q)
{
    uint64_t others = 0;

    for (uint32_t i = from; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->from_model)
            continue;
        if (s->kind != WEIR_KIND_TOOL_RESULT || !is_recall(s))
            others++;
        else if (says_missing(t, s))
            q->missing_artifact_requests++;
        else
            q->recalls++;
    }
    q->is_recall_only = !others && (q->recalls || q->missing_artifact_requests);
}

/* ---- calls made again ---- */

static weir_span call_arguments(const struct wr_transcript *t, const struct wr_segment *call)
{
    return call->payload == WR_JSON_NONE ? (weir_span){"", 0} : wr_json_raw(t->doc, call->payload);
}

static bool is_same_call(const struct wr_transcript *t, const struct wr_segment *a,
                         const struct wr_segment *b)
{
    weir_span x = call_arguments(t, a), y = call_arguments(t, b);
    return x.len && wr_span_eq(a->tool, b->tool) && wr_span_eq(x, y);
}

/* Asking again is what a poll is for, and plans are written anew with every step. */
static bool may_repeat(const struct wr_segment *call)
{
    return call->handles &&
           (call->handles->kind == WR_EFFECT_POLL || call->handles->kind == WR_EFFECT_PLAN);
}

/* Whether the world may have changed by it: it writes, or runs something. What is not known may
 * have done anything. */
static bool may_change(const struct wr_segment *call)
{
    const struct wr_tool_handles *h = call->handles;
    size_t at = 0;

    if (is_recall(call))
        return false;
    return !h || !h->is_known || h->kind == WR_EFFECT_RUN || h->kind == WR_EFFECT_OTHER ||
           wr_tool_next_write(h, &at);
}

static bool is_repeated(const struct wr_transcript *t, uint32_t call)
{
    const struct wr_segment *now = &t->segments[call];
    uint32_t left = WR_QUALITY_LOOK_BACK_CALLS;

    for (uint32_t i = call; i-- > 0 && left;) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_CALL)
            continue;
        if (is_same_call(t, s, now))
            return true;
        if (may_change(s))
            return false;
        left--;
    }
    return false;
}

/* ---- files read again ---- */

static bool reads_path(const struct wr_tool_handles *h, weir_span path)
{
    for (size_t i = 0; i < h->effects_count; i++)
        if (h->effects[i].kind == WR_EFFECT_READ && wr_span_eq(h->effects[i].path, path))
            return true;
    return false;
}

static weir_span path_read(const struct wr_tool_handles *h)
{
    for (size_t i = 0; i < h->effects_count; i++)
        if (h->effects[i].kind == WR_EFFECT_READ && h->effects[i].literal && h->effects[i].path.len)
            return h->effects[i].path;
    return (weir_span){"", 0};
}

/* The newest earlier result that shows the file decides: it was not whole, and no call has written
 * the file since. */
static bool is_reread(const struct wr_observe_input *in, uint32_t call)
{
    const struct wr_transcript *t = in->transcript;
    const struct wr_segment *now = &t->segments[call];
    uint32_t left = WR_QUALITY_LOOK_BACK_CALLS;

    if (!in->changed || !now->handles)
        return false;
    weir_span path = path_read(now->handles);
    for (uint32_t i = call; path.len && i-- > 0 && left;) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles)
            continue;
        left--;
        if (reads_path(s->handles, path))
            return is_changed(in, i) && (s->touched_by == WR_SEGMENT_NONE || s->touched_by > call);
    }
    return false;
}

/* ---- edits that do not fit ---- */

/* What agents' edit tools say where the text to be replaced is not in the file. A file that is
 * shown may hold such words too, so they count in short results only. */
static bool says_not_found(const struct wr_transcript *t, const struct wr_segment *result)
{
    static const char *const words[] = {"not found in file",
                                        "to replace not found",
                                        "oldString not found",
                                        "old_string not found",
                                        "old_string was not found",
                                        "old text not found",
                                        "old_text is not in",
                                        "is not in the file",
                                        "did not appear verbatim",
                                        "No replacement was performed",
                                        "Failed to find expected lines",
                                        "Failed to find context",
                                        "could not find the string to replace",
                                        "could not find the exact text",
                                        "Could not find the exact text",
                                        "could not find old_string",
                                        "0 occurrences found"};
    weir_span text = wr_segment_text(t, result, t->arena);

    if (!text.ptr || text.len > WR_QUALITY_FAILED_EDIT_BYTES_MAX)
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        if (wr_span_find(text, wr_span_of(words[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

/* The file that a call was to edit. A failed call changes none, so that wr_tool_next_write() is
 * silent of it. NULL: it edits no file. */
static const struct wr_effect *edited(const struct wr_segment *call)
{
    for (size_t i = 0; call->handles && i < call->handles->effects_count; i++)
        if (call->handles->effects[i].kind == WR_EFFECT_EDIT)
            return &call->handles->effects[i];
    return NULL;
}

/* The call whose edit did not fit; NULL: this result is of none. */
static const struct wr_segment *failed_edit(const struct wr_transcript *t, uint32_t result)
{
    const struct wr_segment *s = &t->segments[result];
    const struct wr_segment *call = s->pair < t->segments_count ? &t->segments[s->pair] : NULL;

    return call && edited(call) && says_not_found(t, s) ? call : NULL;
}

/* What the model had last seen of the file, where that was not whole: it may have made up the rest.
 * WR_SEGMENT_NONE: it was whole, or nobody knows. */
static uint32_t blind_source(const struct wr_observe_input *in, const struct wr_segment *call)
{
    const struct wr_transcript *t = in->transcript;
    uint32_t left = WR_QUALITY_LOOK_BACK_CALLS;
    const struct wr_effect *effect = edited(call);
    uint32_t i = (uint32_t)(call - t->segments);

    while (in->changed && effect->path.len && i-- > 0 && left) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles)
            continue;
        left--;
        if (reads_path(s->handles, effect->path))
            return is_changed(in, i) ? i : WR_SEGMENT_NONE;
    }
    return WR_SEGMENT_NONE;
}

static void see_edit(const struct wr_observe_input *in, uint32_t result, struct wr_observed *o)
{
    const struct wr_segment *call = failed_edit(in->transcript, result);
    uint32_t source = call ? blind_source(in, call) : WR_SEGMENT_NONE;

    o->quality.failed_edits += call != NULL;
    if (source == WR_SEGMENT_NONE)
        return;
    o->quality.blind_edits++;
    o->blind_call = (uint32_t)(call - in->transcript->segments);
    o->blind_source = source;
}

/* ---- our own text in a file ---- */

/* Whether the call makes a file say something. A command line may do it too. */
static bool writes_file(const struct wr_segment *call)
{
    size_t at = 0;
    return call->handles && wr_tool_next_write(call->handles, &at);
}

static bool holds_placeholder(const struct wr_transcript *t, const struct wr_segment *call)
{
    return writes_file(call) &&
           wr_span_find(call_arguments(t, call), WR_LIT("[weir wr_"), 0) != SIZE_MAX;
}

/* ---- tests and builds ---- */

static bool is_test_or_build(weir_span command)
{
    static const char *const words[] = {
        "make",   "cmake", "ninja", "cargo",    "gcc",    "g++",           "clang", "tsc",
        "gradle", "mvn",   "bazel", "go build", "go vet", "npm run build", "meson", "dotnet"};
    if (wr_output_kind_of_command(command) == WR_OUTPUT_TEST)
        return true;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        weir_span word = wr_span_of(words[i]);
        size_t at = wr_span_find(command, word, 0);
        size_t end = at + word.len;
        if (at != SIZE_MAX && (!at || strchr(" ;&|/", command.ptr[at - 1])) &&
            (end == command.len || strchr(" ;&|", command.ptr[end])))
            return true;
    }
    return false;
}

/* A number above 0 before "fail" or after "failures:". */
static bool counts_failures(weir_span totals)
{
    for (size_t at = 0; at < totals.len; at++) {
        size_t end = at;
        while (end < totals.len && wr_is_digit(totals.ptr[end]))
            end++;
        if (end == at || totals.ptr[at] == '0')
            continue;
        weir_span before = wr_span_cut(totals, 0, at), after = wr_span_cut(totals, end, totals.len);
        if (wr_span_starts(after, WR_LIT(" fail")) || wr_span_ends(before, WR_LIT("ailures: ")) ||
            wr_span_ends(before, WR_LIT("ailed: ")))
            return true;
        at = end;
    }
    return false;
}

static bool is_failure(const struct wr_signal *signal, bool is_test)
{
    switch (signal->kind) {
    case WR_SIGNAL_FAILED_TEST:
        return true;
    case WR_SIGNAL_EXIT:
        return !wr_span_is(signal->text, "0");
    case WR_SIGNAL_TOTALS:
        return counts_failures(signal->text);
    case WR_SIGNAL_CRITICAL:
    case WR_SIGNAL_ERROR:
        return !is_test; /* what is tested may complain, and the test pass */
    default:
        return false;
    }
}

/* Behind a pipe (`make test | tail`) the shell's exit code is that of `tail`, and many hosts give
 * none at all: then what was printed tells. */
static bool text_tells_failure(const struct wr_transcript *t, const struct wr_segment *result)
{
    bool is_test = wr_output_kind_of_command(result->handles->command) == WR_OUTPUT_TEST;
    weir_span text = wr_segment_text(t, result, t->arena);
    struct wr_signal_set set;

    if (!text.ptr || text.len > WR_CONDENSE_BYTES_MAX ||
        wr_signal_scan(&set, t->arena, text, is_test ? WR_OUTPUT_TEST : WR_OUTPUT_PROCESS))
        return false;
    for (uint32_t i = 0; i < set.count; i++)
        if (is_failure(&set.signals[i], is_test))
            return true;
    return false;
}

static bool has_failed(const struct wr_transcript *t, const struct wr_segment *result)
{
    const struct wr_tool_handles *h = result->handles;
    return result->is_error || h->is_error || (h->has_exit_code && h->exit_code) ||
           text_tells_failure(t, result);
}

/* What is run, without where its output goes: `make test` of "make test 2>&1 | tail -5". */
static weir_span command_run(weir_span command)
{
    size_t end = wr_span_find(command, WR_LIT("|"), 0);
    weir_span run = wr_span_trim(wr_span_cut(command, 0, end == SIZE_MAX ? command.len : end));

    if (wr_span_starts(wr_span_cut(command, run.len, command.len), WR_LIT("||")))
        return command;
    if (wr_span_ends(run, WR_LIT("2>&1")))
        run = wr_span_trim(wr_span_cut(run, 0, run.len - 4));
    return run;
}

static bool passed_before(const struct wr_transcript *t, uint32_t result)
{
    weir_span run = command_run(t->segments[result].handles->command);
    uint32_t left = WR_QUALITY_LOOK_BACK_CALLS;

    for (uint32_t i = result; i-- > 0 && left;) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles)
            continue;
        left--;
        if (wr_span_eq(command_run(s->handles->command), run))
            return !s->handles->is_running && !has_failed(t, s);
    }
    return false;
}

static bool begins_to_fail(const struct wr_transcript *t, uint32_t result)
{
    const struct wr_segment *s = &t->segments[result];
    return s->handles && s->handles->command.len && is_test_or_build(s->handles->command) &&
           has_failed(t, s) && passed_before(t, result);
}

/* Between the pass and now the model worked from a prompt that was not the host's own. */
static bool was_rewritten(const struct wr_observe_input *in)
{
    for (uint32_t i = 0; in->changed && i < in->changed_count; i++)
        if (in->changed[i])
            return true;
    return false;
}

/* ---- the user ---- */

/* Hosts put words of their own into the user's mouth, mostly in tags. */
static bool is_said_by_user(const struct wr_transcript *t, uint32_t from, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    if (s->role != WEIR_ROLE_USER || s->kind != WEIR_KIND_TEXT || !t->segments[from].from_model)
        return false;
    weir_span text = wr_segment_text(t, s, t->arena);
    return text.ptr && text.len && text.ptr[0] != '<' && text.ptr[0] != '[';
}

/* ---- the loop ---- */

/* An output begins where a segment of the model follows one that is not the model's. */
static uint32_t outputs_after_edit(const struct wr_transcript *t)
{
    uint32_t outputs = 0, last = t->segments_count ? t->segments[t->segments_count - 1].loop : 0;
    bool has_edit = false, was_model = false;

    uint32_t i = t->segments_count;
    while (i > 0 && t->segments[i - 1].loop == last)
        i--;
    for (; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        outputs += has_edit && s->from_model && !was_model;
        was_model = s->from_model;
        has_edit |= s->kind == WEIR_KIND_TOOL_CALL && writes_file(s);
    }
    return outputs;
}

static void see_segment(const struct wr_observe_input *in, uint32_t from, uint32_t i,
                        struct wr_observed *o)
{
    const struct wr_transcript *t = in->transcript;
    const struct wr_segment *s = &t->segments[i];
    struct wr_quality *q = &o->quality;

    if (s->kind == WEIR_KIND_TOOL_CALL) {
        q->repeated_tool_call_count += !may_repeat(s) && is_repeated(t, i);
        q->model_reread_requests += is_reread(in, i);
        q->placeholders_written += holds_placeholder(t, s);
    } else if (s->kind == WEIR_KIND_TOOL_RESULT) {
        bool has_begun = begins_to_fail(t, i);
        q->test_or_build_failed += has_begun;
        q->test_or_build_failed_after_rewrite += has_begun && was_rewritten(in);
        see_edit(in, i, o);
    } else if (is_said_by_user(t, from, i)) {
        q->corrective_user_messages += wr_is_correction(wr_segment_text(t, s, t->arena));
    }
}

void wr_quality_observe(const struct wr_observe_input *input, struct wr_observed *observed)
{
    const struct wr_transcript *t = input->transcript;
    uint32_t from = first_new(t);

    *observed = (struct wr_observed){.outputs_after_edit = outputs_after_edit(t),
                                     .blind_call = WR_SEGMENT_NONE,
                                     .blind_source = WR_SEGMENT_NONE};
    see_recalls(t, from, &observed->quality);
    for (uint32_t i = from; i < t->segments_count; i++)
        see_segment(input, from, i, observed);
}

/* ---- the answer ---- */

void wr_quality_answer(const struct wr_answer_seen *seen, struct wr_quality *quality)
{
    /* A request that did not fit counts once, in however many ways the provider said so. */
    quality->upstream_context_errors += seen->error == WR_ANSWER_ERROR_CONTEXT ||
                                        seen->is_overflow_retried ||
                                        wr_span_is(seen->finish, "model_context_window_exceeded");
    quality->previous_response_not_found += seen->error == WR_ANSWER_ERROR_PREVIOUS;
    quality->invalid_tool_call_continuation += seen->error == WR_ANSWER_ERROR_CONTINUATION;
    if (seen->error != WR_ANSWER_ERROR_NONE || seen->calls_count || !wr_finish_is_end(seen->finish))
        return;
    quality->task_completed++;
    quality->additional_turns_before_completion += seen->outputs_after_edit;
    quality->final_total_input_tokens += seen->input_tokens;
}
