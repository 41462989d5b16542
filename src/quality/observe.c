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

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/output_kind.h"
#include "condense/signal.h"
#include "policy/marker.h"

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

/* ==== correction ====
 *
 * Whether a user's message says that what was done is wrong: a table of words, and the search in
 * the front of a message.
 *
 * Three kinds of entries differ in where they count. A verdict ("wrong") counts if the message
 * begins with it and a mark or nothing follows, since "wrong file is open" is no verdict on the
 * work. An opening counts at the beginning, a sentence anywhere in the first FRONT_BYTES. In
 * languages that part words by spaces an entry must end where a word ends.
 */

/* Only the front of a message is read: whoever corrects says so first. */
enum { FRONT_BYTES = 240 };

/* All in lower case, with straight apostrophes, parted by '|'. The lists are short: each entry
 * means that something is wrong, and hardly ever anything else, in the place where it is looked
 * for. */
static const struct language {
    const char *language;
    bool has_spaces;       /* between words: then an entry ends where a word does */
    const char *openings;  /* how a message begins */
    const char *verdicts;  /* the same, where a mark or nothing follows */
    const char *sentences; /* anywhere in the front of a message */
} languages[] = {
    {
        .language = "English",
        .has_spaces = true,
        .openings =
            "no, that's wrong|no, that is wrong|no, that's not|no, that is not|no, you|no, not|"
            "no, it should|no, this is wrong|no, i meant|no, i said|no, i wanted|no, i asked|"
            "nope, that|nope, not|that's wrong|that is wrong|this is wrong|it's wrong|"
            "that's not right|that's not what|that's not it|that's not correct|that's not how|"
            "that is not right|that is not what|that is not how|that isn't right|that isn't what|"
            "this isn't what|this is not what|not like that|you broke|you forgot|you missed|"
            "you didn't|you did not|you removed|you deleted|you ignored|undo that|undo this|"
            "undo it|undo the last|undo your|revert that|revert this|revert it|revert your|"
            "still fails|still failing|still broken|still wrong|still not|still doesn't|"
            "it still fails|it still doesn't|it's still failing|it's still broken|"
            "it's still wrong|it's still not|it doesn't work|it does not work|that didn't work|"
            "that did not work|that doesn't work|doesn't work|does not work|try again|"
            "do it again|i said|i told you|i already told|i asked you|why did you|why have you",
        .verdicts = "wrong|incorrect|nope|no",
        .sentences =
            "not what i asked|not what i wanted|not what i meant|that's wrong|that is wrong|"
            "you broke|still doesn't work|still does not work|still not working|as i said before|"
            "like i said before|undo that|undo your|revert that change|revert your change",
    },
    {
        .language = "German",
        .has_spaces = true,
        .openings =
            "nein, das ist falsch|nein, das stimmt|nein, so nicht|nein, ich meinte|"
            "nein, ich wollte|nein, ich sagte|nein, du|das ist falsch|das war falsch|"
            "das stimmt nicht|das stimmt so nicht|das ist nicht richtig|das ist nicht das, was|"
            "das ist nicht, was|das war nicht gemeint|so war das nicht gemeint|du hast vergessen|"
            "du hast übersehen|mach das rückgängig|mach es rückgängig|mache das rückgängig|"
            "mach deine|es geht immer noch nicht|geht immer noch nicht|"
            "funktioniert immer noch nicht|es funktioniert immer noch nicht|"
            "das funktioniert immer noch nicht|immer noch falsch|immer noch kaputt|"
            "immer noch derselbe fehler|schlägt immer noch fehl|versuch es noch einmal|"
            "versuche es noch einmal|versuch es nochmal|ich habe gesagt|ich hatte gesagt|"
            "ich sagte doch|warum hast du",
        .verdicts = "falsch|es funktioniert nicht|das funktioniert nicht|das geht nicht|so nicht",
        .sentences = "nicht das, was ich wollte|nicht, was ich wollte|nicht das, was ich meinte|"
                     "funktioniert immer noch nicht|mach das rückgängig|wie ich schon sagte",
    },
    {
        .language = "French",
        .has_spaces = true,
        .openings =
            "non, ce n'est pas ça|non, ce n'est pas ce que|non, c'est faux|non, je voulais|"
            "non, j'ai dit|non, tu|c'est faux|c'est incorrect|ce n'est pas ça|"
            "ce n'est pas ce que|ce n'est pas correct|ce n'est pas bon|pas comme ça|tu as oublié|"
            "vous avez oublié|tu t'es trompé|vous vous êtes trompé|tu as cassé|vous avez cassé|"
            "tu as supprimé|annule ça|annule tes|annule ta dernière|"
            "annule la dernière modification|reviens en arrière|ça ne marche toujours pas|"
            "ça ne fonctionne toujours pas|ça échoue toujours|toujours la même erreur|"
            "toujours pas bon|j'ai dit|je t'ai dit|je vous ai dit|je t'ai demandé|pourquoi as-tu|"
            "pourquoi tu as",
        .verdicts = "faux|ça ne marche pas|ça ne fonctionne pas|réessaie|recommence",
        .sentences = "pas ce que je voulais|pas ce que j'ai demandé|ne marche toujours pas|"
                     "ne fonctionne toujours pas|annule tes modifications|comme je l'ai dit",
    },
    {
        .language = "Spanish",
        .has_spaces = true,
        .openings =
            "no, eso no es lo que|no, eso está mal|no, eso es incorrecto|no, quería|no, dije|"
            "no, te pedí|no es lo que pedí|no es lo que te pedí|no es lo que quería|"
            "eso no es lo que|esto no es lo que|eso está mal|esto está mal|eso es incorrecto|"
            "te equivocaste|te has equivocado|olvidaste|te olvidaste|has olvidado|"
            "te has olvidado|rompiste|has roto|deshaz eso|deshaz esto|deshaz lo|deshaz tus|"
            "deshaz el último|revierte eso|revierte tus|sigue fallando|sigue sin funcionar|"
            "sigue igual|todavía no funciona|todavía falla|aún no funciona|inténtalo de nuevo|"
            "inténtalo otra vez|te dije|ya te dije|te pedí|¿por qué has|por qué has",
        .verdicts = "incorrecto|mal|no funciona|así no",
        .sentences =
            "no es lo que pedí|no es lo que te pedí|no es lo que quería|sigue sin funcionar|"
            "todavía no funciona|deshaz tus cambios|como ya dije",
    },
    {
        .language = "Portuguese",
        .has_spaces = true,
        .openings =
            "não, isso está errado|não, não é isso|não, eu queria|não, eu disse|não, você|"
            "isso está errado|isso não está certo|isso não está correto|não é isso que|"
            "não foi isso que|não era isso que|não é o que eu|não foi o que eu|você esqueceu|"
            "esqueceste|você quebrou|você se enganou|você apagou|desfaça isso|desfaz isso|"
            "desfaça a última|desfaça suas|reverta isso|reverta suas|continua falhando|"
            "continua sem funcionar|continua dando erro|ainda não funciona|ainda falha|"
            "ainda está errado|tente de novo|tente novamente|tenta de novo|eu disse|eu já disse|"
            "eu pedi|por que você",
        .verdicts = "errado|não funciona|assim não",
        .sentences =
            "não foi o que eu pedi|não é o que eu pedi|não era o que eu queria|"
            "ainda não funciona|continua sem funcionar|desfaça suas alterações|como eu disse",
    },
    {
        .language = "Chinese",
        .has_spaces = false,
        .openings =
            "不是这样|不是這樣|这不是我要的|這不是我要的|这不是我想要的|這不是我想要的|"
            "我不是这个意思|我不是這個意思|你错了|你錯了|你搞错|你搞錯|你弄错|你弄錯|你理解错|"
            "你忘了|你漏了|你漏掉|还是不行|還是不行|还是报错|還是報錯|还是失败|還是失敗|还是不对|"
            "還是不對|仍然报错|仍然失败|撤销刚才|撤销你的|撤销上一|復原剛才|恢复刚才|我说的是|"
            "我說的是|我说过|我說過|再试一次|再試一次|你为什么删|你为什么改",
        .verdicts = "不对|不對|错了|錯了|不行|重做|重来",
        .sentences =
            "不是我要的|不是我想要的|你理解错了|还是不行|仍然不行|撤销你的修改|和我说的不一样",
    },
    {
        .language = "Japanese",
        .has_spaces = false,
        .openings =
            "違います|ちがいます|いや、違|いいえ、違|そうじゃない|そうじゃなくて|そうではなく|"
            "それは違|間違っています|間違ってます|間違いです|まだ動きません|まだ動かない|"
            "まだ失敗し|まだエラー|まだ直ってい|元に戻してください|元に戻して。|"
            "取り消してください|やり直してください|もう一度やり直|言ったのは|頼んだのは|"
            "お願いしたのは|なぜ消した|なんで消した",
        .verdicts = "違う|ちがう|間違い|だめ|やり直し|元に戻して",
        .sentences = "頼んだものと違|頼んだことと違|言ったことと違|期待していたものではな|"
                     "変更を元に戻してください|前にも言いましたが",
    },
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* The second byte of a letter of Latin-1, such as the one of an E with an accent. */
static char lower_latin(unsigned char second)
{
    bool is_upper = second >= 0x80 && second <= 0x9e && second != 0x97;
    return (char)(is_upper ? second + 0x20 : second);
}

/* In lower case, with curly apostrophes made straight. */
static weir_span front_of(weir_span message, char into[FRONT_BYTES])
{
    weir_span text = wr_span_trim(message);
    size_t bytes = 0;

    for (size_t i = 0; i < text.len && bytes < FRONT_BYTES; i++) {
        if (wr_span_starts(wr_span_cut(text, i, text.len), WR_LIT("\xe2\x80\x99"))) {
            into[bytes++] = '\'';
            i += 2;
        } else if (i && text.ptr[i - 1] == '\xc3') {
            into[bytes++] = lower_latin((unsigned char)text.ptr[i]);
        } else {
            into[bytes++] = wr_lower(text.ptr[i]);
        }
    }
    return (weir_span){into, bytes};
}

static bool ends_word(weir_span front, size_t at)
{
    return at >= front.len || !is_letter(front.ptr[at]) || front.ptr[at - 1] == ' ';
}

static bool has_sentence(weir_span front, weir_span words, bool has_spaces)
{
    if (!has_spaces)
        return wr_span_find(front, words, 0) != SIZE_MAX;
    for (size_t at = 0; (at = wr_span_find(front, words, at)) != SIZE_MAX; at++)
        if ((!at || !is_letter(front.ptr[at - 1])) && ends_word(front, at + words.len))
            return true;
    return false;
}

/* A mark that ends a verdict, as Latin, French, and Chinese and Japanese texts have it. */
static bool is_mark(weir_span rest)
{
    static const char *const marks[] = {"!",         ".",  ",",  ":",  "\n", " !",
                                        "\xc2\xa0!", "！", "。", "，", "、", "："};
    for (size_t i = 0; i < WR_COUNT_OF(marks); i++)
        if (wr_span_starts(rest, wr_span_of(marks[i])))
            return true;
    return !rest.len;
}

/* "No." and "No, ..." also answer questions: of that word nothing but "No!" is a verdict. */
static bool is_verdict(weir_span front, weir_span verdict, bool has_spaces)
{
    (void)has_spaces;
    if (!wr_span_starts(front, verdict))
        return false;
    weir_span rest = wr_span_cut(front, verdict.len, front.len);
    return wr_span_is(verdict, "no") ? wr_span_starts(rest, WR_LIT("!")) : is_mark(rest);
}

static bool is_opening(weir_span front, weir_span words, bool has_spaces)
{
    return wr_span_starts(front, words) && (!has_spaces || ends_word(front, words.len));
}

typedef bool entry_fn(weir_span front, weir_span entry, bool has_spaces);

/* Whether one entry of a list is said. */
static bool says_one(weir_span front, const char *list, bool has_spaces, entry_fn *is_said)
{
    for (const char *at = list; *at;) {
        size_t bytes = strcspn(at, "|");
        if (is_said(front, (weir_span){at, bytes}, has_spaces))
            return true;
        at += bytes + (at[bytes] == '|');
    }
    return false;
}

bool wr_is_correction(weir_span message)
{
    char lower[FRONT_BYTES];
    weir_span front = front_of(message, lower);

    for (size_t i = 0; i < WR_COUNT_OF(languages); i++) {
        const struct language *l = &languages[i];
        if (says_one(front, l->verdicts, l->has_spaces, is_verdict) ||
            says_one(front, l->openings, l->has_spaces, is_opening) ||
            says_one(front, l->sentences, l->has_spaces, has_sentence))
            return true;
    }
    return false;
}
