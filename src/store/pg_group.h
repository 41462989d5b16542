/* pg_group.h -- commits of several threads as one transaction.
 *
 *   waits --(one of LEADERS_MAX places is free)--> leads: takes all that wait, and commits them
 *     |                                              |
 *     +--(another leads)--> taken --> made, or not   +--> made, or not; alone, where nobody waits
 *
 * A commit waits for the disk, and costs the database a trip, a plan and a switch of processes
 * whatever is in it. So while one is under way the next ones gather; where nobody else is there,
 * none waits. What is not made here (somebody was faster, or the connection was lost) is committed
 * by its own thread, which says why.
 */
#ifndef WR_STORE_PG_GROUP_H
#define WR_STORE_PG_GROUP_H

#include <pthread.h>

#include "store/pg_known.h"

struct wr_pg;
struct wr_pg_group; /* of the stores of this process at one address */

enum wr_pg_turn { WR_PG_WAITS, WR_PG_LEADS, WR_PG_TAKEN, WR_PG_MADE, WR_PG_NOT_MADE };

/* A commit of a session that goes on: marks that replace, and nothing else. What it borrows stays
 * as it is until wr_pg_group_commit() returns. */
struct wr_pg_member {
    const struct wr_pg_session *known, *other; /* other: NULL: none */
    weir_span other_name;
    int64_t used_ms;
    bool is_full; /* WEIR_DURABLE_FULL */
    const weir_hash *absent;
    size_t absent_count;
    const struct weir_mark *marks;
    size_t marks_count;
    /* the group's */
    enum wr_pg_turn turn;
    pthread_cond_t wake;
    struct wr_pg_member *next;
};

/* The group of an address; wr_pg_group_leave() gives it back. NULL: no memory. */
struct wr_pg_group *wr_pg_group_join(const char *url);
void wr_pg_group_leave(struct wr_pg_group *group); /* NULL is fine */

/* True: it is committed. False: `pg` is to commit it alone, unless its link has failed. */
bool wr_pg_group_commit(struct wr_pg *pg, struct wr_pg_member *member);

/* Behind what was committed alone: the next one may lead. */
void wr_pg_group_end(struct wr_pg *pg, struct wr_pg_member *member);

#endif
