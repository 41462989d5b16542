/* Commits of several threads as one transaction (weir.commits_1 in data/postgres/5.sql).
 *
 * Each thread has a store, and so a connection, of its own. A leader uses its own for all that it
 * took; who was taken only waits, for no longer than the leader has, whose deadline began earlier.
 * Four lead at a time: while one waits for the disk, the next one's statement runs. With eight the
 * groups are so small that little is saved of the database's processor, with two they wait for the
 * disk in turn.
 *
 * A group that fails has made nothing, or nobody knows whether it has. Either way every member
 * commits alone behind it, under the version that it names: that is what a commit does whose answer
 * was lost (pg_commit.c). */
#include "store/pg_group.h"

#include "base/limits.h"
#include "base/span.h"
#include "store/pg.h"

enum { LEADERS_MAX = 4, MEMBERS_MAX = 64 };

struct wr_pg_group {
    struct wr_pg_group *next;
    char *url; /* owned */
    size_t stores_count, leaders_count;
    pthread_mutex_t lock;
    struct wr_pg_member *first, **end; /* those that wait */
};

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wr_pg_group *groups;

/* ---- joining ---- */

static struct wr_pg_group *make_group(const char *url)
{
    struct wr_pg_group *group = calloc(1, sizeof(*group));

    if (!group)
        return NULL;
    group->url = strdup(url);
    if (!group->url || pthread_mutex_init(&group->lock, NULL)) {
        free(group->url);
        free(group);
        return NULL;
    }
    group->end = &group->first;
    group->next = groups;
    groups = group;
    return group;
}

struct wr_pg_group *wr_pg_group_join(const char *url)
{
    (void)pthread_mutex_lock(&groups_lock);
    struct wr_pg_group *group = groups;
    while (group && strcmp(group->url, url) != 0)
        group = group->next;
    group = group ? group : make_group(url);
    if (group)
        group->stores_count++;
    (void)pthread_mutex_unlock(&groups_lock);
    return group;
}

void wr_pg_group_leave(struct wr_pg_group *group)
{
    if (!group)
        return;
    (void)pthread_mutex_lock(&groups_lock);
    bool is_last = !--group->stores_count;
    for (struct wr_pg_group **at = &groups; is_last && *at; at = &(*at)->next)
        if (*at == group) {
            *at = group->next;
            break;
        }
    (void)pthread_mutex_unlock(&groups_lock);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&group->lock);
    free(group->url);
    free(group);
}

/* ---- what is sent ---- */

enum { P_ID, P_KNOWN, P_USED, O_NAME, O_ID, O_VERSION, Q_PLACE, Q_KEY };
enum { R_PLACE = Q_KEY + 1, R_KEY, R_KIND, R_VALUE, ARRAYS_COUNT };

_Static_assert((int)ARRAYS_COUNT <= (int)WR_PG_ARRAYS, "an array each");

static void begin_arrays(struct wr_pg *pg, struct wr_pg_member *const *members, size_t count)
{
    size_t keys_count = 0, marks_count = 0;

    for (size_t i = 0; i < count; i++) {
        keys_count += members[i]->absent_count;
        marks_count += members[i]->marks_count;
    }
    for (int i = 0; i < ARRAYS_COUNT; i++) {
        bool is_bytes = i == O_NAME || i == Q_KEY || i == R_KEY || i == R_VALUE;
        (void)wr_pg_array_of(pg, i, is_bytes ? WR_PG_BYTES : WR_PG_NUMBER,
                             i < Q_PLACE   ? count
                             : i < R_PLACE ? keys_count
                                           : marks_count);
    }
}

static void put_member(struct wr_pg *pg, const struct wr_pg_member *member, int64_t place)
{
    const struct wr_pg_session *other = member->other;

    wr_pg_item_number(&pg->arrays[P_ID], member->known->id);
    wr_pg_item_number(&pg->arrays[P_KNOWN], member->known->version);
    wr_pg_item_number(&pg->arrays[P_USED], member->used_ms);
    wr_pg_item(&pg->arrays[O_NAME], other ? member->other_name : WR_LIT(""));
    wr_pg_item_number(&pg->arrays[O_ID], other ? other->id : 0);
    wr_pg_item_number(&pg->arrays[O_VERSION], other ? other->version : 0);
    for (size_t i = 0; i < member->absent_count; i++) {
        wr_pg_item_number(&pg->arrays[Q_PLACE], place);
        wr_pg_item(&pg->arrays[Q_KEY], wr_pg_hash(&member->absent[i]));
    }
    for (size_t i = 0; i < member->marks_count; i++) {
        wr_pg_item_number(&pg->arrays[R_PLACE], place);
        wr_pg_item(&pg->arrays[R_KEY], wr_pg_hash(&member->marks[i].key));
        wr_pg_item_number(&pg->arrays[R_KIND], (int64_t)member->marks[i].kind);
        wr_pg_item(&pg->arrays[R_VALUE], member->marks[i].value);
    }
}

static int compare_members(const void *a, const void *b)
{
    const struct wr_pg_member *left = *(struct wr_pg_member *const *)a;
    const struct wr_pg_member *right = *(struct wr_pg_member *const *)b;
    return (left->known->id > right->known->id) - (left->known->id < right->known->id);
}

/* Commits them; `is_made` of each. */
static void commit_all(struct wr_pg *pg, struct wr_pg_member **members, size_t count, bool *is_made)
{
    struct wr_pg_args args = {.count = 0};
    bool is_full = false;

    qsort(members, count, sizeof(*members), compare_members);
    begin_arrays(pg, members, count);
    for (size_t i = 0; i < count; i++) {
        put_member(pg, members[i], (int64_t)i + 1);
        is_full = is_full || members[i]->is_full;
        is_made[i] = false;
    }
    wr_pg_number(&args, WR_STORE_TOUCH_MS);
    wr_pg_number(&args, is_full);
    for (int i = 0; i < ARRAYS_COUNT; i++)
        wr_pg_give_array(pg, &args, i);
    (void)wr_pg_run_often(&pg->link,
                          "SELECT * FROM weir.commits_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
                          " $11, $12, $13, $14)",
                          &args);
    for (int i = 0; i < wr_pg_rows(&pg->link); i++)
        is_made[wr_pg_get_number(&pg->link, i, 0) - 1] = true;
    if (!wr_pg_again(&pg->link))
        wr_pg_forgive(&pg->link);
}

/* ---- turns ---- */

static void wake_first(struct wr_pg_group *group)
{
    if (group->first && group->leaders_count < LEADERS_MAX)
        (void)pthread_cond_signal(&group->first->wake);
}

/* Takes the first, which leads, and those behind it; how many. */
static size_t take_members(struct wr_pg_group *group, struct wr_pg_member *leader,
                           struct wr_pg_member *members[MEMBERS_MAX])
{
    size_t count = 1;

    members[0] = leader;
    leader->turn = WR_PG_LEADS;
    for (group->first = leader->next; group->first && count < MEMBERS_MAX;
         group->first = group->first->next) {
        members[count++] = group->first;
        group->first->turn = WR_PG_TAKEN;
    }
    group->end = group->first ? group->end : &group->first;
    group->leaders_count++;
    wake_first(group);
    return count;
}

/* Waits until it may lead, or is made or not. Only the first may, which has waited for longest:
 * what is left of its time bounds what the others wait. The lock is held. */
static void await_turn(struct wr_pg_group *group, struct wr_pg_member *member)
{
    member->turn = WR_PG_WAITS;
    member->next = NULL;
    *group->end = member;
    group->end = &member->next;
    while (member->turn == WR_PG_TAKEN ||
           (member->turn == WR_PG_WAITS &&
            (group->leaders_count == LEADERS_MAX || group->first != member)))
        (void)pthread_cond_wait(&member->wake, &group->lock);
}

/* The lock is held, and given up meanwhile. */
static void lead(struct wr_pg *pg, struct wr_pg_member *leader)
{
    struct wr_pg_group *group = pg->group;
    struct wr_pg_member *members[MEMBERS_MAX];
    bool is_made[MEMBERS_MAX];
    size_t count = take_members(group, leader, members);

    if (count == 1)
        return; /* alone, and leads until wr_pg_group_end() */
    (void)pthread_mutex_unlock(&group->lock);
    commit_all(pg, members, count, is_made);
    (void)pthread_mutex_lock(&group->lock);
    for (size_t i = 0; i < count; i++) {
        members[i]->turn = is_made[i] ? WR_PG_MADE : WR_PG_NOT_MADE;
        (void)pthread_cond_signal(&members[i]->wake);
    }
    group->leaders_count--;
    wake_first(group);
}

bool wr_pg_group_commit(struct wr_pg *pg, struct wr_pg_member *member)
{
    struct wr_pg_group *group = pg->group;

    if (!group || pthread_cond_init(&member->wake, NULL))
        return false;
    (void)pthread_mutex_lock(&group->lock);
    await_turn(group, member);
    if (member->turn == WR_PG_WAITS)
        lead(pg, member);
    (void)pthread_mutex_unlock(&group->lock);
    (void)pthread_cond_destroy(&member->wake);
    return member->turn == WR_PG_MADE;
}

void wr_pg_group_end(struct wr_pg *pg, struct wr_pg_member *member)
{
    if (member->turn != WR_PG_LEADS)
        return;
    (void)pthread_mutex_lock(&pg->group->lock);
    pg->group->leaders_count--;
    wake_first(pg->group);
    (void)pthread_mutex_unlock(&pg->group->lock);
}
