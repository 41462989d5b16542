/* weir_steer: the agent itself says what of its session stays whole, and what else people may say
 * of it (docs/steer.md). What has a price wants `confirm`, as it does everywhere. */
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "ledger/steer.h"
#include "mcp/tool.h"

static bool find_verb(struct wr_mcp_call *call, struct wr_steer_request *r)
{
    weir_span word;

    if (!wr_mcp_call_text(call, "do", &word))
        return false;
    r->verb = wr_span_is(word, "plan") ? WR_STEER_SHOW : WR_STEERS_COUNT;
    for (int i = WR_STEER_PIN; i <= WR_STEER_RESUME; i++)
        if (wr_span_is(word, wr_steer_name((enum wr_steer_verb)i)))
            r->verb = (enum wr_steer_verb)i;
    if (r->verb == WR_STEERS_COUNT)
        wr_mcp_call_fail(call, "`do` is one of plan, pin, unpin, undo, now, exact, pause, resume.");
    return r->verb != WR_STEERS_COUNT;
}

static bool read_arguments(struct wr_mcp_call *call, struct wr_steer_request *r)
{
    static const char *const names[] = {"do", "session", "path", "tool", "handle", "confirm"};
    weir_span confirm;

    if (!wr_mcp_call_knows(call, names, WR_COUNT_OF(names)) || !find_verb(call, r) ||
        !wr_mcp_call_text(call, "session", &r->session) ||
        !wr_mcp_call_text(call, "path", &r->path) || !wr_mcp_call_text(call, "tool", &r->tool))
        return false;
    wr_json_id flag = wr_mcp_call_argument(call, "confirm");
    r->is_confirmed = flag != WR_JSON_NONE && wr_json_is(call->doc, flag, WR_JSON_TRUE);
    if (!wr_mcp_call_text(call, "handle", &confirm))
        return false;
    weir_handle handle;
    if (!confirm.len)
        return true;
    if (wr_handle_word_read(confirm, &handle) != WR_HANDLE_WORD_ONE) {
        wr_mcp_call_fail(call,
                         "A handle is wr_ and 20 hex digits, as the line in brackets has it.");
        return false;
    }
    char *text = wr_arena_alloc(call->arena, WEIR_HANDLE_TEXT_BYTES + 1);
    if (text)
        weir_handle_format(handle, text);
    r->handle = wr_span_of(text ? text : "");
    return true;
}

/* ---- what is said back ---- */

static void put_pins(struct wr_buf *out, const struct wr_steering *s)
{
    wr_buf_text(out, s->pins.len ? "These stay whole:\n" : "Nothing is pinned.\n");
    wr_buf_append(out, s->pins);
}

static void put_result(struct wr_buf *out, const struct wr_steer_request *r,
                       const struct wr_steered *d)
{
    wr_buf_text(out, "session ");
    wr_text_one_line_max(out, d->steering.session, 80);
    wr_buf_printf(out, ": %s\n",
                  r->verb == WR_STEER_SHOW ? "as of its last request"
                  : d->is_said             ? "said; it holds from the next request on"
                                           : "nothing new was said");
    if (wr_steering_waits(&d->steering) == WR_WAIT_USER)
        wr_buf_text(out, "Pending: it waits for the user's next message, because signed thinking "
                         "is bound to the prompt.\n");
    if (d->price.is_known && r->verb != WR_STEER_PIN)
        wr_buf_printf(out, "%lld tokens are written into the prompt's cache again.%s\n",
                      (long long)d->price.rewrites_tokens,
                      d->is_said ? "" : " Call it again with confirm: true to do it.");
    put_pins(out, &d->steering);
    if (r->verb != WR_STEER_SHOW)
        return;
    if (d->steering.has_plan)
        wr_buf_append(out, d->steering.plan.text);
    else
        wr_buf_text(out, "No plan is known of it yet.");
    wr_buf_byte(out, '\n');
}

void wr_mcp_steer(struct wr_mcp_world *world, struct wr_mcp_call *call)
{
    struct wr_steer_request r = {.tenant = call->tenant, .now_ms = wr_clock_ms()};
    struct weir_store_options options = {.must_exist = true};
    weir_trouble trouble = WEIR_TROUBLE_MISSING;
    struct wr_ledger *ledger = NULL;
    struct weir_err err = {0};
    struct wr_steered d;

    if (!read_arguments(call, &r))
        return;
    if (r.verb != WR_STEER_SHOW) {
        call->act = wr_steer_name(r.verb);
        call->subject = r.session;
    }
    struct weir_store *store = wr_mcp_world_store(world, &trouble, &err);
    if (store && wr_ledger_open(world->store_dir, &options, &ledger, &trouble, &err))
        ledger = NULL;
    if (!store || !ledger) {
        wr_mcp_call_fail(call, "The store cannot be used: %s.",
                         err.text[0] ? err.text : weir_trouble_text(trouble));
        return;
    }
    weir_status status = wr_steer(ledger, store, &r, call->arena, &d, &err);
    if (status) {
        wr_mcp_call_fail(call, "That cannot be done: %s.",
                         err.text[0] ? err.text : weir_status_text(status));
    } else {
        put_result(call->out, &r, &d);
        call->subject = d.steering.session;
        call->has_acted = d.is_said;
    }
    wr_ledger_close(ledger);
}
