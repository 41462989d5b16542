/* Reading for a commit: from what is known of the session, and without a trip.
 *
 *   begin -> known?  no: one trip, and all of it is known
 *   pin, marks, has  from that; a key that it lacks is taken to be absent, and noted
 *   commit           names the version and the keys: all as it was read, or nothing is written and
 *                    what is new comes back (WEIR_TROUBLE_OUTRUN where it was asked for)
 *
 * So a request of a session whose last commit was made here takes one trip, and two where another
 * node made it. Absence is what most keys are asked for (the turns are new), and cannot be known
 * for keys that sessions share; that is why those are part of the commit. Where one was there, the
 * next try asks for such keys (is_careful); where the session alone went on, all that is new of it
 * has come back, and the next try is the commit alone. A session that begins asks in any case: it
 * looks for one to go on from, which is another's. What is told to all sessions of a tenant
 * (orders) is kept as a session too; that one is remembered and compared in the same way. */
#include "store/pg.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"

enum { ASKED_CAP_FIRST = 256, ASKED_MAX = 65536 };

bool wr_pg_is_begun(const struct wr_pg *pg, weir_span tenant)
{
    return pg->begun && !pg->begun->is_broken && pg->begun_tenant == wr_hash64(tenant);
}

bool wr_pg_note_key(struct wr_pg *pg, const weir_hash *key, bool is_absent)
{
    if (pg->asked_count >= ASKED_MAX ||
        !WR_HEAP_ROOM(pg->asked, pg->asked_count, pg->asked_cap, ASKED_CAP_FIRST))
        return false;
    pg->asked[pg->asked_count++] = *key;
    if (is_absent) { /* changes places with the first that is not */
        pg->asked[pg->asked_count - 1] = pg->asked[pg->absent_count];
        pg->asked[pg->absent_count++] = *key;
    }
    return true;
}

static bool was_asked(const struct wr_pg *pg, weir_span key)
{
    for (size_t i = 0; i < pg->asked_count; i++)
        if (wr_span_eq(key, wr_pg_hash(&pg->asked[i])))
            return true;
    return false;
}

static void take_row(struct wr_pg_link *link, int row, int64_t what, struct wr_pg_session *session)
{
    weir_span a = wr_pg_get(link, row, 3), b = wr_pg_get(link, row, 4);
    weir_hash hash = {{0}};

    if (what == 1 && a.len == WEIR_HASH_BYTES) {
        int64_t kind = wr_pg_get_number(link, row, 1);
        struct weir_mark mark = {.kind = (weir_mark_kind)kind, .value = b};
        memcpy(mark.key.bytes, a.ptr, WEIR_HASH_BYTES);
        if (kind >= 0 && kind < WEIR_MARK_KINDS_COUNT)
            wr_pg_session_mark(session, &mark);
    }
    if (what == 2 && b.len == WEIR_HASH_BYTES) {
        struct weir_pin pin = {.model = a, .value = wr_pg_get(link, row, 5)};
        memcpy(pin.first_turn.bytes, b.ptr, WEIR_HASH_BYTES);
        wr_pg_session_pin(session, &pin);
    }
    if (what == 3 && a.len == WEIR_HASH_BYTES) {
        memcpy(hash.bytes, a.ptr, WEIR_HASH_BYTES);
        wr_pg_session_original(session, &hash);
    }
}

bool wr_pg_take_news(struct wr_pg *pg, struct wr_pg_session **session, uint64_t name)
{
    struct wr_pg_link *link = &pg->link;
    int64_t id = wr_pg_get_number(link, 0, 1), version = wr_pg_get_number(link, 0, 2);
    bool is_asked = false;

    if (!*session || (*session)->id != id) {
        is_asked = *session != NULL;
        *session = wr_pg_known_make(&pg->known, name);
    }
    for (int i = 1; i < wr_pg_rows(link) && *session; i++) {
        int64_t what = wr_pg_get_number(link, i, 0);
        if (what == 5 && pg->other) {
            wr_pg_known_forget(&pg->known, pg->other->name);
            pg->other = NULL;
        }
        pg->is_careful = pg->is_careful || what == 4;
        /* Pins are few, and one that is new may change everything. */
        is_asked = is_asked || what == 2 || what == 4 || what == 5 ||
                   (what == 1 && was_asked(pg, wr_pg_get(link, i, 3)));
        take_row(link, i, what, *session);
    }
    if (*session) {
        (*session)->id = id;
        (*session)->version = version;
    }
    pg->is_careful = pg->is_careful || !*session;
    return is_asked || !*session;
}

static weir_status load(struct wr_pg *pg, weir_span tenant, weir_span session, uint64_t name,
                        struct wr_pg_session **known, struct weir_err *err)
{
    struct wr_pg_args args = {.count = 0};

    (void)wr_pg_array_of(pg, 0, WR_PG_BYTES, 0);
    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, session);
    wr_pg_number(&args, 0);
    wr_pg_number(&args, -1);
    wr_pg_start(&pg->link);
    wr_pg_give_array(pg, &args, 0);
    do
        (void)wr_pg_run_often(&pg->link, "SELECT * FROM weir.load_1($1, $2, $3, $4, $5)", &args);
    while (wr_pg_again(&pg->link));
    if (wr_pg_rows(&pg->link))
        (void)wr_pg_take_news(pg, known, name);
    return wr_pg_end(pg, err);
}

weir_status wr_pg_begin(struct weir_store *store, weir_span tenant, weir_span session,
                        struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    uint64_t name = wr_pg_session_name(tenant, session);

    pg->begun = pg->other = NULL;
    pg->asked_count = pg->absent_count = 0;
    if (!session.len) {
        pg->is_careful = false;
        return WEIR_OK;
    }
    pg->begun_tenant = wr_hash64(tenant);
    pg->begun = wr_pg_known_find(&pg->known, name);
    return pg->begun ? WEIR_OK : load(pg, tenant, session, name, &pg->begun, err);
}

/* One at most, for a commit compares no more: what all sessions of a tenant are told is in one. */
const struct wr_pg_session *wr_pg_other(struct wr_pg *pg, weir_span tenant, weir_span session)
{
    uint64_t name = wr_pg_session_name(tenant, session);

    if (!wr_pg_is_begun(pg, tenant) || pg->is_careful || (pg->other && pg->other->name != name))
        return NULL;
    if (!pg->other)
        pg->other = wr_pg_known_find(&pg->known, name);
    if (!pg->other && load(pg, tenant, session, name, &pg->other, NULL))
        return NULL;
    wr_buf_reset(&pg->other_name);
    wr_buf_append(&pg->other_name, session);
    if (pg->other && (pg->other->is_broken || wr_buf_status(&pg->other_name)))
        pg->other = NULL;
    return pg->other;
}
