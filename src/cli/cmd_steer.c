/* `weir plan`, `pin`, `unpin`, `undo`, `exact`, `pause` and `resume`: what leaves a session's
 * prompt next, and what a person says of that while it runs. The store is all that is needed: the
 * session's next request hears it there, in whatever process it comes (docs/steer.md). What has a
 * price says it first. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "ledger/steer.h"

/* ---- weir plan ----
 *
 * `weir plan`: what is out of a session's prompt, what the next step would take of it, when that
 * will come and what it would cost; with --now it comes with the next request.
 *
 * The stages have said all of it themselves, when the session's last request left
 * (engine/steer.h): here it is only printed.
 */

enum cli_show { SHOW_DEED, SHOW_PLAN, SHOW_JSON };

/* ---- printing ---- */

enum { PATH_BYTES_MAX = 48 };

struct printer {
    const struct wr_steering *steering;
    const struct wr_json *doc;
    struct wr_arena *arena;
    struct wr_buf *out;
};

/* Of what the next step would take: what each request costs less then. Of what is out: what it
 * costs to have it back, once. */
static void put_money_of_piece(struct printer *p, wr_json_id piece)
{
    int64_t a_request = wr_json_find_i64(p->doc, piece, "a_request_micro_usd");

    if (wr_json_find(p->doc, piece, "once_micro_usd") != WR_JSON_NONE) {
        wr_buf_text(p->out, "  back for ");
        wr_cli_put_money(p->out, wr_json_find_i64(p->doc, piece, "once_micro_usd"));
    } else if (a_request < 0) {
        wr_buf_text(p->out, "  ");
        wr_cli_put_money(p->out, -a_request);
        wr_buf_text(p->out, " less a request");
    }
}

static void put_piece(struct printer *p, wr_json_id piece)
{
    weir_span kind = wr_json_find_text(p->doc, p->arena, piece, "kind");
    weir_span tool = wr_json_find_text(p->doc, p->arena, piece, "tool");
    weir_span name = wr_json_find_text(p->doc, p->arena, piece, "path");
    weir_span form = wr_json_find_text(p->doc, p->arena, piece, "form");
    weir_span handle = wr_json_find_text(p->doc, p->arena, piece, "handle");
    struct wr_buf what;

    bool is_path = name.len > 0;
    weir_span end = wr_cli_end_of_path(name, PATH_BYTES_MAX);
    const char *gap = is_path && end.len < name.len ? " …" : " ";
    name = is_path ? end : wr_json_find_text(p->doc, p->arena, piece, "name");
    wr_buf_init(&what, 4096);
    wr_buf_append(&what, tool.len ? tool : kind);
    if (wr_json_find_u64(p->doc, piece, "last_segment"))
        wr_buf_printf(&what, " #%llu to #%llu",
                      (unsigned long long)wr_json_find_u64(p->doc, piece, "segment"),
                      (unsigned long long)wr_json_find_u64(p->doc, piece, "last_segment"));
    wr_buf_text(&what, gap);
    wr_buf_append(&what, name);
    wr_buf_printf(p->out, "  #%-5llu %8s → %-7s %-12.*s ",
                  (unsigned long long)wr_json_find_u64(p->doc, piece, "segment"),
                  WR_GROUPED(wr_json_find_u64(p->doc, piece, "tokens")),
                  WR_GROUPED(wr_json_find_u64(p->doc, piece, "tokens_left")), (int)form.len,
                  form.ptr);
    wr_text_excerpt(p->out, wr_buf_view(&what), 60);
    wr_buf_printf(p->out, "  %.*s", (int)handle.len, handle.ptr);
    put_money_of_piece(p, piece);
    if (wr_json_is(p->doc, wr_json_find(p->doc, piece, "pinned"), WR_JSON_TRUE))
        wr_buf_text(p->out, "  pinned: comes back with the next step");
    wr_buf_byte(p->out, '\n');
    wr_buf_release(&what);
}

/* What a summary stands for: `weir pin` takes these numbers too. */
static void put_holds(struct printer *p, wr_json_id piece)
{
    wr_json_id holds = wr_json_find(p->doc, piece, "holds");
    struct wr_buf what;

    if (!wr_json_is(p->doc, holds, WR_JSON_ARRAY))
        return;
    wr_buf_init(&what, 4096);
    WR_JSON_EACH(i, p->doc, holds) {
        weir_span path = wr_json_find_text(p->doc, p->arena, i, "path");
        wr_buf_reset(&what);
        wr_buf_append(&what, wr_json_find_text(p->doc, p->arena, i, "tool"));
        wr_buf_byte(&what, ' ');
        wr_buf_append(&what, path.len ? path : wr_json_find_text(p->doc, p->arena, i, "name"));
        wr_buf_printf(p->out, "    #%-5llu %6s in it         ",
                      (unsigned long long)wr_json_find_u64(p->doc, i, "segment"),
                      WR_GROUPED(wr_json_find_u64(p->doc, i, "tokens")));
        wr_text_excerpt(p->out, wr_buf_view(&what), 60);
        wr_buf_byte(p->out, '\n');
    }
    wr_buf_release(&what);
}

static void put_pieces(struct printer *p, wr_json_id part)
{
    wr_json_id pieces = wr_json_find(p->doc, part, "pieces");
    uint64_t count = wr_json_find_u64(p->doc, part, "pieces_count"), shown = 0;

    if (wr_json_is(p->doc, pieces, WR_JSON_ARRAY))
        for (wr_json_id i = wr_json_first(p->doc, pieces); i != WR_JSON_NONE;
             i = wr_json_next(p->doc, pieces, i), shown++) {
            put_piece(p, i);
            put_holds(p, i);
        }
    if (count > shown)
        wr_buf_printf(p->out, "  and %s more\n", WR_GROUPED(count - shown));
}

/* A line for each stage: which of them comes first depends on what the next requests bring. */
static void put_stages(struct printer *p, wr_json_id part)
{
    wr_json_id list = wr_json_find(p->doc, part, "when");
    uint64_t cold_s = wr_json_find_u64(p->doc, 0, "cold_after_s");

    wr_buf_text(p->out, "  a step comes\n");
    if (wr_json_is(p->doc, list, WR_JSON_ARRAY))
        WR_JSON_EACH(i, p->doc, list) {
            weir_span words = wr_json_find_text(p->doc, p->arena, i, "words");
            weir_span stage = wr_json_find_text(p->doc, p->arena, i, "stage");
            uint64_t at = wr_json_find_u64(p->doc, i, "at_tokens");
            wr_buf_printf(p->out, "    by %.*s: %.*s", (int)stage.len, stage.ptr, (int)words.len,
                          words.ptr);
            if (at)
                wr_buf_printf(p->out, "%sat %s tokens", words.len ? ", or " : "", WR_GROUPED(at));
            wr_buf_byte(p->out, '\n');
        }
    if (cold_s)
        wr_buf_printf(p->out, "  the cache expires %s s after a request\n", WR_GROUPED(cold_s));
}

static void put_money_of(struct printer *p, wr_json_id part)
{
    if (wr_json_find(p->doc, part, "cost_micro_usd") == WR_JSON_NONE)
        return;
    wr_buf_printf(p->out, "  taken now it writes %s tokens into the cache again, for ",
                  WR_GROUPED(wr_json_find_u64(p->doc, part, "rewrites_tokens")));
    wr_cli_put_money(p->out, wr_json_find_i64(p->doc, part, "cost_micro_usd"));
    wr_buf_text(p->out, "; each request after it costs ");
    wr_cli_put_money(p->out, -wr_json_find_i64(p->doc, part, "a_request_micro_usd"));
    uint64_t requests = wr_json_find_u64(p->doc, part, "pays_back_requests");
    if (requests)
        wr_buf_printf(p->out, " less, which pays it back after %s request%s\n",
                      WR_GROUPED(requests), requests == 1 ? "" : "s");
    else
        wr_buf_text(p->out, " less, which pays it back at once\n");
}

static void put_next(struct printer *p)
{
    wr_json_id next = wr_json_find(p->doc, 0, "next");

    if (!wr_json_is(p->doc, next, WR_JSON_OBJECT))
        return;
    if (!wr_json_find_u64(p->doc, next, "pieces_count")) {
        wr_buf_text(p->out, "the next step would take nothing\n");
        put_stages(p, next);
        return;
    }
    wr_buf_printf(p->out, "the next step would take, %s → %s tokens:\n",
                  WR_GROUPED(wr_json_find_u64(p->doc, next, "tokens_before")),
                  WR_GROUPED(wr_json_find_u64(p->doc, next, "tokens_after")));
    put_pieces(p, next);
    put_money_of(p, next);
    put_stages(p, next);
}

static void put_out(struct printer *p)
{
    wr_json_id part = wr_json_find(p->doc, 0, "out");

    if (!wr_json_is(p->doc, part, WR_JSON_OBJECT) ||
        !wr_json_find_u64(p->doc, part, "pieces_count")) {
        wr_buf_text(p->out, "nothing is out\n");
        return;
    }
    wr_buf_printf(p->out, "out of the prompt, %s → %s tokens:\n",
                  WR_GROUPED(wr_json_find_u64(p->doc, part, "tokens_before")),
                  WR_GROUPED(wr_json_find_u64(p->doc, part, "tokens_after")));
    put_pieces(p, part);
}

static void put_undo(struct printer *p)
{
    wr_json_id undo = wr_json_find(p->doc, 0, "undo");

    if (!wr_json_is(p->doc, undo, WR_JSON_OBJECT))
        return;
    wr_buf_printf(p->out, "`weir undo` takes the last step back: %s → %s tokens",
                  WR_GROUPED(wr_json_find_u64(p->doc, undo, "tokens_before")),
                  WR_GROUPED(wr_json_find_u64(p->doc, undo, "tokens_after")));
    if (wr_json_find(p->doc, undo, "once_micro_usd") != WR_JSON_NONE) {
        wr_buf_text(p->out, ", for up to ");
        wr_cli_put_money(p->out, wr_json_find_i64(p->doc, undo, "once_micro_usd"));
    }
    wr_buf_byte(p->out, '\n');
}

static void put_head(struct printer *p)
{
    const struct wr_steering *s = p->steering;
    weir_span model = wr_json_find_text(p->doc, p->arena, 0, "model");
    weir_span policy = wr_json_find_text(p->doc, p->arena, 0, "policy");
    uint64_t heard = wr_steering_heard(s);

    wr_text_excerpt(p->out, s->session, 80);
    wr_buf_printf(p->out, ": %.*s under %.*s, as of its last request, ", (int)model.len, model.ptr,
                  (int)policy.len, policy.ptr);
    wr_cli_put_ago(p->out, wr_json_find_i64(p->doc, 0, "time_ms"));
    wr_buf_text(p->out, " ago\n");
    if (s->said.is_exact || s->is_all_exact)
        wr_buf_text(p->out, "messages go as they came, until `weir resume`\n");
    if (heard < s->said.count)
        wr_buf_printf(p->out, "%s order%s since then, for the next request to obey\n",
                      WR_GROUPED(s->said.count - heard), s->said.count - heard == 1 ? "" : "s");
    if (wr_steering_waits(s) == WR_WAIT_USER)
        wr_buf_text(p->out, "pending: what was said waits for the user's next message, because "
                            "signed thinking is bound to the prompt\n");
}

/* Prints the plan of a session; returns the exit status. */
static int print_plan(const struct wr_steering *steering, struct wr_arena *arena)
{
    struct wr_buf out;
    struct printer p = {steering, &steering->plan, arena, &out};

    if (!steering->has_plan)
        return wr_cli_fail("there is no plan of this session: it is made by `weir serve` after a "
                           "request that it has projected");
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    put_head(&p);
    put_out(&p);
    put_next(&p);
    put_undo(&p);
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}

/* ---- what is said of a session ---- */

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
                 enum cli_show show)
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
    } else if (show == SHOW_JSON) {
        wr_json_write_init(&w, &out);
        wr_steered_write(&d, &w);
        wr_buf_byte(&out, '\n');
    } else if (show == SHOW_PLAN && r->verb == WR_STEER_SHOW) {
        code = print_plan(&d.steering, &arena);
    } else if (code == WR_EXIT_OK) {
        put_deed(&out, r->verb, r->brings_back, &d);
    }
    wr_arena_release(&arena);
    if (out.len && show == SHOW_JSON)
        return wr_cli_end(&out, code);
    if (out.len)
        return wr_cli_end_fitted(&out, code);
    wr_buf_release(&out);
    return code;
}

/* Says it, or shows what there is (WR_STEER_SHOW), asking about the price where there is one.
 * Returns the exit status. */
static int steer_in_store(const char *dir, struct wr_steer_request *request, enum cli_show show)
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
    return steer_in_store(o->store, &r, o->as_json ? SHOW_JSON : SHOW_DEED);
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

/* ---- weir plan ---- */

#undef VALUES
struct plan_options {
    const char *store, *tenant;
    bool takes_now, is_confirmed, as_json;
};

#define VALUES struct plan_options

static const struct wr_option options[] = {
    {"now", WR_FLAG(takes_now), "take that step with the session's next request"},
    {"yes", WR_FLAG(is_confirmed), "with --now: do not ask whether it is worth the price"},
    {"json", WR_FLAG(as_json), "one JSON object (docs/steer.md)"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
};

static int run_plan(void *values, const struct wr_words *words)
{
    const struct plan_options *o = values;
    struct wr_steer_request r = {.verb = o->takes_now ? WR_STEER_NOW : WR_STEER_SHOW,
                                 .tenant = wr_span_of(o->tenant),
                                 .session = wr_span_of(words->items[0]),
                                 .is_confirmed = o->is_confirmed};

    return steer_in_store(o->store, &r, o->as_json ? SHOW_JSON : SHOW_PLAN);
}

const struct wr_command wr_cmd_plan = {
    .name = "plan",
    .purpose = "what a session's next step would take, and for how much",
    .usage = "[OPTIONS] SESSION",
    .about = "Lists what is out of the session's prompt and what the next step would take, each "
             "piece in words and tokens; when that step will come, and what it would cost to take "
             "it now. `weir pin` keeps a piece, by its number. All of it is as of the session's "
             "last request through `weir serve`. SESSION is a name as `weir sessions` prints it, "
             "how it begins, or the id that the client sent.",
    WR_OPTIONS(options),
    .defaults = &(const struct plan_options){.tenant = WR_CLI_TENANT},
    .words_min = 1,
    .words_max = 1,
    .list = wr_list_sessions,
    .wants = "name a session",
    .exits = "Exit 1: with --now, its price was not confirmed, and nothing was done.",
    .example = "weir plan 7f3a\nweir plan 7f3a --now",
    .run = run_plan,
};
