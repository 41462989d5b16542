/* The loop of `weir agent`.
 *
 *   do_calls()   each call that waits: describe it, ask for consent, run it, give the result
 *   steer        what was typed meanwhile becomes part of the next user message
 *   ask_model()  one request: made by the session, sent by the client, its answer taken
 *   again, until an answer has no calls and nobody has typed anything
 *
 * Each of these is in the journal before the next begins; the agent itself remembers nothing that
 * matters. So an agent that is killed, or interrupted, goes on from the journal, and calls that
 * wait there are done first. A call whose result the journal did not take is closed as failed and
 * never done again: it may have changed something.
 *
 * A request over the window is sent all the same, since the provider may count otherwise; if it is
 * refused for its length, the session compacts itself and asks again.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <sys/stat.h>

#include "agent/image_words.h"
#include "agent/agent_prompt.h"
#include "agent/toolbox.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

/* ---- a large result ---- */

enum { NAME_BYTES_MAX = 100 };

#define FOLDER "large_tool_results"

/* Providers make up ids; only what can be no path goes into the name. */
static void name_file(char name[NAME_BYTES_MAX + 1], weir_span call_id)
{
    size_t len = call_id.len < NAME_BYTES_MAX ? call_id.len : NAME_BYTES_MAX;

    for (size_t i = 0; i < len; i++)
        name[i] = wr_is_word(call_id.ptr[i]) || call_id.ptr[i] == '-' ? call_id.ptr[i] : '_';
    name[len] = 0;
}

void wr_large_result_keep(const char *session_dir, weir_span call_id, struct wr_buf *result)
{
    char path[4096 + NAME_BYTES_MAX], name[NAME_BYTES_MAX + 1];

    if (!session_dir || result->len < WR_AGENT_LARGE_RESULT_BYTES)
        return;
    name_file(name, call_id);
    (void)snprintf(path, sizeof(path), "%s/" FOLDER, session_dir);
    (void)mkdir(path, 0700);
    int bytes = snprintf(path, sizeof(path), "%s/" FOLDER "/%s.txt", session_dir, name);
    if (bytes < 0 || (size_t)bytes >= sizeof(path) || wr_file_replace(path, wr_buf_view(result)))
        return;
    weir_span text = wr_buf_view(result);
    wr_buf_printf(result, "%s[this result of %llu lines is also in %s; read_file pages it]",
                  wr_span_ends(text, WR_LIT("\n")) ? "" : "\n",
                  (unsigned long long)wr_span_lines(text), path);
}

/* ---- agent ---- */

static void tell_trouble(const struct wr_agent *agent, const char *what, const struct weir_err *err)
{
    char text[WEIR_ERR_TEXT_BYTES + 128];
    (void)snprintf(text, sizeof(text), "%s%s%s", what, err && err->text[0] ? ": " : "",
                   err ? err->text : "");
    agent->view->notice(agent->view->user, text);
}

static bool is_interrupted(const struct wr_agent *agent)
{
    return agent->interrupt && agent->interrupt(agent->interrupt_user);
}

/* ---- words ---- */

/* What was typed while the model worked flows into the next user message. */
static bool take_steering(struct wr_agent *agent)
{
    struct wr_buf line;
    struct weir_err err = {0};
    bool has_some = false;

    wr_buf_init(&line, WR_AGENT_FILE_BYTES_MAX);
    while (agent->view->steering(agent->view->user, &line)) {
        wr_image_words_attach(agent, wr_buf_view(&line));
        if (weir_session_steer(agent->session, wr_buf_view(&line), wr_clock_ms(), &err))
            tell_trouble(agent, "what you typed was not taken", &err);
        else
            has_some = true;
        wr_buf_reset(&line);
    }
    wr_buf_release(&line);
    return has_some;
}

/* ---- calls ---- */

static bool work_on_helper(struct wr_agent *agent, const struct weir_call *call);

static bool ask_consent(struct wr_agent *agent, const struct weir_call *call, weir_span line,
                        const struct wr_grant_wish *wish)
{
    struct wr_tool_call_text text = {call->name, call->arguments};
    struct wr_buf diff;

    wr_buf_init(&diff, WR_AGENT_FILE_BYTES_MAX);
    wr_toolbox_preview(&agent->toolbox, &text, &diff);
    struct wr_consent_asked asked = {
        line, wr_buf_status(&diff) ? (weir_span){"", 0} : wr_buf_view(&diff), wish};
    enum wr_consent consent = agent->view->consent(agent->view->user, call, &asked);
    wr_buf_release(&diff);
    if (consent == WR_CONSENT_ALWAYS && !wr_grants_add(&agent->grants, wish))
        agent->view->notice(agent->view->user, "this is allowed once: it cannot be kept for later");
    return consent != WR_CONSENT_NO;
}

static bool has_consent(struct wr_agent *agent, const struct weir_call *call, weir_span line)
{
    struct wr_tool_call_text text = {call->name, call->arguments};
    struct wr_grant_wish wish;
    struct wr_arena arena;
    weir_span command;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool needs_it = !agent->needs_no_consent &&
                    wr_toolbox_needs_consent(&agent->toolbox, &arena, &text, &command);
    if (needs_it)
        wr_grant_wish_of(&wish, call->name, command);
    wr_arena_release(&arena);
    return !needs_it || wr_grants_cover(&agent->grants, &wish) ||
           ask_consent(agent, call, line, &wish);
}

/* False: the journal does not take it. The call still waits, and must not be done again. */
static bool give_result(struct wr_agent *agent, const struct weir_call *call, weir_span text,
                        bool is_error)
{
    struct weir_err err = {0};
    agent->view->result(agent->view->user, call, text, is_error);
    if (!weir_session_result(agent->session, call->id, text, is_error, wr_clock_ms(), &err))
        return true;
    tell_trouble(agent, "the result could not be written to the journal", &err);
    return false;
}

/* Of the process before: it was killed while this call ran. Nobody knows how far it came, so the
 * model is told that, and looks for itself. */
static const char unknown_outcome[] =
    "Error: this call was running when the session ended; its outcome is unknown. Look before you "
    "do it again.";

/* Calls that change nothing can be done again, and need no mark. */
static bool begin_call(struct wr_agent *agent, const struct weir_call *call)
{
    struct weir_err err = {0};

    if (!wr_tool_changes(call->name) ||
        !weir_session_begin_call(agent->session, call->id, wr_clock_ms(), &err))
        return true;
    tell_trouble(agent, "the journal could not be written", &err);
    return false;
}

static bool do_call(struct wr_agent *agent, const struct weir_call *call)
{
    struct wr_tool_call_text text = {call->name, call->arguments};
    struct wr_tool_output output = {.is_error = true};
    struct wr_buf line;
    bool is_given;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    wr_toolbox_describe(&text, &line);
    agent->view->call(agent->view->user, call, wr_buf_view(&line));
    if (weir_session_call_is_begun(agent->session, call->id)) {
        is_given = give_result(agent, call, wr_span_of(unknown_outcome), true);
    } else if (!has_consent(agent, call, wr_buf_view(&line))) {
        is_given =
            give_result(agent, call, WR_LIT("Error: the user did not allow this call."), true);
    } else if (wr_span_is(call->name, "spawn_agent") && agent->toolbox.has_helpers) {
        is_given = work_on_helper(agent, call);
    } else if (!begin_call(agent, call)) {
        is_given = false;
    } else {
        wr_toolbox_run(&agent->toolbox, &text, &output);
        if (!wr_toolbox_shows_file(call->name))
            wr_large_result_keep(agent->toolbox.session_dir, call->id, &output.text);
        is_given = give_result(agent, call, wr_buf_view(&output.text), output.is_error);
    }
    wr_buf_release(&output.text);
    wr_buf_release(&line);
    return is_given;
}

/* A call's spans belong to the session and die with its next change. */
static bool copy_call(const struct weir_call *call, struct wr_arena *arena, struct weir_call *copy)
{
    copy->id = wr_arena_copy(arena, call->id);
    copy->name = wr_arena_copy(arena, call->name);
    copy->arguments = wr_arena_copy(arena, call->arguments);
    return !wr_arena_status(arena);
}

enum step { STEP_ANSWERED, STEP_AGAIN, STEP_INTERRUPTED, STEP_LIMIT, STEP_FAILED };

/* STEP_ANSWERED: every call has its result. Otherwise the calls that were not done are closed with
 * the reason. */
static enum step do_calls(struct wr_agent *agent)
{
    const struct weir_call *pending;
    struct wr_arena arena;
    struct weir_err err = {0};
    bool is_fine = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    while (is_fine && weir_session_pending(agent->session, &pending) && !is_interrupted(agent)) {
        struct weir_call call;
        wr_arena_reset(&arena);
        is_fine = copy_call(&pending[0], &arena, &call) && do_call(agent, &call);
    }
    wr_arena_release(&arena);
    if (!weir_session_pending(agent->session, &pending))
        return STEP_ANSWERED;
    weir_span why = is_fine ? WR_LIT("the user interrupted")
                            : WR_LIT("the result of this call could not be kept");
    if (weir_session_abort(agent->session, why, wr_clock_ms(), &err))
        tell_trouble(agent, "the journal could not be written", &err);
    return is_fine ? STEP_INTERRUPTED : STEP_FAILED;
}

/* ---- one request ---- */

static void on_wait(void *user, const char *why, uint64_t seconds)
{
    const struct wr_agent *agent = user;
    char text[400];
    (void)snprintf(text, sizeof(text), "%s; trying again in %llu s", why,
                   (unsigned long long)seconds);
    agent->view->notice(agent->view->user, text);
}

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    const struct wr_agent *agent = user;
    agent->view->piece(agent->view->user, kind, text);
}

/* The provider's own words, where they can be found, and what is done now. */
static void tell_refusal(const struct wr_agent *agent, const struct wr_asked_result *r,
                         const char *then)
{
    struct wr_arena arena;
    struct wr_json doc;
    weir_span said = wr_span_trim(wr_buf_view(&r->body));
    char text[600];

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_json_parse(&doc, &arena, said, NULL, NULL)) {
        weir_span message = wr_error_message(&doc, &arena);
        said = message.len ? message : said;
    }
    (void)snprintf(text, sizeof(text), "the provider refused (%d): %.*s%s", r->status,
                   (int)(said.len < 400 ? said.len : 400), said.len ? said.ptr : "", then);
    agent->view->notice(agent->view->user, text);
    wr_arena_release(&arena);
}

/* Adds up what an answer used. If it did not come as a stream nobody has seen its text yet, so it
 * is shown. */
static void note_answer(struct wr_agent *agent, const struct wr_asked_result *r)
{
    if (!r->is_stream && r->text.len)
        agent->view->piece(agent->view->user, WR_PIECE_TEXT, wr_buf_view(&r->text));
    if (agent->words) {
        wr_buf_reset(agent->words);
        wr_buf_append(agent->words, wr_buf_view(&r->text));
    }
    agent->input_tokens +=
        r->usage.input_tokens + r->usage.cache_read_tokens + r->usage.cache_write_tokens;
    agent->cache_read_tokens += r->usage.cache_read_tokens;
}

/* Something answered that is no provider: a page of a proxy, mostly. */
static void tell_no_answer(const struct wr_agent *agent, const struct wr_asked_result *r,
                           const struct weir_err *err)
{
    char text[500];

    if (!r->is_stream && r->type[0] && !strstr(r->type, "json")) {
        (void)snprintf(text, sizeof(text), "%.300s answered with %s: is that the API's address?",
                       agent->endpoint.base_url, r->type);
        agent->view->notice(agent->view->user, text);
    } else {
        tell_trouble(agent, "the answer could not be taken", err);
    }
}

static enum step take_answer(struct wr_agent *agent, const struct wr_asked_result *r)
{
    struct weir_err err = {0};

    switch (r->asked) {
    case WR_ASKED_DONE:
        note_answer(agent, r);
        if (!weir_session_answer_body(agent->session, agent->endpoint.api->dialect,
                                      wr_buf_view(&r->body), wr_clock_ms(), &err))
            return STEP_ANSWERED;
        tell_no_answer(agent, r, &err);
        return STEP_FAILED;
    case WR_ASKED_REFUSED:
        if (weir_session_refused(agent->session, wr_buf_view(&r->body), wr_clock_ms())) {
            agent->view->notice(agent->view->user,
                                "the prompt was too long for the provider; compacting");
            return STEP_AGAIN;
        }
        if (weir_session_refused_images(agent->session, wr_buf_view(&r->body))) {
            tell_refusal(agent, r, "; asking again without the images, their paths stay as text");
            return STEP_AGAIN;
        }
        tell_refusal(agent, r, "");
        return STEP_FAILED;
    case WR_ASKED_INTERRUPTED:
        return STEP_INTERRUPTED;
    case WR_ASKED_BROKEN:
    case WR_ASKED_UNREACHABLE:
        break;
    }
    (void)snprintf(err.text, sizeof(err.text), "%s", r->why);
    tell_trouble(agent,
                 r->asked == WR_ASKED_BROKEN ? "the answer broke off"
                                             : "the provider cannot be reached",
                 &err);
    return STEP_FAILED;
}

/* A request over the window goes out all the same: the provider may know better, and its refusal is
 * handled. But who waits for the answer is told, once, and again when it is twice as much. */
static void tell_size(struct wr_agent *agent, const struct weir_session_turn *turn)
{
    struct weir_session_context context;
    uint64_t window = turn->window_tokens;
    char text[300];

    if (!window || turn->tokens_after <= window) {
        agent->over_tokens = 0;
        return;
    }
    weir_session_context(agent->session, &context);
    uint64_t over = turn->tokens_after - window;
    uint64_t fixed = context.system_tokens + context.tools_tokens;
    if (fixed >= window && !agent->has_told_fixed) {
        agent->has_told_fixed = true;
        (void)snprintf(text, sizeof(text),
                       "the system prompt and the tools alone have about %llu tokens, and the "
                       "window %llu: no request fits, whatever is left out; a larger --window or a "
                       "shorter prompt does",
                       (unsigned long long)fixed, (unsigned long long)window);
        agent->view->notice(agent->view->user, text);
    }
    if (agent->over_tokens && over < 2 * agent->over_tokens)
        return;
    agent->over_tokens = over;
    (void)snprintf(text, sizeof(text),
                   "this request has about %llu tokens, %llu more than the window, and nothing "
                   "more can be left out of it",
                   (unsigned long long)turn->tokens_after, (unsigned long long)over);
    agent->view->notice(agent->view->user, text);
}

/* The request's spans belong to the session. Without the moment a request is as good. */
static weir_status make_request(struct wr_agent *agent, struct weir_session_turn *turn,
                                struct weir_err *err)
{
    struct weir_session_want want = {.dialect = agent->endpoint.api->dialect,
                                     .now_ms = wr_clock_ms(),
                                     .extra = wr_span_of(agent->endpoint.api->stream_members),
                                     .alternates = agent->endpoint.is_local};
    struct wr_buf moment;

    wr_buf_init(&moment, WR_AGENT_READ_BYTES_MAX);
    if (agent->tells_moment && !wr_moment_write(agent->session, want.now_ms, &moment, NULL))
        want.context = wr_buf_view(&moment);
    weir_status status = weir_session_request(agent->session, &want, turn, err);
    wr_buf_release(&moment);
    return status;
}

static enum step ask_model(struct wr_agent *agent)
{
    struct weir_session_turn turn;
    struct weir_err err = {0};
    struct wr_asked_result result;

    weir_status status = make_request(agent, &turn, &err);
    if (status) {
        tell_trouble(agent, status == WEIR_LIMIT ? "stopped" : "no request can be made", &err);
        return status == WEIR_LIMIT ? STEP_LIMIT : STEP_FAILED;
    }
    agent->view->turn(agent->view->user, &turn);
    tell_size(agent, &turn);
    if (is_interrupted(agent)) /* while the request was made: a summary may take long */
        return STEP_INTERRUPTED;
    struct wr_ask what = {.endpoint = &agent->endpoint,
                          .session = agent->name,
                          .body = turn.body,
                          .on_piece = on_piece,
                          .on_wait = on_wait,
                          .user = agent};
    wr_client_ask(agent->client, &what, &result);
    enum step step = take_answer(agent, &result);
    wr_asked_release(&result);
    return step;
}

/* ---- the loop ---- */

static enum wr_worked outcome_of(enum step step)
{
    switch (step) {
    case STEP_INTERRUPTED:
        return WR_WORKED_INTERRUPTED;
    case STEP_LIMIT:
        return WR_WORKED_LIMIT;
    case STEP_ANSWERED:
    case STEP_AGAIN:
    case STEP_FAILED:
        break;
    }
    return WR_WORKED_FAILED;
}

static enum wr_worked work_until_done(struct wr_agent *agent)
{
    const struct weir_call *pending;

    for (;;) {
        enum step step = do_calls(agent);
        if (step != STEP_ANSWERED)
            return outcome_of(step);
        if (is_interrupted(agent))
            return WR_WORKED_INTERRUPTED;
        (void)take_steering(agent);
        step = ask_model(agent);
        if (step == STEP_AGAIN)
            continue;
        if (step != STEP_ANSWERED)
            return outcome_of(step);
        if (!weir_session_pending(agent->session, &pending) && !take_steering(agent))
            return WR_WORKED_DONE;
    }
}

enum wr_worked wr_agent_work(struct wr_agent *agent, weir_span text)
{
    struct weir_err err = {0};

    wr_image_words_attach(agent, text);
    if (text.len && weir_session_say(agent->session, text, wr_clock_ms(), &err)) {
        tell_trouble(agent, "your words could not be written to the journal", &err);
        return WR_WORKED_FAILED;
    }
    if (text.len && weir_session_start_run(agent->session, wr_clock_ms(), &err))
        tell_trouble(agent, "the run's limits go on from the last one", &err);
    enum wr_worked worked = work_until_done(agent);
    (void)take_steering(agent); /* what was typed before an interruption is kept */
    return worked;
}

/* ---- helpers ---- */

static void run_helper(struct wr_agent *agent, const struct weir_subagent_kind *kind,
                       struct weir_session *child, struct wr_buf *words)
{
    struct wr_agent helper = *agent;
    struct weir_tool tools[WR_TOOLBOX_TOOLS_MAX];
    struct weir_err err = {0};

    helper.session = child;
    helper.words = words;
    helper.toolbox.has_helpers = false;
    helper.toolbox.only = kind->tools;
    helper.tells_moment = false;
    size_t count = wr_toolbox_tools(&helper.toolbox, tools);
    if (weir_session_set_tools(child, tools, count, &err))
        tell_trouble(agent, "the helper has no tools", &err);
    (void)work_until_done(&helper);
    agent->grants = helper.grants;
    agent->input_tokens = helper.input_tokens;
    agent->cache_read_tokens = helper.cache_read_tokens;
}

static bool read_task(const struct weir_call *call, struct wr_arena *arena, weir_span *task,
                      char *kind, size_t kind_max)
{
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, call->arguments, NULL, NULL))
        return false;
    wr_json_id text = wr_json_find(&doc, 0, "task"), name = wr_json_find(&doc, 0, "kind");
    if (!wr_json_is(&doc, text, WR_JSON_STRING))
        return false;
    *task = wr_json_text(&doc, arena, text);
    weir_span word = WR_LIT("explore");
    if (wr_json_is(&doc, name, WR_JSON_STRING))
        word = wr_json_text(&doc, arena, name);
    (void)snprintf(kind, kind_max, "%.*s", (int)word.len, word.ptr);
    return task->ptr && wr_span_trim(*task).len;
}

/* The helper's conclusion is the result; the session writes it. */
static bool join_helper(struct wr_agent *agent, const struct weir_call *call,
                        struct weir_session *child, weir_span words)
{
    struct weir_err err = {0};
    weir_span shown = words.len ? words : WR_LIT("[the helper ended without an answer]");

    agent->view->result(agent->view->user, call, shown, !words.len);
    if (!weir_session_join(agent->session, child, wr_clock_ms(), &err))
        return true;
    tell_trouble(agent, "the helper's conclusion was lost", &err);
    return false;
}

static bool work_on_helper(struct wr_agent *agent, const struct weir_call *call)
{
    struct wr_arena arena;
    struct wr_buf words;
    struct weir_session *child;
    struct weir_err err = {0};
    weir_span task;
    char name[64], why[WEIR_ERR_TEXT_BYTES + 64];
    bool is_given;

    wr_buf_init(&words, WR_AGENT_ANSWER_BYTES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    const struct weir_subagent_kind *kind =
        read_task(call, &arena, &task, name, sizeof(name)) ? weir_subagent_kind_find(name) : NULL;
    if (!kind) {
        is_given = give_result(agent, call,
                               WR_LIT("Error: spawn_agent wants a task and a known kind."), true);
    } else if (weir_session_spawn(agent->session, kind, call->id, task, wr_clock_ms(), &child,
                                  &err)) {
        (void)snprintf(why, sizeof(why), "Error: the helper could not be started: %s", err.text);
        is_given = give_result(agent, call, wr_span_of(why), true);
    } else {
        run_helper(agent, kind, child, &words);
        is_given = join_helper(agent, call, child, wr_buf_view(&words));
    }
    wr_buf_release(&words);
    wr_arena_release(&arena);
    return is_given;
}
