#include "ledger/find.h"

#include "base/err.h"
#include "base/span.h"

struct search {
    weir_span word;
    struct wr_arena *arena;
    struct wr_ledger_session *found;
    size_t count;
    bool is_whole; /* `found` has just that name */
};

static weir_span behind_colon(weir_span name)
{
    size_t at = wr_span_find(name, WR_LIT(":"), 0);
    return at == SIZE_MAX ? name : wr_span_cut(name, at + 1, name.len);
}

static weir_status keep(struct search *s, const struct wr_ledger_session *session)
{
    *s->found = *session;
    s->found->tenant = wr_arena_copy(s->arena, session->tenant);
    s->found->session = wr_arena_copy(s->arena, session->session);
    s->found->agent = wr_arena_copy(s->arena, session->agent);
    s->found->model = wr_arena_copy(s->arena, session->model);
    return wr_arena_status(s->arena);
}

/* They come newest first: of several with one whole name, of several tenants, the newest stays. */
static weir_status on_session(void *user, const struct wr_ledger_session *session)
{
    struct search *s = user;
    bool is_whole = wr_span_eq(session->session, s->word);

    if (!s->word.len)
        return s->count++ ? WEIR_OK : keep(s, session);
    if (!wr_span_starts(session->session, s->word) &&
        !wr_span_starts(behind_colon(session->session), s->word))
        return WEIR_OK;
    s->count++;
    if (s->is_whole || (s->count > 1 && !is_whole))
        return WEIR_OK;
    s->is_whole = is_whole;
    return keep(s, session);
}

weir_status wr_session_find(struct wr_ledger *ledger, weir_span tenant, weir_span word,
                            struct wr_arena *arena, struct wr_ledger_session *found,
                            struct weir_err *err)
{
    struct search search = {.word = word, .arena = arena, .found = found};
    struct wr_ledger_filter filter = {.tenant = tenant};
    weir_status status = wr_ledger_sessions(ledger, &filter, on_session, &search, err);

    if (status)
        return status;
    if (!search.count)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       word.len ? "no session is called so" : "no request has been kept yet");
    if (search.count > 1 && word.len && !search.is_whole)
        return wr_fail(err, WEIR_INVALID, 0, "%zu sessions begin so; give more of the name",
                       search.count);
    return WEIR_OK;
}
