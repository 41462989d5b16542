/* `weir plan`: what is out of a session's prompt, what the next step would take of it, when that
 * will come and what it would cost; with --now it comes with the next request.
 *
 * The stages have said all of it themselves, when the session's last request left
 * (engine/steer.h): here it is only printed. */
#include "cli/open.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/cmd_steer.h"

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
static void put_when(struct printer *p, wr_json_id part)
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
        put_when(p, next);
        return;
    }
    wr_buf_printf(p->out, "the next step would take, %s → %s tokens:\n",
                  WR_GROUPED(wr_json_find_u64(p->doc, next, "tokens_before")),
                  WR_GROUPED(wr_json_find_u64(p->doc, next, "tokens_after")));
    put_pieces(p, next);
    put_money_of(p, next);
    put_when(p, next);
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

int wr_cli_print_plan(const struct wr_steering *steering, struct wr_arena *arena)
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

static int run_plan(void *values, const struct wr_words *words)
{
    const struct plan_options *o = values;
    struct wr_steer_request r = {.verb = o->takes_now ? WR_STEER_NOW : WR_STEER_SHOW,
                                 .tenant = wr_span_of(o->tenant),
                                 .session = wr_span_of(words->items[0]),
                                 .is_confirmed = o->is_confirmed};

    return wr_cli_steer(o->store, &r, o->as_json ? WR_SHOW_JSON : WR_SHOW_PLAN);
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
