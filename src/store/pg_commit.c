/* What a request does with the store: it reads for a commit (weir_store_begin()), and commits.
 */
#include "store/pg.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

/* ==== reading for a commit ==== */

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
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.load_1($1, $2, $3, $4, $5)", &args);
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

/* ==== the commit ==== */

/* A commit: everything that a request leaves behind in one statement, and so in one trip and one
 * transaction (weir.commit_2 in data/postgres/2.sql).
 *
 *   pack what is new -> one array a column -> chunks of what is large, and the commit: a pipeline
 *
 * It may be done twice: where the connection is lost nobody knows whether it was, and it is tried
 * again on a new one. What is there already is left as it is, so the second time changes nothing.
 */

enum { PACKED_BYTES_MAX = 4 * WR_STORE_ARTIFACT_BYTES_MAX - 1 };

/* How an artifact is to be kept: a part of `packed`. */
struct piece {
    size_t start, len;
    enum wr_codec codec;
};

struct work {
    struct wr_pg *pg;
    struct weir_batch *batch;
    struct wr_buf packed;
    struct piece *pieces; /* one an artifact */
    struct weir_mark *marks;
    size_t marks_count;
    struct weir_pin *pins;
    size_t pins_count;
    struct wr_pg_statement *statements;
    size_t statements_count;
    uint64_t name;               /* of the session */
    struct wr_pg_session *known; /* as it is known; NULL: it is not */
    bool is_conditional;         /* on its being so still */
    bool names_damaged;
    size_t *artifacts; /* numbers of those that the session lacks */
    size_t artifacts_count;
};

/* ---- what is sent ---- */

static int compare_marks(const void *a, const void *b)
{
    const struct weir_mark *left = a, *right = b;
    int order = memcmp(&left->key, &right->key, sizeof(left->key));
    return order ? order : (int)left->kind - (int)right->kind;
}

/* A value that is named twice: the later one stands if it may replace. */
static bool join_values(struct work *work, weir_span *value, bool *replaces, weir_span other,
                        bool other_replaces)
{
    if (!wr_span_eq(*value, other) && !other_replaces) {
        wr_pg_fail(&work->pg->link, WEIR_INVALID, WEIR_TROUBLE_CONFLICT);
        return false;
    }
    *replaces = *replaces || other_replaces;
    *value = other;
    return true;
}

/* Those that the session is known to have, as they are. */
static void drop_known_marks(struct work *work)
{
    size_t kept = 0;

    for (size_t i = 0; i < work->marks_count && work->is_conditional; i++) {
        const struct weir_mark *mark = &work->marks[i];
        const weir_span *value = wr_pg_session_find_mark(work->known, &mark->key, mark->kind);
        if (!value || !wr_span_eq(*value, mark->value))
            work->marks[kept++] = *mark;
    }
    if (work->is_conditional)
        work->marks_count = kept;
}

/* Each once, in the order of their keys: PostgreSQL changes a row only once a statement, and two
 * commits that take the same rows in the same order cannot block each other. The sort keeps those
 * of one key in their order, because it is of the kind that merges (glibc's qsort of small items).
 */
static void list_marks(struct work *work)
{
    struct wr_arena *arena = &work->pg->arena;
    const struct weir_batch *batch = work->batch;
    size_t count = batch->marks_count, kept = 0;

    work->marks = WR_ARENA_ARRAY(arena, struct weir_mark, count);
    if (!work->marks) {
        wr_pg_fail(&work->pg->link, wr_arena_status(arena), WEIR_TROUBLE_NONE);
        return;
    }
    if (count)
        memcpy(work->marks, batch->marks, count * sizeof(*work->marks));
    qsort(work->marks, count, sizeof(*work->marks), compare_marks);
    for (size_t i = 0; i < count; i++) {
        struct weir_mark *last = kept ? &work->marks[kept - 1] : NULL;
        const struct weir_mark mark_at = work->marks[i], *mark = &mark_at;
        if (!last || compare_marks(last, mark) != 0)
            work->marks[kept++] = *mark;
        else if (!join_values(work, &last->value, &last->replaces, mark->value, mark->replaces))
            return;
    }
    work->marks_count = kept;
    drop_known_marks(work);
}

static bool is_same_pin(const struct weir_pin *a, const struct weir_pin *b)
{
    return wr_span_eq(a->model, b->model) &&
           !memcmp(&a->first_turn, &b->first_turn, sizeof(a->first_turn));
}

/* The same for pins, of which there are few. */
static void list_pins(struct work *work)
{
    const struct weir_batch *batch = work->batch;

    work->pins = WR_ARENA_ARRAY(&work->pg->arena, struct weir_pin, batch->pins_count);
    if (!work->pins) {
        wr_pg_fail(&work->pg->link, wr_arena_status(&work->pg->arena), WEIR_TROUBLE_NONE);
        return;
    }
    for (size_t i = 0; i < batch->pins_count; i++) {
        const struct weir_pin *pin = &batch->pins[i];
        size_t at = 0;
        while (at < work->pins_count && !is_same_pin(&work->pins[at], pin))
            at++;
        if (at == work->pins_count)
            work->pins[work->pins_count++] = *pin;
        else if (!join_values(work, &work->pins[at].value, &work->pins[at].replaces, pin->value,
                              pin->replaces))
            return;
    }
}

static bool names_damaged(const struct work *work)
{
    for (size_t i = 0; i < work->batch->artifacts_count && work->pg->is_damaged; i++)
        if (!memcmp(work->batch->artifacts[i].hash.bytes, work->pg->damaged.bytes,
                    WEIR_HANDLE_BYTES))
            return true;
    return false;
}

/* What the session is known to have already need not be sent, where the commit is conditional. */
static bool is_to_send(const struct work *work, size_t index)
{
    return !work->is_conditional || work->names_damaged ||
           !wr_pg_session_has(work->known, &work->batch->artifacts[index].hash);
}

static void pack_all(struct work *work)
{
    size_t count = work->batch->artifacts_count;
    struct wr_arena *arena = &work->pg->arena;

    work->names_damaged = names_damaged(work);
    work->pieces = WR_ARENA_ARRAY(arena, struct piece, count);
    work->artifacts = WR_ARENA_ARRAY(arena, size_t, count);
    weir_status status = work->pieces && work->artifacts ? WEIR_OK : wr_arena_status(arena);
    for (size_t i = 0; i < count && !status; i++) {
        struct piece *piece = &work->pieces[i];
        if (!is_to_send(work, i))
            continue;
        work->artifacts[work->artifacts_count++] = i;
        piece->start = work->packed.len;
        status = wr_pack(&work->pg->packer, work->batch->artifacts[i].text, &work->packed,
                         &piece->codec);
        piece->len = work->packed.len - piece->start;
    }
    if (status)
        wr_pg_fail(&work->pg->link, status, WEIR_TROUBLE_NONE);
}

static weir_span data_of(const struct work *work, size_t index)
{
    const struct piece *piece = &work->pieces[index];
    return (weir_span){work->packed.bytes ? work->packed.bytes + piece->start : "", piece->len};
}

static size_t chunks_of(const struct work *work, size_t index)
{
    size_t len = work->pieces[index].len;
    return len ? (len - 1) / WR_STORE_CHUNK_BYTES : 0;
}

/* Statements for what is larger than a chunk, behind which the commit comes. */
static void list_chunks(struct work *work)
{
    size_t count = 1;

    for (size_t i = 0; i < work->batch->artifacts_count; i++)
        count += chunks_of(work, i);
    work->statements = WR_ARENA_ARRAY(&work->pg->arena, struct wr_pg_statement, count);
    if (!work->statements) {
        wr_pg_fail(&work->pg->link, wr_arena_status(&work->pg->arena), WEIR_TROUBLE_NONE);
        return;
    }
    for (size_t i = 0; i < work->batch->artifacts_count; i++) {
        weir_span data = data_of(work, i);
        for (size_t at = 1; at <= chunks_of(work, i); at++) {
            struct wr_pg_statement *chunk = &work->statements[work->statements_count++];
            size_t from = at * WR_STORE_CHUNK_BYTES, to = from + WR_STORE_CHUNK_BYTES;
            chunk->sql = "SELECT weir.chunk_1($1, $2, $3, $4)";
            wr_pg_bytes(&chunk->args, work->batch->tenant);
            wr_pg_bytes(&chunk->args, wr_pg_hash(&work->batch->artifacts[i].hash));
            wr_pg_number(&chunk->args, (int64_t)at);
            wr_pg_bytes(&chunk->args, wr_span_cut(data, from, to < data.len ? to : data.len));
        }
    }
}

/* ---- its arrays, in the order of commit_2's parameters ---- */

enum { A_ABSENT, A_HASH, A_BYTES, A_STORED, A_CODEC, A_CHUNKS, A_DATA };
enum { M_KEY = A_DATA + 1, M_KIND, M_VALUE, R_KEY, R_KIND, R_VALUE }; /* R: those that replace */
enum { P_MODEL = R_VALUE + 1, P_TURN, P_VALUE, P_REPLACES, ARRAYS_COUNT };

_Static_assert((int)ARRAYS_COUNT <= (int)WR_PG_ARRAYS, "an array each");

static void fill_artifacts(struct work *work)
{
    struct wr_pg *pg = work->pg;
    size_t count = work->artifacts_count;
    struct wr_buf *hash = wr_pg_array_of(pg, A_HASH, WR_PG_BYTES, count);
    struct wr_buf *bytes = wr_pg_array_of(pg, A_BYTES, WR_PG_NUMBER, count);
    struct wr_buf *stored = wr_pg_array_of(pg, A_STORED, WR_PG_NUMBER, count);
    struct wr_buf *codec = wr_pg_array_of(pg, A_CODEC, WR_PG_NUMBER, count);
    struct wr_buf *chunks = wr_pg_array_of(pg, A_CHUNKS, WR_PG_NUMBER, count);
    struct wr_buf *data = wr_pg_array_of(pg, A_DATA, WR_PG_BYTES, count);

    for (size_t n = 0; n < count; n++) {
        size_t i = work->artifacts[n];
        const struct weir_artifact *artifact = &work->batch->artifacts[i];
        weir_span packed = data_of(work, i);
        wr_pg_item(hash, wr_pg_hash(&artifact->hash));
        wr_pg_item_number(bytes, (int64_t)artifact->text.len);
        wr_pg_item_number(stored, (int64_t)packed.len);
        wr_pg_item_number(codec, (int64_t)work->pieces[i].codec);
        wr_pg_item_number(chunks, (int64_t)chunks_of(work, i));
        wr_pg_item(data, packed.len > WR_STORE_CHUNK_BYTES
                             ? wr_span_cut(packed, 0, WR_STORE_CHUNK_BYTES)
                             : packed);
    }
}

/* Those that replace, or those that do not, from the array `first` on. */
static void fill_marks(struct work *work, int first, bool replaces)
{
    struct wr_pg *pg = work->pg;
    size_t count = 0;

    for (size_t i = 0; i < work->marks_count; i++)
        count += work->marks[i].replaces == replaces;
    struct wr_buf *key = wr_pg_array_of(pg, first, WR_PG_BYTES, count);
    struct wr_buf *kind = wr_pg_array_of(pg, first + 1, WR_PG_NUMBER, count);
    struct wr_buf *value = wr_pg_array_of(pg, first + 2, WR_PG_BYTES, count);
    for (size_t i = 0; i < work->marks_count; i++) {
        const struct weir_mark *mark = &work->marks[i];
        if (mark->replaces != replaces)
            continue;
        wr_pg_item(key, wr_pg_hash(&mark->key));
        wr_pg_item_number(kind, (int64_t)mark->kind);
        wr_pg_item(value, mark->value);
    }
}

static void fill_pins(struct work *work)
{
    struct wr_pg *pg = work->pg;
    struct wr_buf *model = wr_pg_array_of(pg, P_MODEL, WR_PG_BYTES, work->pins_count);
    struct wr_buf *turn = wr_pg_array_of(pg, P_TURN, WR_PG_BYTES, work->pins_count);
    struct wr_buf *value = wr_pg_array_of(pg, P_VALUE, WR_PG_BYTES, work->pins_count);
    struct wr_buf *replaces = wr_pg_array_of(pg, P_REPLACES, WR_PG_NUMBER, work->pins_count);

    for (size_t i = 0; i < work->pins_count; i++) {
        const struct weir_pin *pin = &work->pins[i];
        wr_pg_item(model, pin->model);
        wr_pg_item(turn, wr_pg_hash(&pin->first_turn));
        wr_pg_item(value, pin->value);
        wr_pg_item_number(replaces, pin->replaces);
    }
}

static void fill_absent(struct work *work)
{
    struct wr_pg *pg = work->pg;
    size_t count = work->is_conditional ? pg->absent_count : 0;
    struct wr_buf *absent = wr_pg_array_of(pg, A_ABSENT, WR_PG_BYTES, count);

    for (size_t i = 0; i < count; i++)
        wr_pg_item(absent, wr_pg_hash(&pg->asked[i]));
}

static void list_commit(struct work *work)
{
    struct wr_pg *pg = work->pg;
    struct wr_pg_statement *commit = &work->statements[work->statements_count++];
    struct wr_pg_args *args = &commit->args;
    const struct wr_pg_session *other = work->is_conditional ? pg->other : NULL;

    commit->sql =
        "SELECT * FROM weir.commit_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,"
        " $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)";
    commit->is_often = true;
    wr_pg_bytes(args, work->batch->tenant);
    wr_pg_bytes(args, work->batch->session);
    wr_pg_number(args, work->batch->used_ms);
    wr_pg_number(args, WR_STORE_TOUCH_MS);
    wr_pg_number(args, work->batch->durability == WEIR_DURABLE_FULL);
    wr_pg_number(args, work->is_conditional ? work->known->id : 0);
    wr_pg_number(args, work->is_conditional ? work->known->version : -1);
    fill_absent(work);
    fill_artifacts(work);
    fill_marks(work, M_KEY, false);
    fill_marks(work, R_KEY, true);
    fill_pins(work);
    wr_pg_give_array(pg, args, A_ABSENT);
    wr_pg_bytes(args, other ? wr_buf_view(&pg->other_name) : WR_LIT(""));
    wr_pg_number(args, other ? other->id : 0);
    wr_pg_number(args, other ? other->version : 0);
    for (int i = A_HASH; i <= A_DATA; i++)
        wr_pg_give_array(pg, args, i);
    wr_pg_number(args, work->names_damaged);
    for (int i = M_KEY; i < ARRAYS_COUNT; i++)
        wr_pg_give_array(pg, args, i);
}

/* ---- the commit ---- */

/* Which one collides stands in the failure's detail, in hex. */
static void find_collision(struct work *work)
{
    for (size_t i = 0; i < work->batch->artifacts_count; i++) {
        struct weir_artifact *artifact = &work->batch->artifacts[i];
        char hex[2 * WEIR_HASH_BYTES + 1];
        for (size_t at = 0; at < WEIR_HASH_BYTES; at++)
            (void)snprintf(hex + 2 * at, 3, "%02x", artifact->hash.bytes[at]);
        if (!strcmp(hex, work->pg->link.detail)) {
            artifact->collides = true;
            return;
        }
    }
}

/* What the session has from now on. */
static void learn(struct work *work, int64_t id, int64_t version)
{
    struct wr_pg_session *known = work->known;

    if (!known)
        return;
    if (version != known->version + 1 || (known->id && known->id != id)) {
        work->pg->begun = known == work->pg->begun ? NULL : work->pg->begun;
        wr_pg_known_forget(&work->pg->known, work->name); /* somebody else was there */
        return;
    }
    known->id = id;
    known->version = version;
    for (size_t i = 0; i < work->artifacts_count; i++)
        wr_pg_session_original(known, &work->batch->artifacts[work->artifacts[i]].hash);
    for (size_t i = 0; i < work->marks_count; i++)
        wr_pg_session_mark(known, &work->marks[i]);
    for (size_t i = 0; i < work->pins_count; i++)
        wr_pg_session_pin(known, &work->pins[i]);
}

/* Somebody else has committed. What they changed may be nothing that this rests on (an agent that
 * asks several things at once under one name): then it is tried again as it is. */
static bool is_to_repeat(struct work *work)
{
    struct wr_pg *pg = work->pg;

    if (wr_pg_get_number(&pg->link, 0, 0) >= 0)
        return false;
    bool is_asked = wr_pg_take_news(pg, &work->known, work->name);
    pg->begun = work->known;
    if (is_asked) {
        wr_pg_fail(&pg->link, WEIR_IO, WEIR_TROUBLE_OUTRUN);
        return false;
    }
    work->statements[work->statements_count - 1].args.count = 0;
    work->statements_count--;
    list_commit(work);
    return !pg->link.status;
}

static void run_commit(struct work *work)
{
    struct wr_pg_link *link = &work->pg->link;
    bool repeats = true;

    while (repeats && !link->status) {
        if (!wr_pg_run_all(link, work->statements, work->statements_count))
            repeats = wr_pg_again(link);
        else
            repeats = wr_pg_rows(link) && is_to_repeat(work);
    }
    if (!link->status && wr_pg_rows(link))
        learn(work, wr_pg_get_number(link, 0, 1), wr_pg_get_number(link, 0, 2));
}

/* Most commits of a session that goes on: new marks of what was sent, and no more. */
static bool is_for_group(const struct work *work)
{
    for (size_t i = 0; i < work->marks_count; i++)
        if (!work->marks[i].replaces)
            return false;
    return work->is_conditional && work->known->version > 0 && !work->artifacts_count &&
           !work->pins_count;
}

static void commit_work(struct work *work)
{
    struct wr_pg *pg = work->pg;
    struct wr_pg_member member = {.known = work->known,
                                  .other = pg->other,
                                  .other_name = wr_buf_view(&pg->other_name),
                                  .used_ms = work->batch->used_ms,
                                  .is_full = work->batch->durability == WEIR_DURABLE_FULL,
                                  .absent = pg->asked,
                                  .absent_count = pg->absent_count,
                                  .marks = work->marks,
                                  .marks_count = work->marks_count,
                                  .turn = WR_PG_NOT_MADE};

    if (is_for_group(work) && wr_pg_group_commit(pg, &member)) {
        learn(work, work->known->id, work->known->version + 1);
    } else if (!pg->link.status) {
        list_chunks(work);
        if (!pg->link.status)
            list_commit(work);
        run_commit(work);
    }
    wr_pg_group_end(pg, &member);
    if (pg->link.status)
        return;
    wr_pg_wrote(&pg->link);
    if (work->is_conditional)
        pg->begun = NULL;
}

/* Only what a begin was for is conditional; what else is committed changes what is known all the
 * same. */
static void find_known(struct work *work)
{
    struct wr_pg *pg = work->pg;

    work->name = wr_pg_session_name(work->batch->tenant, work->batch->session);
    work->known = wr_pg_known_find(&pg->known, work->name);
    work->is_conditional = work->known && work->known == pg->begun;
}

weir_status wr_pg_commit(struct weir_store *store, struct weir_batch *batch, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct work work = {.pg = pg, .batch = batch};

    wr_pg_start(&pg->link);
    wr_arena_reset(&pg->arena);
    wr_buf_init(&work.packed, PACKED_BYTES_MAX);
    find_known(&work);
    list_marks(&work);
    list_pins(&work);
    pack_all(&work);
    if (!pg->link.status)
        commit_work(&work);
    if (pg->link.trouble == WEIR_TROUBLE_COLLISION)
        find_collision(&work);
    if (!pg->link.status && work.names_damaged) {
        pg->is_damaged = false;
        store->hash_failures_count++;
    }
    /* What was known of it did not hold. While the database refuses all, it is what there is. */
    if (pg->link.trouble == WEIR_TROUBLE_CONFLICT) {
        pg->begun = pg->begun == work.known ? NULL : pg->begun;
        wr_pg_known_forget(&pg->known, work.name);
    }
    wr_buf_release(&work.packed);
    return wr_pg_end(pg, err);
}
