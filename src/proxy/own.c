/* own.c -- the proxy's own recall, on the thread that projects.
 *
 *   wr_own_offer    the session's pin is read, or made with its first request; exchanges that the
 *                   client's history lacks are found by their marks; the view is written and read
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
 * before the client has its answer. So a thread remembers what it found for a session's answers,
 * and asks the store for the newest alone.
 */
#include "proxy/own.h"

#include <stdlib.h>

#include "base/span.h"
#include "base/vec.h"
#include "engine/request.h"
#include "engine/trail.h"
#include "mcp/tool.h"

#define PIN_NAME "weir own recall " /* no model is called so */
#define LEFT     " left"            /* in the value of a mark: the exchange is out for good */

enum { MEMO_SESSIONS = 512, FOUND_CAP_FIRST = 8, RESULT_BYTES_MAX = WR_MCP_PAGE_BYTES_MAX + 4096 };

/* An exchange that was found. */
struct found {
    uint32_t answer; /* its number among the client's answers */
    bool is_left;    /* out, for good */
    weir_span exchange;
};

/* What is known of a session and its first answers. */
struct memo {
    wr_hash128 session;   /* with its tenant */
    wr_hash128 pin;       /* of the model and the first turn that these are of: */
    bool has_none;        /* it is known to have no definition */
    weir_span definition; /* on the heap: a store that was lost is told again */
    wr_hash128 keys;      /* of those answers, chained */
    uint32_t answers_count;
    uint64_t used;
    struct found *found; /* texts are on the heap */
    uint32_t found_count, found_cap;
};

struct wr_own {
    struct wr_mcp_world world;
    struct wr_arena arena; /* of the call at hand */
    struct memo memos[MEMO_SESSIONS];
    uint64_t uses;
};

/* ---- life ---- */

struct wr_own *wr_own_new(const char *store_dir)
{
    struct wr_own *own = calloc(1, sizeof(*own));
    if (!own)
        return NULL;
    wr_mcp_world_init(&own->world, store_dir);
    wr_arena_init(&own->arena, WR_ARENA_BYTES_MAX);
    return own;
}

static void forget_found(struct memo *memo)
{
    for (uint32_t i = 0; i < memo->found_count; i++)
        free((char *)memo->found[i].exchange.ptr);
    free(memo->found);
    memo->found = NULL;
    memo->found_count = memo->found_cap = memo->answers_count = 0;
    memo->keys = wr_hash128_of((weir_span){"", 0});
}

static void free_memo(struct memo *memo)
{
    forget_found(memo);
    free((char *)memo->definition.ptr);
    *memo = (struct memo){.found = NULL};
}

void wr_own_free(struct wr_own *own)
{
    if (!own)
        return;
    for (size_t i = 0; i < MEMO_SESSIONS; i++)
        free_memo(&own->memos[i]);
    wr_mcp_world_release(&own->world);
    wr_arena_release(&own->arena);
    free(own);
}

void wr_own_release(struct wr_own_part *part)
{
    wr_buf_release(&part->view);
    *part = (struct wr_own_part){.is_offered = false};
}

/* ---- what is remembered ---- */

static struct memo *find_memo(struct wr_own *own, const struct wr_own_input *in)
{
    wr_hash128 session = wr_hash128_seeded(in->session, wr_hash128_of(in->tenant));
    struct memo *oldest = &own->memos[0];

    for (size_t i = 0; i < MEMO_SESSIONS; i++) {
        struct memo *memo = &own->memos[i];
        if (memo->used && memo->session.low == session.low && memo->session.high == session.high) {
            memo->used = ++own->uses;
            return memo;
        }
        if (memo->used < oldest->used)
            oldest = memo;
    }
    free_memo(oldest);
    forget_found(oldest);
    oldest->session = session;
    oldest->used = ++own->uses;
    return oldest;
}

/* ---- the pin ---- */

static struct weir_pin pin_of_model(const struct wr_own_input *in, weir_span model)
{
    char name[WR_STORE_NAME_BYTES_MAX + 1];
    struct weir_pin pin = {.value = {"", 0}};
    int bytes =
        snprintf(name, sizeof(name), PIN_NAME "%.*s",
                 (int)(model.len < WR_MODEL_NAME_BYTES_MAX ? model.len : WR_MODEL_NAME_BYTES_MAX),
                 model.len ? model.ptr : "");
    pin.model = wr_arena_copy(in->arena, (weir_span){name, (size_t)bytes});
    return pin;
}

/* A request whose history the provider holds does not show its first turn. */
static struct weir_pin own_pin(const struct wr_own_input *in,
                               const struct wr_transcript *transcript, const struct wr_trail *trail)
{
    struct weir_pin pin = pin_of_model(in, transcript->model);

    if (!transcript->is_delta && trail->turns_count)
        memcpy(pin.first_turn.bytes, &trail->turns[0], sizeof(trail->turns[0]));
    return pin;
}

/* A second pin without the first turn is for requests that do not show it. */
static bool keep_definition(const struct wr_own_input *in, struct weir_pin pin,
                            weir_span definition, bool replaces)
{
    struct weir_pin pins[2];
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .pins = pins,
                               .pins_count = 2};
    pin.value = definition;
    pin.replaces = replaces;
    pins[0] = pins[1] = pin;
    pins[1].first_turn = (weir_hash){{0}};
    pins[1].replaces = true;
    return !weir_store_commit(in->store, &batch, NULL);
}

static wr_hash128 hash_pin(const struct weir_pin *pin)
{
    weir_span turn = {(const char *)pin->first_turn.bytes, sizeof(pin->first_turn.bytes)};
    return wr_hash128_seeded(turn, wr_hash128_of(pin->model));
}

static void remember_definition(struct memo *memo, wr_hash128 pin, weir_span definition)
{
    char *copy = malloc(definition.len);

    if (!copy)
        return;
    memcpy(copy, definition.ptr, definition.len);
    free((char *)memo->definition.ptr);
    memo->definition = (weir_span){copy, definition.len};
    memo->has_none = false;
    memo->pin = pin;
}

/* The definition that the session began with; empty: it has none. Where the model has answered
 * already none will come, and nobody needs to ask again. */
static weir_span find_definition(struct memo *memo, const struct wr_own_input *in,
                                 struct weir_pin pin, bool has_model_turn)
{
    wr_hash128 hash = hash_pin(&pin);
    bool is_same = memo->pin.low == hash.low && memo->pin.high == hash.high;
    bool is_known = is_same && memo->definition.len;
    struct weir_pin kept = pin;

    if (!pin.model.ptr || (is_same && memo->has_none))
        return (weir_span){"", 0};
    weir_status status = weir_store_pin(in->store, in->tenant, in->session, &kept, NULL);
    if (!status) {
        weir_span definition = wr_arena_copy(in->arena, kept.value);
        if (!is_known && definition.len)
            remember_definition(memo, hash, definition);
        return definition.ptr ? definition : (weir_span){"", 0};
    }
    if (!is_known) {
        memo->has_none = status == WEIR_NOTFOUND && has_model_turn;
        if (memo->has_none) {
            free((char *)memo->definition.ptr); /* it was another conversation's */
            memo->definition = (weir_span){NULL, 0};
            memo->pin = hash;
        }
        return (weir_span){"", 0};
    }
    if (status == WEIR_NOTFOUND)
        (void)keep_definition(in, pin, memo->definition, false);
    return memo->definition;
}

/* A session begins: our own definition, where it is to have one. */
static weir_span begin_session(const struct wr_own_input *in, const struct wr_api *api,
                               const struct wr_own_look *look, struct weir_pin pin)
{
    bool is_wanted =
        in->recall == WR_RECALL_OWN || (in->recall == WR_RECALL_AUTO && !look->has_recall);
    struct wr_buf text;

    if (!is_wanted || !in->may_begin || look->has_model_turn || !look->may_call)
        return (weir_span){"", 0};
    wr_buf_init(&text, WR_STORE_PIN_BYTES_MAX);
    wr_own_definition(api, &text);
    weir_span definition =
        wr_buf_status(&text) ? (weir_span){NULL, 0} : wr_arena_copy(in->arena, wr_buf_view(&text));
    wr_buf_release(&text);
    if (!definition.ptr || (in->is_answer && !keep_definition(in, pin, definition, false)))
        return (weir_span){"", 0};
    return definition;
}

/* ---- exchanges that the client's history lacks ---- */

/* By session too: what the model of one has recalled is nothing to another that has said the same.
 */
static weir_hash exchange_key(weir_span session, wr_hash128 before, wr_hash128 seen)
{
    weir_hash key = {{0}};

    seen = wr_hash128_seeded(session, seen);
    memcpy(key.bytes, &before, sizeof(before));
    memcpy(key.bytes + sizeof(before), &seen, sizeof(seen));
    return key;
}

static wr_hash128 chain_keys(const weir_hash *keys, uint32_t count)
{
    return wr_hash128_of((weir_span){(const char *)keys, (size_t)count * sizeof(*keys)});
}

struct search {
    const struct wr_own_input *in;
    struct memo *memo;
    uint32_t first; /* number of the answer that the first key is of */
    struct {
        uint32_t answer;
        bool is_left;
        weir_handle handle;
    } * hits;
    uint32_t hits_count, hits_cap;
};

static weir_status on_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct search *s = user;
    bool is_left = wr_span_ends(mark->value, WR_LIT(LEFT));
    weir_span name =
        wr_span_cut(mark->value, 0, mark->value.len - (is_left ? sizeof(LEFT) - 1 : 0));
    weir_handle handle;

    if (mark->kind != WEIR_MARK_OWN || !weir_handle_parse(name, &handle))
        return WEIR_OK;
    if (!WR_ARENA_ROOM(s->in->arena, s->hits, s->hits_count, s->hits_cap, FOUND_CAP_FIRST))
        return wr_arena_status(s->in->arena);
    s->hits[s->hits_count].answer = s->first + (uint32_t)key_index;
    s->hits[s->hits_count].is_left = is_left;
    s->hits[s->hits_count++].handle = handle;
    return WEIR_OK;
}

static bool add_found(struct memo *memo, uint32_t answer, bool is_left, weir_span exchange)
{
    char *copy = malloc(exchange.len ? exchange.len : 1);

    if (!copy || !WR_HEAP_ROOM(memo->found, memo->found_count, memo->found_cap, FOUND_CAP_FIRST)) {
        free(copy);
        return false;
    }
    memcpy(copy, exchange.ptr, exchange.len);
    memo->found[memo->found_count++] =
        (struct found){.answer = answer, .is_left = is_left, .exchange = {copy, exchange.len}};
    return true;
}

/* Looks up the answers that the memo does not cover yet. A failure leaves the memo as far as it
 * came: what was not found now is looked for by the next request. */
static void look_up(struct search *s, const weir_hash *keys, uint32_t count)
{
    struct memo *memo = s->memo;

    s->first = memo->answers_count;
    if (s->first == count || weir_store_marks(s->in->store, s->in->tenant, keys + s->first,
                                              count - s->first, on_mark, s, NULL))
        return;
    for (uint32_t i = 0; i < s->hits_count; i++) {
        struct weir_lookup lookup = {.tenant = s->in->tenant, .handle = s->hits[i].handle};
        struct weir_artifact original;
        if (weir_store_get(s->in->store, &lookup, &original, NULL, NULL))
            continue; /* gone for good: as if it had never been */
        if (!add_found(memo, s->hits[i].answer, s->hits[i].is_left, original.text))
            return;
    }
    memo->answers_count = count;
    memo->keys = chain_keys(keys, count);
}

/* The request that follows an exchange is the one in which leaving it out costs least: nothing that
 * comes after it was in the provider's cache yet. So it is decided then, by sum, and never again.
 */
static void decide_newest(const struct wr_own_input *in, const struct weir_request *request,
                          struct found *found, weir_hash key)
{
    char value[WEIR_HANDLE_TEXT_BYTES + sizeof(LEFT)];
    weir_handle handle;

    if (found->is_left || !in->is_answer ||
        !wr_engine_leaves(in->engine, request, found->exchange.len) ||
        !wr_own_may_leave(request->transcript.dialect, found->exchange, in->arena) ||
        weir_handle_of(found->exchange, &handle))
        return;
    weir_handle_format(handle, value);
    (void)snprintf(value + WEIR_HANDLE_TEXT_BYTES, sizeof(LEFT), LEFT);
    struct weir_mark mark = {
        .key = key, .kind = WEIR_MARK_OWN, .value = wr_span_of(value), .replaces = true};
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .marks = &mark,
                               .marks_count = 1};
    found->is_left = !weir_store_commit(in->store, &batch, NULL);
}

/* The exchanges of the client's answers, in the arena; they live as long as the memo. */
static const struct wr_own_put *find_puts(struct memo *memo, const struct wr_own_input *in,
                                          const struct weir_request *request,
                                          const struct wr_trail *trail, size_t *puts_count)
{
    const struct wr_transcript *transcript = &request->transcript;
    const struct wr_own_answer *answers;
    uint32_t count;

    *puts_count = 0;
    if (transcript->is_delta || wr_own_answers(transcript, in->arena, &answers, &count) || !count)
        return NULL;
    weir_hash *keys = WR_ARENA_ARRAY(in->arena, weir_hash, count);
    struct wr_own_put *puts = WR_ARENA_ARRAY(in->arena, struct wr_own_put, count);
    if (!keys || !puts)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = exchange_key(in->session,
                               answers[i].turn < trail->turns_count ? trail->turns[answers[i].turn]
                                                                    : (wr_hash128){0, 0},
                               answers[i].seen);
    wr_hash128 known = chain_keys(keys, memo->answers_count < count ? memo->answers_count : count);
    if (memo->answers_count > count || known.low != memo->keys.low || known.high != memo->keys.high)
        forget_found(memo); /* it was rewound, or is another conversation of that name */
    struct search search = {.in = in, .memo = memo};
    look_up(&search, keys, count);
    for (uint32_t i = 0; i < memo->found_count; i++) {
        struct found *found = &memo->found[i];
        if (found->answer == count - 1)
            decide_newest(in, request, found, keys[found->answer]);
        puts[(*puts_count)++] = (struct wr_own_put){.answer = &answers[found->answer],
                                                    .exchange = found->exchange,
                                                    .leaves = found->is_left};
    }
    return puts;
}

/* ---- the view ---- */

static weir_hash alias_key(weir_span id)
{
    wr_hash128 hash = wr_hash128_of(id);
    return exchange_key(WR_LIT("own recall answer"), hash, hash);
}

/* What is kept of an answer under the id that the client knows: the last leg's id, and the handle
 * of the exchange. */
struct alias {
    struct wr_arena *arena;
    weir_span id, handle; /* empty: there is none */
};

static weir_status on_alias(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct alias *alias = user;
    weir_span value = wr_arena_copy(alias->arena, mark->value);
    size_t space = value.ptr ? wr_span_find(value, WR_LIT(" "), 0) : SIZE_MAX;

    (void)key_index;
    if (mark->kind == WEIR_MARK_OWN && space != SIZE_MAX) {
        alias->handle = wr_span_cut(value, 0, space);
        alias->id = wr_span_cut(value, space + 1, value.len);
    }
    return WEIR_OK;
}

static struct alias find_alias(const struct wr_own_input *in, weir_span id)
{
    struct alias alias = {.arena = in->arena, .id = {"", 0}, .handle = {"", 0}};
    weir_hash key = alias_key(id);

    if (in->store && id.len)
        (void)!weir_store_marks(in->store, in->tenant, &key, 1, on_alias, &alias, NULL);
    return alias;
}

weir_span wr_own_id(const struct wr_own_input *input, weir_span id)
{
    return find_alias(input, id).id;
}

void wr_own_find_stored(const struct wr_own_input *input, weir_span id, struct wr_buf *last_id,
                        struct wr_buf *exchange)
{
    struct alias alias = find_alias(input, id);
    struct weir_lookup lookup = {.tenant = input->tenant};
    struct weir_artifact original;

    wr_buf_append(last_id, alias.id);
    if (weir_handle_parse(alias.handle, &lookup.handle) &&
        !weir_store_get(input->store, &lookup, &original, NULL, NULL))
        wr_buf_append(exchange, original.text);
}

/* A request goes on from an answer that the provider holds: with the id of its last leg, and with
 * the results of our calls in it, which the client does not know of. */
static void go_on_from(const struct wr_own_input *in, weir_span id, struct wr_own_view *view)
{
    struct alias alias = find_alias(in, id);
    struct weir_lookup lookup = {.tenant = in->tenant};
    struct wr_own_put *put = WR_ARENA_ARRAY(in->arena, struct wr_own_put, 1);
    struct weir_artifact original;

    view->previous_id = alias.id;
    if (!put || !weir_handle_parse(alias.handle, &lookup.handle) ||
        weir_store_get(in->store, &lookup, &original, NULL, NULL))
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
        wr_own_release(part);
    return made;
}

/* A request that goes on from an answer of ours does so whatever its tools are: at the provider the
 * answer that the client names ends with a call that nobody has answered. */
static void fill_view(struct wr_own *own, const struct wr_own_input *in,
                      const struct wr_own_look *look, const struct weir_request *request,
                      const struct wr_trail *trail, struct wr_own_view *view,
                      struct wr_own_part *part)
{
    const struct wr_transcript *transcript = &request->transcript;
    const struct wr_api *api = wr_api_of(transcript->dialect);

    if (transcript->is_delta && api->id_before)
        go_on_from(in, api->id_before(transcript->doc), view);
    if (!look->has_tools || !look->may_join || look->is_name_taken)
        return;
    struct weir_pin pin = own_pin(in, transcript, trail);
    struct memo *memo = find_memo(own, in);
    view->definition = find_definition(memo, in, pin, look->has_model_turn);
    if (!view->definition.len) {
        view->definition = begin_session(in, api, look, pin);
        part->has_begun = in->is_answer && view->definition.len;
        part->first_turn = pin.first_turn;
    }
    if (view->definition.len && !transcript->is_delta)
        view->puts = find_puts(memo, in, request, trail, &view->puts_count);
}

void wr_own_offer(struct wr_own *own, const struct wr_own_input *input,
                  struct weir_request **request, struct wr_own_part *part)
{
    const struct wr_transcript *transcript = &(*request)->transcript;
    struct wr_own_look look = wr_own_look_at(transcript, input->arena);
    struct wr_own_view view = {.definition = {"", 0}};
    struct wr_trail trail;

    *part = (struct wr_own_part){.is_stream = look.is_stream};
    if (!own || !input->store || wr_trail_read(&trail, input->arena, transcript))
        return;
    fill_view(own, input, &look, *request, &trail, &view, part);
    if (!view.definition.len && !view.previous_id.len)
        return;
    if (trail.turns_count)
        part->before = trail.turns[trail.turns_count - 1];
    struct weir_request *made = make_view(input, *request, &view, part);
    if (!made)
        return;
    part->is_viewed = true;
    part->is_offered = view.definition.len > 0;
    for (size_t i = 0; i < view.puts_count; i++)
        part->left_count += view.puts[i].leaves;
    part->put_count = (uint32_t)view.puts_count - part->misfit_count - part->left_count;
    weir_request_free(*request);
    *request = made;
}

/* A definition that says nothing is none, and no other takes its place. */
void wr_own_forget(const struct wr_own_input *input, weir_span model,
                   const struct wr_own_part *part)
{
    struct weir_pin pin = pin_of_model(input, model);

    pin.first_turn = part->first_turn;
    if (input->store && pin.model.ptr)
        (void)keep_definition(input, pin, (weir_span){"", 0}, true);
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

/* A model that asks for more than it may is told so, and goes on with what it has. */
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

/* The exchange as a mark, and under the id that the client knows the answer by. */
static bool keep_exchange(const struct wr_own_input *in, struct wr_join *join, weir_span exchange,
                          weir_hash key)
{
    char value[WEIR_HANDLE_TEXT_BYTES + 1 + WR_OWN_ID_BYTES_MAX + 1];
    weir_span id_seen = wr_join_id_seen(join), id_last = wr_join_id_last(join);
    struct weir_artifact original = {.text = exchange};
    weir_handle handle;

    if (weir_handle_of(exchange, &handle))
        return false;
    weir_handle_format(handle, value);
    bool has_id = id_seen.len && id_last.len <= WR_OWN_ID_BYTES_MAX;
    int bytes = snprintf(value + WEIR_HANDLE_TEXT_BYTES, sizeof(value) - WEIR_HANDLE_TEXT_BYTES,
                         " %.*s", has_id ? (int)id_last.len : 0, has_id ? id_last.ptr : "");
    struct weir_mark marks[2] = {
        {.key = key,
         .kind = WEIR_MARK_OWN,
         .value = {value, WEIR_HANDLE_TEXT_BYTES},
         .replaces = true},
        {.key = alias_key(id_seen),
         .kind = WEIR_MARK_OWN,
         .value = {value, WEIR_HANDLE_TEXT_BYTES + (size_t)bytes},
         .replaces = true},
    };
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .artifacts = &original,
                               .artifacts_count = 1,
                               .marks = marks,
                               .marks_count = has_id ? 2 : 1};
    return !weir_store_commit(in->store, &batch, NULL);
}

bool wr_own_keep(const struct wr_own_input *input, struct wr_join *join,
                 const struct wr_own_part *part)
{
    struct wr_buf exchange;
    wr_hash128 seen;

    wr_buf_init(&exchange, WR_OUTPUT_BYTES_MAX);
    bool ok = input->store && wr_join_exchange(join, &exchange, &seen) &&
              keep_exchange(input, join, wr_buf_view(&exchange),
                            exchange_key(input->session, part->before, seen));
    wr_buf_release(&exchange);
    return ok;
}
