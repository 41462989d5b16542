/* `weir pin`, `unpin`, `undo`, `exact`, `pause` and `resume`: what a person says of a session while
 * it runs. The store is all that is needed: the session's next request hears it there, in whatever
 * process it comes (docs/steer.md). What has a price says it first. */
#include "cli/cmd_steer.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"

struct steer_options {
    const char *store, *tenant, *tool;
    bool brings_back, is_confirmed, as_json;
};

#define VALUES struct steer_options

/* The rows of all of them, ordered so that those of each command stand together: `pause` and
 * `resume` have the last three, what has a price one more, and so on. */
static const struct wr_option rows[] = {
    {"now", WR_FLAG(brings_back),
     "what is out already comes back with the next request, not with the next step"},
    {"yes", WR_FLAG(is_confirmed), "do not ask whether it is worth the price"},
    {"json", WR_FLAG(as_json), "one JSON object (docs/steer.md)"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
    {"tool", WR_TEXT("T", tool), "all calls and results of this tool; it may end in a '*'"},
};

enum { ROW_NOW, ROW_YES, ROW_JSON, ROW_TENANT = 4, ROW_TOOL };

/* ---- what is said back ---- */

static void put_price(struct wr_buf *out, const struct wr_steer_price *p)
{
    wr_buf_printf(out, "%s tokens are written into the cache again",
                  WR_GROUPED((uint64_t)p->rewrites_tokens));
    if (!p->has_money)
        return;
    wr_buf_text(out, ", for ");
    wr_cli_put_money(out, p->cost_micro_usd);
    if (p->a_request_micro_usd < 0) {
        wr_buf_text(out, "; each request after it costs ");
        wr_cli_put_money(out, -p->a_request_micro_usd);
        wr_buf_text(out, " less");
        return;
    }
    /* Up to: of what comes back some may still be in the cache. */
    wr_buf_text(out, "; with what comes back the next request costs up to ");
    wr_cli_put_money(out, p->once_micro_usd);
    wr_buf_text(out, " more, each after it ");
    wr_cli_put_money(out, p->a_request_micro_usd);
    wr_buf_text(out, " more");
}

static void put_name(struct wr_buf *out, const struct wr_steering *s)
{
    if (s->session.len)
        wr_text_excerpt(out, s->session, 80);
    else
        wr_buf_text(out, "all sessions");
}

static void put_pins(struct wr_buf *out, const struct wr_steering *s)
{
    weir_span rest = s->pins, line;
    struct wr_order pin;

    while (wr_span_line(&rest, &line)) {
        if (!wr_order_read(line, &pin))
            continue;
        wr_buf_printf(out, "  %-7s", wr_pin_name(pin.pin));
        wr_text_excerpt(out, pin.name, 100);
        wr_buf_byte(out, '\n');
    }
    if (!s->pins.len)
        wr_buf_text(out, "  nothing is pinned\n");
}

/* What is said when it is done. Behind the first part stands when it happens. */
static const struct {
    const char *text, *then;
} deeds[WR_STEERS_COUNT] = {
    [WR_STEER_SHOW] = {":\n", NULL},
    [WR_STEER_PIN] = {": pinned from the next request on:\n", NULL},
    [WR_STEER_UNPIN] = {": pinned from the next request on:\n", NULL},
    [WR_STEER_UNDO] = {": the last step is taken back ", ""},
    [WR_STEER_NOW] = {": the step is taken ", ""},
    [WR_STEER_EXACT] = {": messages go as they came, beginning ", "; `weir resume` ends that"},
    [WR_STEER_PAUSE] = {": messages go as they came, beginning ", "; `weir resume` ends that"},
    [WR_STEER_RESUME] = {": what comes is shortened again, beginning ",
                         "; what went whole stays so until the next step"},
};

static void put_when(struct wr_buf *out, const struct wr_steering *s)
{
    wr_buf_text(out, wr_steering_waits(s) == WR_WAIT_USER
                         ? "with the user's next message (pending until then, because signed "
                           "thinking is bound to the prompt)"
                         : "with the next request");
}

static void put_deed(struct wr_buf *out, enum wr_steer_verb verb, bool brings_back,
                     const struct wr_steered *d)
{
    bool is_pin = verb == WR_STEER_PIN || verb == WR_STEER_UNPIN || verb == WR_STEER_SHOW;

    put_name(out, &d->steering);
    wr_buf_text(out, deeds[verb].text);
    if (deeds[verb].then) {
        put_when(out, &d->steering);
        wr_buf_text(out, deeds[verb].then);
    }
    if (is_pin)
        put_pins(out, &d->steering);
    else
        wr_buf_byte(out, '\n');
    if (!d->price.is_known)
        return;
    if (is_pin && !brings_back) {
        wr_buf_text(out, "what is out of it comes back with the next step, at no price of its own; "
                         "with --now, at the next request, ");
    } else if (is_pin) {
        wr_buf_text(out, "what is out of it comes back ");
        put_when(out, &d->steering);
        wr_buf_text(out, ": ");
    }
    put_price(out, &d->price);
    wr_buf_byte(out, '\n');
}

/* ---- asking ---- */

/* True: yes was typed. */
static bool is_confirmed_by_hand(const struct wr_steered *d)
{
    char answer[16] = "";
    struct wr_buf out;

    wr_buf_init(&out, 4096);
    put_name(&out, &d->steering);
    wr_buf_text(&out, ": ");
    put_price(&out, &d->price);
    wr_buf_text(&out, ".\n");
    (void)fwrite(out.bytes, 1, out.len, stderr);
    wr_buf_release(&out);
    if (!isatty(STDIN_FILENO)) {
        (void)wr_cli_fail("nothing was done; --yes says that it is worth that");
        return false;
    }
    (void)fputs("Do it? [y/N] ", stderr);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool wants_confirming(const struct wr_steer_request *r, const struct wr_steered *d)
{
    bool has_price = r->verb == WR_STEER_UNDO || r->verb == WR_STEER_NOW ||
                     r->verb == WR_STEER_EXACT || r->brings_back;
    return has_price && !d->is_said && d->price.is_known && !r->is_confirmed;
}

static int steer(struct wr_ledger *ledger, struct weir_store *store, struct wr_steer_request *r,
                 enum wr_cli_show show)
{
    struct wr_steered d;
    struct weir_err err = {0};
    struct wr_json_writer w;
    struct wr_arena arena;
    struct wr_buf out;
    int code = WR_EXIT_OK;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_steer(ledger, store, r, &arena, &d, &err);
    if (!status && wants_confirming(r, &d)) {
        r->is_confirmed = is_confirmed_by_hand(&d);
        code = r->is_confirmed ? WR_EXIT_OK : WR_EXIT_CHECK;
        if (r->is_confirmed)
            status = wr_steer(ledger, store, r, &arena, &d, &err);
    }
    if (status) {
        code = wr_cli_fail_status(status, &err);
    } else if (show == WR_SHOW_JSON) {
        wr_json_write_init(&w, &out);
        wr_steered_write(&d, &w);
        wr_buf_byte(&out, '\n');
    } else if (show == WR_SHOW_PLAN && r->verb == WR_STEER_SHOW) {
        code = wr_cli_print_plan(&d.steering, &arena);
    } else if (code == WR_EXIT_OK) {
        put_deed(&out, r->verb, r->brings_back, &d);
    }
    wr_arena_release(&arena);
    if (out.len && show == WR_SHOW_JSON)
        return wr_cli_end(&out, code);
    if (out.len)
        return wr_cli_end_fitted(&out, code);
    wr_buf_release(&out);
    return code;
}

int wr_cli_steer(const char *dir, struct wr_steer_request *request, enum wr_cli_show show)
{
    struct weir_store_options how = {.must_exist = true};
    struct wr_ledger *ledger = wr_cli_ledger(dir);
    struct weir_store *store = ledger ? wr_cli_store(dir, &how) : NULL;
    int code = WR_EXIT_USAGE;

    request->now_ms = wr_clock_ms();
    if (store)
        code = steer(ledger, store, request, show);
    weir_store_close(store);
    wr_ledger_close(ledger);
    return code;
}

static int run_verb(enum wr_steer_verb verb, const struct steer_options *o,
                    const struct wr_words *words)
{
    struct wr_steer_request r = {.verb = verb,
                                 .tenant = wr_span_of(o->tenant),
                                 .tool = wr_span_of(o->tool ? o->tool : ""),
                                 .brings_back = o->brings_back,
                                 .is_confirmed = o->is_confirmed};

    r.is_of_all = !words->count;
    if (words->count)
        r.session = wr_span_of(words->items[0]);
    if (words->count > 1)
        r.word = wr_span_of(words->items[1]);
    return wr_cli_steer(o->store, &r, o->as_json ? WR_SHOW_JSON : WR_SHOW_DEED);
}

/* ---- the commands ---- */

#define RUN(name, verb)                                                     \
    static int run_##name(void *values, const struct wr_words *words)       \
    {                                                                       \
        return run_verb(verb, (const struct steer_options *)values, words); \
    }

RUN(unpin, WR_STEER_UNPIN)
RUN(undo, WR_STEER_UNDO)
RUN(exact, WR_STEER_EXACT)
RUN(pause, WR_STEER_PAUSE)
RUN(resume, WR_STEER_RESUME)

static int run_pin(void *values, const struct wr_words *words)
{
    const struct steer_options *o = values;

    bool is_list = words->count == 1 && !o->tool;
    return run_verb(is_list ? WR_STEER_SHOW : WR_STEER_PIN, o, words);
}

/* What all of them have; a command adds what it is for. */
#define COMMAND(word, first, last)                                         \
    .name = #word, .run = run_##word, .options = &rows[first],             \
    .options_count = (last) - (first) + 1, .values_bytes = sizeof(VALUES), \
    .defaults = &(const struct steer_options)                              \
    {                                                                      \
        .tenant = WR_CLI_TENANT                                            \
    }

#define OF_ONE                                                                              \
    .usage = "[OPTIONS] SESSION", .words_min = 1, .words_max = 1, .list = wr_list_sessions, \
    .wants = "name a session"
#define OF_ALL                                                                \
    .usage = "[OPTIONS] [SESSION]", .words_max = 1, .list = wr_list_sessions, \
    .wants = "name a session, or none"
#define OF_PIECE                                                                        \
    .usage = "[OPTIONS] SESSION [PATH|SEGMENT|HANDLE]", .words_min = 1, .words_max = 2, \
    .list = wr_list_sessions
#define ASKS .exits = "Exit 1: its price was not confirmed, and nothing was done."

const struct wr_command wr_cmd_pin = {
    COMMAND(pin, ROW_NOW, ROW_TOOL),
    OF_PIECE,
    ASKS,
    .wants = "name a session, and what of it stays whole",
    .purpose = "keep something of a running session whole",
    .about =
        "From the session's next request on this stays whole: what shows or writes a file "
        "(PATH may be given from its last parts on, '*' stands for anything), a piece that "
        "`weir plan` lists by its number, the text of a HANDLE, or with --tool all of a tool. "
        "A pin changes nothing that was sent: what is out already comes back with the next "
        "step, or with --now, for a price, at the next request. SESSION is a name as `weir "
        "sessions` prints it, how it begins, or the id that the client sent. Without more than "
        "that the pins are listed.",
    .example = "weir plan 7f3a\nweir pin 7f3a 12\nweir pin 7f3a src/parser.c\n"
               "weir pin 7f3a --tool Read",
};

const struct wr_command wr_cmd_unpin = {
    COMMAND(unpin, ROW_JSON, ROW_TOOL),
    OF_PIECE,
    .wants = "name a session, and what is pinned of it",
    .purpose = "take back a pin",
    .about = "Takes back what `weir pin` said, in the same words.",
    .example = "weir unpin 7f3a src/parser.c",
};

const struct wr_command wr_cmd_undo = {
    COMMAND(undo, ROW_YES, ROW_TENANT),
    OF_ONE,
    ASKS,
    .purpose = "take back the last step of a running session",
    .about =
        "What the session's last step took out is in the prompt again from its next request "
        "on, as it was before. That writes the cache anew from there: the price is said first. "
        "What comes back may leave again with a later step; `weir pin` keeps it.",
    .example = "weir undo 7f3a",
};

const struct wr_command wr_cmd_exact = {
    COMMAND(exact, ROW_YES, ROW_TENANT),
    OF_ONE,
    ASKS,
    .purpose = "send a running session's messages as they came",
    .about =
        "From its next request on the session's messages are sent as they come, what was taken "
        "out included. That writes the cache anew: the price is said first. `weir resume` "
        "ends it.",
    .example = "weir exact 7f3a --yes",
};

const struct wr_command wr_cmd_pause = {
    COMMAND(pause, ROW_JSON, ROW_TENANT),
    OF_ALL,
    .purpose = "take nothing out of any session, or of one",
    .about = "From the next request on messages are sent as they come: those of the session, or of "
             "all of the tenant's, new ones included. `weir resume` ends it: all of them with the "
             "same words.",
    .example = "weir pause",
};

const struct wr_command wr_cmd_resume = {
    COMMAND(resume, ROW_JSON, ROW_TENANT),
    OF_ALL,
    .purpose = "end what `pause` or `exact` began",
    .about =
        "What was sent whole stays so until the next step; what comes from now on is shortened "
        "as the session's policy has it.",
    .example = "weir resume",
};
