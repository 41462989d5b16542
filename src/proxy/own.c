/* own.c -- the proxy's own recall, on the thread that projects.
 *
 *   wr_own_offer    the session's pin is read, or made with its first request; exchanges that the
 *                   client's history lacks are found by their marks; the view is written and read
 *   wr_own_settle   a store that lost the session meanwhile gets what this thread knows of it
 *   wr_own_answer   calls of the model are answered from the store
 *   wr_own_extend   those and their results join the view, for the next leg
 *   wr_own_keep     the exchange becomes a mark, its text an original, in one commit
 *
 * The view is read a second time by the engine like any request. That costs a second reading, but
 * everything behind it (marks, forms, groups, budgets, validation) then works as it does for a
 * client that has the tool itself. To hand the engine insertions instead was rejected: each stage
 * would have had to know segments that are in no body.
 *
 * A mark that was not there when an older turn was looked up will not come later: it is committed
 * before the client has its answer, or lost for good. So a thread remembers what it found for a
 * session's answers, and asks the store for the newest alone. docs/own-recall.md draws the states.
 */
#include "proxy/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "engine/engine.h"
#include "engine/trail.h"
#include "mcp/tool.h"
#include "proxy/own_kept.h"

enum { RESULT_BYTES_MAX = WR_MCP_PAGE_BYTES_MAX + 4096 };

struct wr_own {
    struct wr_mcp_world world;
    struct wr_arena arena; /* of the call at hand */
    struct wr_own_memos *memos;
};

/* ---- life ---- */

struct wr_own *wr_own_new(const char *store_dir)
{
    struct wr_own *own = calloc(1, sizeof(*own));
    struct wr_own_memos *memos = wr_own_memos_new(WR_OWN_MEMO_BYTES_MAX);
    if (!own || !memos) {
        free(own);
        wr_own_memos_free(memos);
        return NULL;
    }
    own->memos = memos;
    wr_mcp_world_init(&own->world, store_dir);
    wr_arena_init(&own->arena, WR_ARENA_BYTES_MAX);
    return own;
}

void wr_own_free(struct wr_own *own)
{
    if (!own)
        return;
    wr_own_memos_free(own->memos);
    wr_mcp_world_release(&own->world);
    wr_arena_release(&own->arena);
    free(own);
}

void wr_own_release(struct wr_own_part *part)
{
    wr_buf_release(&part->view);
    *part = (struct wr_own_part){.is_offered = false};
}

/* ---- the pin ---- */

/* A request whose history the provider holds does not show its first turn. */
static struct weir_pin own_pin(const struct wr_own_input *in,
                               const struct wr_transcript *transcript, const struct wr_trail *trail)
{
    struct weir_pin pin = wr_own_pin_of(in, transcript->model);

    if (!transcript->is_delta && trail->turns_count)
        memcpy(pin.first_turn.bytes, &trail->turns[0], sizeof(trail->turns[0]));
    return pin;
}

/* ---- the definition ---- */

static wr_hash128 hash_pin(const struct weir_pin *pin)
{
    weir_span turn = {(const char *)pin->first_turn.bytes, sizeof(pin->first_turn.bytes)};
    return wr_hash128_seeded(turn, wr_hash128_of(pin->model));
}

/* A store that others share may have it at hand. That there is none it must have asked for: another
 * node may have begun the session. */
static weir_status read_kept(const struct wr_own_input *in, const struct weir_pin *pin,
                             struct weir_pin *kept)
{
    *kept = *pin;
    (void)!weir_store_begin(in->store, in->tenant, in->session, NULL);
    weir_status status = wr_own_read_pin(in, kept);
    (void)!weir_store_begin(in->store, in->tenant, (weir_span){"", 0}, NULL);
    if (status != WEIR_NOTFOUND)
        return status;
    *kept = *pin;
    return wr_own_read_pin(in, kept);
}

static bool is_wanted(const struct wr_own_input *in, const struct wr_own_look *look)
{
    return in->recall == WR_RECALL_OWN || (in->recall == WR_RECALL_AUTO && !look->has_recall);
}

/* Nobody knows of a definition. Where the model has answered already none will come. */
static void know_none(struct wr_own_memo *memo, const struct wr_own_input *in,
                      const struct wr_own_look *look, struct weir_pin pin, struct wr_own_part *part)
{
    memo->has_none = false;
    if (!look->has_model_turn)
        return;
    /* Another process may still have what was lost with a store: the first to go on decides. */
    if (is_wanted(in, look) && in->may_begin && in->is_answer && !wr_own_keep_none(in, pin)) {
        part->is_unkept = true;
        return;
    }
    memo->replaced_count = weir_store_replacements(in->store);
    wr_own_memo_define(memo, hash_pin(&pin), (weir_span){"", 0});
}

/* The definition that the session began with; empty: it has none. A failure is the store's. */
static weir_status find_definition(struct wr_own_memo *memo, const struct wr_own_input *in,
                                   const struct wr_own_look *look, struct weir_pin pin,
                                   struct wr_own_part *part, weir_span *definition)
{
    wr_hash128 hash = hash_pin(&pin);
    bool is_same = memo->pin.low == hash.low && memo->pin.high == hash.high;
    bool is_known = is_same && memo->definition.len;
    struct weir_pin kept;

    *definition = (weir_span){"", 0};
    if (!pin.model.ptr)
        return WEIR_NOMEM;
    if (is_same && memo->has_none && memo->replaced_count == weir_store_replacements(in->store))
        return WEIR_OK;
    weir_status status = read_kept(in, &pin, &kept);
    if (!status && kept.value.len) {
        *definition = wr_arena_copy(in->arena, kept.value);
        if (!is_known && definition->ptr)
            wr_own_memo_define(memo, hash, *definition);
        return definition->ptr ? WEIR_OK : WEIR_NOMEM;
    }
    if (!status) {
        memo->replaced_count = weir_store_replacements(in->store);
        wr_own_memo_define(memo, hash, *definition);
        return WEIR_OK;
    }
    if (is_known) {
        part->is_unkept = status == WEIR_NOTFOUND; /* until it is written again */
        *definition = memo->definition;
        return WEIR_OK;
    }
    if (status == WEIR_NOTFOUND)
        know_none(memo, in, look, pin, part);
    return status == WEIR_NOTFOUND ? WEIR_OK : status;
}

/* A session begins: our own definition, where it is to have one. */
static weir_span begin_session(const struct wr_own_input *in, const struct wr_api *api,
                               const struct wr_own_look *look, struct weir_pin pin)
{
    struct wr_buf text;

    if (!is_wanted(in, look) || !in->may_begin || look->has_model_turn || !look->may_call)
        return (weir_span){"", 0};
    wr_buf_init(&text, WR_STORE_PIN_BYTES_MAX);
    wr_own_definition(api, &text);
    weir_span definition =
        wr_buf_status(&text) ? (weir_span){NULL, 0} : wr_arena_copy(in->arena, wr_buf_view(&text));
    wr_buf_release(&text);
    if (!definition.ptr || (in->is_answer && !wr_own_keep_definition(in, pin, definition, false)))
        return (weir_span){"", 0};
    return definition;
}

/* ---- exchanges that the client's history lacks ---- */

static wr_hash128 chain_keys(const weir_hash *keys, uint32_t count)
{
    return wr_hash128_of((weir_span){(const char *)keys, (size_t)count * sizeof(*keys)});
}

/* Looks up the answers that the memo does not cover yet. A store that fails now may have them at
 * the next request: the memo then stays as it was. An exchange whose text is gone is out for good,
 * for all who serve the session, and counted. */
static weir_status look_up(struct wr_own_memo *memo, const struct wr_own_input *in,
                           const weir_hash *keys, uint32_t count, uint32_t *lost_count)
{
    uint32_t found_before = memo->found_count, first = memo->answers_count, hits_count = 0;
    const struct wr_own_hit *hits = NULL;
    weir_status status = WEIR_OK;

    if (first < count)
        status = wr_own_read_hits(in, keys + first, count - first, &hits, &hits_count);
    for (uint32_t i = 0; i < hits_count && !status; i++) {
        struct wr_own_found found = {.answer = first + hits[i].key, .is_left = hits[i].is_left};
        struct weir_lookup lookup = {.tenant = in->tenant, .handle = hits[i].handle};
        struct weir_artifact original;
        found.key = keys[found.answer];
        status = wr_own_read_original(in, &lookup, &original);
        if (!status) {
            found.exchange = original.text;
            status = wr_own_memo_add(memo, &found) ? WEIR_OK : WEIR_NOMEM;
        } else if (status == WEIR_NOTFOUND) {
            status = WEIR_OK;
            *lost_count += !found.is_left;
            if (!found.is_left)
                (void)wr_own_keep_left(in, found.key, lookup.handle);
        }
    }
    if (status) {
        wr_own_memo_shorten(memo, found_before);
        return status;
    }
    memo->answers_count = count;
    memo->keys = chain_keys(keys, count);
    return WEIR_OK;
}

/* The request that follows an exchange is the one in which leaving it out costs least: nothing that
 * comes after it was in the provider's cache yet. So it is decided then, by sum, and never again.
 */
static void decide_newest(const struct wr_own_input *in, const struct weir_request *request,
                          struct wr_own_found *found)
{
    weir_handle handle;

    if (found->is_left || !in->is_answer ||
        !wr_engine_leaves(in->engine, request, found->exchange.len) ||
        !wr_own_may_leave(request->transcript.dialect, found->exchange, in->arena) ||
        weir_handle_of(found->exchange, &handle))
        return;
    found->is_left = wr_own_keep_left(in, found->key, handle);
}

/* By which the exchanges of the client's answers are found, in the arena. */
static weir_hash *exchange_keys(const struct wr_own_input *in, const struct wr_own_answer *answers,
                                uint32_t count, const struct wr_trail *trail)
{
    weir_hash *keys = WR_ARENA_ARRAY(in->arena, weir_hash, count);

    for (uint32_t i = 0; i < count && keys; i++)
        keys[i] =
            wr_own_exchange_key(in->session,
                                answers[i].turn < trail->turns_count ? trail->turns[answers[i].turn]
                                                                     : (wr_hash128){0, 0},
                                answers[i].seen);
    return keys;
}

static bool is_rewound(const struct wr_own_memo *memo, const weir_hash *keys, uint32_t count)
{
    wr_hash128 known = chain_keys(keys, memo->answers_count < count ? memo->answers_count : count);
    return memo->answers_count > count || known.low != memo->keys.low ||
           known.high != memo->keys.high;
}

static uint32_t count_found(const struct wr_own_memo *memo, uint32_t answers_count)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < memo->found_count; i++)
        count += memo->found[i].answer < answers_count;
    return count;
}

/* What the session has, by the store. One that took the place of another has what the first who
 * went on knew: where that was not this thread, it forgets what it knew, and asks anew. */
static weir_status find_exchanges(struct wr_own_memo *memo, const struct wr_own_input *in,
                                  const weir_hash *keys, uint32_t count, struct wr_own_part *part)
{
    bool is_moved = memo->replaced_count != weir_store_replacements(in->store);

    if (is_rewound(memo, keys, count)) /* or another conversation of that name */
        wr_own_memo_forget_found(memo);
    uint32_t known = memo->answers_count, found = memo->found_count;
    if (is_moved && !part->is_unkept)
        wr_own_memo_forget_found(memo);
    weir_status status = look_up(memo, in, keys, count, &part->lost_count);
    if (!status && count_found(memo, known) < found)
        part->lost_count += found - count_found(memo, known);
    if (!status && !part->is_unkept)
        memo->replaced_count = weir_store_replacements(in->store);
    return status;
}

/* What is put back up to the last of `count` answers. */
static struct wr_own_extent extent_of(const struct wr_own_memo *memo, const weir_hash *keys,
                                      uint32_t count)
{
    struct wr_own_extent extent = {.answers = chain_keys(keys, count).low};

    for (uint32_t i = 0; i < memo->found_count; i++) {
        const struct wr_own_found *found = &memo->found[i];
        weir_span key = {(const char *)found->key.bytes, sizeof(found->key.bytes)};
        if (found->answer >= count)
            continue;
        extent.puts = wr_hash64_seeded(key, extent.puts + 2 * found->exchange.len + found->is_left);
        extent.puts_count += !found->is_left;
    }
    return extent;
}

/* Before there is an answer nothing can be put back. */
static void tell_added(const struct wr_own_memo *memo, const weir_hash *keys, uint32_t count,
                       struct wr_own_added *added)
{
    added->extents_count = count < WR_OWN_EXTENTS_MAX ? count : WR_OWN_EXTENTS_MAX;
    for (uint32_t i = 0; i < added->extents_count; i++)
        added->extents[i] = extent_of(memo, keys, count - i);
}

/* The exchanges of the client's answers, in the arena; they live as long as the memo. A failure is
 * the store's, or memory's: then nobody knows what the request lacks. */
static weir_status find_puts(struct wr_own_memo *memo, const struct wr_own_input *in,
                             const struct weir_request *request, const struct wr_trail *trail,
                             struct wr_own_part *part, struct wr_own_view *view)
{
    const struct wr_own_answer *answers;
    uint32_t count;
    weir_status status = wr_own_answers(&request->transcript, in->arena, &answers, &count);

    if (status)
        return status;
    weir_hash *keys = exchange_keys(in, answers, count, trail);
    struct wr_own_put *puts = WR_ARENA_ARRAY(in->arena, struct wr_own_put, count);
    if (!keys || !puts)
        return WEIR_NOMEM;
    status = find_exchanges(memo, in, keys, count, part);
    if (status)
        return status;
    view->puts = puts;
    for (uint32_t i = 0; i < memo->found_count; i++) {
        struct wr_own_found *found = &memo->found[i];
        if (found->answer == count - 1)
            decide_newest(in, request, found);
        puts[view->puts_count++] = (struct wr_own_put){.answer = &answers[found->answer],
                                                       .exchange = found->exchange,
                                                       .leaves = found->is_left};
    }
    tell_added(memo, keys, count, &part->added);
    return WEIR_OK;
}

/* What is remembered of the session and its store has lost is written into it again: the next
 * request may come to another process. False: somebody else was faster, and his word counts. */
static bool keep_again(struct wr_own_memo *memo, const struct wr_own_input *in, struct weir_pin pin,
                       struct wr_own_part *part)
{
    uint64_t replaced_count = weir_store_replacements(in->store);
    wr_hash128 hash = hash_pin(&pin);
    struct weir_pin kept;

    if (!memo->definition.len || memo->pin.low != hash.low || memo->pin.high != hash.high ||
        (!part->is_unkept && memo->replaced_count == replaced_count))
        return true;
    wr_own_follow(in);
    if (!read_kept(in, &pin, &kept))
        return false;
    part->is_unkept = !wr_own_keep_all(in, pin, memo);
    if (!part->is_unkept)
        memo->replaced_count = weir_store_replacements(in->store);
    return true;
}

void wr_own_settle(struct wr_own *own, const struct wr_own_input *input, weir_span model,
                   struct wr_own_part *part)
{
    if (!own || !input->store || !part->is_offered || !input->is_answer)
        return;
    struct weir_pin pin = wr_own_pin_of(input, model);
    pin.first_turn = part->first_turn;
    struct wr_own_memo *memo = wr_own_memo_of(own->memos, input->tenant, input->session);
    if (!keep_again(memo, input, pin, part)) {
        part->is_unkept = true; /* it leaves with what was known: the next one declares a step */
        wr_own_memo_forget_found(memo);
    }
}

/* ---- the view ---- */

weir_span wr_own_id(const struct wr_own_input *input, weir_span id)
{
    return wr_own_alias_find(input, id).id;
}

void wr_own_find_stored(const struct wr_own_input *input, weir_span id, struct wr_buf *last_id,
                        struct wr_buf *exchange)
{
    struct wr_own_alias alias = wr_own_alias_find(input, id);
    struct weir_lookup lookup = {.tenant = input->tenant};
    struct weir_artifact original;

    wr_buf_append(last_id, alias.id);
    if (weir_handle_parse(alias.handle, &lookup.handle) &&
        !wr_own_read_original(input, &lookup, &original))
        wr_buf_append(exchange, original.text);
}

/* A request goes on from an answer that the provider holds: with the id of its last leg, and with
 * the results of our calls in it, which the client does not know of. */
static void go_on_from(const struct wr_own_input *in, weir_span id, struct wr_own_view *view)
{
    struct wr_own_alias alias = wr_own_alias_find(in, id);
    struct weir_lookup lookup = {.tenant = in->tenant};
    struct wr_own_put *put = WR_ARENA_ARRAY(in->arena, struct wr_own_put, 1);
    struct weir_artifact original;

    view->previous_id = alias.id;
    if (!put || !weir_handle_parse(alias.handle, &lookup.handle) ||
        wr_own_read_original(in, &lookup, &original))
        return;
    *put = (struct wr_own_put){.exchange = wr_arena_copy(in->arena, original.text)};
    view->puts = put;
    view->puts_count = put->exchange.ptr != NULL;
}

static struct weir_request *read_view(const struct wr_own_input *in, weir_span view)
{
    struct weir_request_options options = {.path = in->path};
    struct weir_request *request;

    return weir_engine_request(in->engine, view, &options, &request, NULL) ? NULL : request;
}

/* Writes the view of `request` and reads it; NULL: nothing is offered. */
static struct weir_request *make_view(const struct wr_own_input *in,
                                      const struct weir_request *request,
                                      const struct wr_own_view *view, struct wr_own_part *part)
{
    struct weir_request *made = NULL;

    wr_buf_init(&part->view, WR_OUTPUT_BYTES_MAX);
    if (!wr_own_view_write(&request->transcript, in->arena, view, &part->view,
                           &part->misfit_count) &&
        !wr_buf_status(&part->view))
        made = read_view(in, wr_buf_view(&part->view));
    if (!made)
        wr_buf_release(&part->view);
    return made;
}

/* A request that goes on from an answer of ours does so whatever its tools are: at the provider the
 * answer that the client names ends with a call that nobody has answered. */
static weir_status fill_view(struct wr_own *own, const struct wr_own_input *in,
                             const struct wr_own_look *look, const struct weir_request *request,
                             const struct wr_trail *trail, struct wr_own_view *view,
                             struct wr_own_part *part)
{
    const struct wr_transcript *transcript = &request->transcript;
    const struct wr_api *api = wr_api_of(transcript->dialect);

    if (transcript->is_delta && api->id_before)
        go_on_from(in, api->id_before(transcript->doc), view);
    if (!look->has_tools || !look->may_join || look->is_name_taken)
        return WEIR_OK;
    struct weir_pin pin = own_pin(in, transcript, trail);
    struct wr_own_memo *memo = wr_own_memo_of(own->memos, in->tenant, in->session);
    wr_own_follow(in);
    if (!memo->definition.len && !memo->has_none)
        memo->replaced_count = weir_store_replacements(in->store);
    weir_status status = find_definition(memo, in, look, pin, part, &view->definition);
    if (!status && !view->definition.len) {
        view->definition = begin_session(in, api, look, pin);
        part->has_begun = in->is_answer && view->definition.len;
        if (part->has_begun)
            wr_own_memo_define(memo, hash_pin(&pin), view->definition);
    }
    part->added =
        (struct wr_own_added){.is_known = !transcript->is_delta && in->is_answer,
                              .definition = view->definition.len ? wr_hash64(view->definition) : 0};
    if (status || !view->definition.len || transcript->is_delta)
        return status;
    status = find_puts(memo, in, request, trail, part, view);
    if (!status && in->is_answer && !keep_again(memo, in, pin, part)) {
        part->is_unkept = false;
        view->puts_count = 0;
        status = find_puts(memo, in, request, trail, part, view);
    }
    return status;
}

/* The view takes the place of `*request`. False: it could not be made. */
static bool show_view(const struct wr_own_input *input, const struct wr_own_view *view,
                      struct weir_request **request, struct wr_own_part *part)
{
    struct weir_request *made = make_view(input, *request, view, part);

    if (!made)
        return false;
    part->is_viewed = true;
    part->is_offered = view->definition.len > 0;
    for (size_t i = 0; i < view->puts_count; i++)
        part->left_count += view->puts[i].leaves;
    part->put_count = (uint32_t)view->puts_count - part->misfit_count - part->left_count;
    weir_request_free(*request);
    *request = made;
    return true;
}

bool wr_own_offer(struct wr_own *own, const struct wr_own_input *input,
                  struct weir_request **request, struct wr_own_part *part)
{
    const struct wr_transcript *transcript = &(*request)->transcript;
    struct wr_own_look look = wr_own_look_at(transcript, input->arena);
    struct wr_own_view view = {.definition = {"", 0}};
    bool is_delta = transcript->is_delta;
    struct wr_trail trail;

    *part = (struct wr_own_part){.is_stream = look.is_stream};
    if (!own || !input->store)
        return true;
    bool ok = !wr_trail_read(&trail, input->arena, transcript);
    if (ok && trail.turns_count) {
        part->before = trail.turns[trail.turns_count - 1];
        memcpy(part->first_turn.bytes, &trail.turns[0], sizeof(trail.turns[0]));
    }
    ok = ok && !fill_view(own, input, &look, *request, &trail, &view, part);
    if (ok && (view.definition.len || view.previous_id.len))
        ok = show_view(input, &view, request, part);
    return ok || is_delta;
}

/* A definition that says nothing is none, and no other takes its place. */
void wr_own_forget(const struct wr_own_input *input, weir_span model,
                   const struct wr_own_part *part)
{
    struct weir_pin pin = wr_own_pin_of(input, model);

    pin.first_turn = part->first_turn;
    if (input->store && pin.model.ptr)
        (void)wr_own_keep_definition(input, pin, (weir_span){"", 0}, true);
}

bool wr_own_chain(const struct wr_own_input *input, const struct weir_request *request,
                  struct wr_buf *out)
{
    const struct wr_transcript *transcript = &request->transcript;
    const struct wr_api *api = wr_api_of(transcript->dialect);
    struct wr_own_view view = {.definition = {"", 0}};
    uint32_t misfits;

    if (!input->store || !transcript->is_delta || !api->id_before)
        return false;
    go_on_from(input, api->id_before(transcript->doc), &view);
    return view.previous_id.len &&
           !wr_own_view_write(transcript, input->arena, &view, out, &misfits) &&
           !wr_buf_status(out);
}

/* ---- legs ---- */

/* A model that recalls more often than allowed gets a result that says so, and continues with
 * what it has. */
static void recall_text(struct wr_own *own, const struct wr_own_call *asked, bool is_allowed,
                        struct wr_mcp_call *call)
{
    weir_span arguments = asked->arguments.len ? asked->arguments : WR_LIT("{}");
    struct wr_json doc;

    call->doc = &doc;
    if (!is_allowed)
        wr_mcp_call_fail(call,
                         "That is more than %d recalls for one answer. Go on with what there "
                         "is, and ask for the rest in a later one.",
                         WR_OWN_RECALLS_MAX);
    else if (wr_json_parse(&doc, call->arena, arguments, NULL, NULL) ||
             !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        wr_mcp_call_fail(call, "The arguments are no JSON object. Call it again.");
    else
        wr_mcp_recall(&own->world, call);
    call->doc = NULL;
}

struct wr_own_recalls wr_own_answer(struct wr_own *own, weir_span tenant, struct wr_join *join,
                                    struct wr_own_part *part)
{
    const struct wr_own_call *calls;
    size_t count = wr_join_calls(join, &calls);
    struct wr_own_recalls recalls = {.calls_count = count};

    for (size_t i = 0; i < count; i++) {
        struct wr_buf out;
        struct wr_mcp_call call = {.arena = &own->arena, .tenant = tenant, .out = &out};
        wr_arena_reset(&own->arena);
        wr_buf_init(&out, RESULT_BYTES_MAX);
        recall_text(own, &calls[i], part->recalls_count++ < WR_OWN_RECALLS_MAX, &call);
        recalls.missed_count += call.is_error;
        recalls.text_bytes += call.is_error ? 0 : out.len;
        wr_join_set_result(join, i, wr_buf_view(&out), call.is_error);
        wr_buf_release(&out);
    }
    return recalls;
}

bool wr_own_extend(const struct wr_own_input *input, struct wr_join *join, struct wr_own_part *part)
{
    struct weir_request *request = read_view(input, wr_buf_view(&part->view));
    struct wr_own_view view = {.elements = wr_join_elements(join)};
    struct wr_buf next;
    uint32_t misfits;

    if (!request)
        return false;
    wr_buf_init(&next, WR_OUTPUT_BYTES_MAX);
    bool ok = view.elements.ptr &&
              !wr_own_view_write(&request->transcript, input->arena, &view, &next, &misfits) &&
              !wr_buf_status(&next);
    weir_request_free(request);
    if (!ok) {
        wr_buf_release(&next);
        return false;
    }
    wr_buf_release(&part->view);
    part->view = next;
    return true;
}

bool wr_own_keep(const struct wr_own_input *input, struct wr_join *join,
                 const struct wr_own_part *part)
{
    struct wr_buf exchange;
    wr_hash128 seen;

    wr_buf_init(&exchange, WR_OUTPUT_BYTES_MAX);
    bool ok = input->store && wr_join_exchange(join, &exchange, &seen) &&
              wr_own_keep_exchange(input, join, wr_buf_view(&exchange),
                                   wr_own_exchange_key(input->session, part->before, seen));
    wr_buf_release(&exchange);
    return ok;
}
