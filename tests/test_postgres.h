/* test_postgres.h -- for tests: a database of their own in a PostgreSQL server.
 *
 * The server is the one that WEIR_TEST_POSTGRES names (tests/run starts one for all), else one of
 * this program's own (tests/postgres), which ends with it. Tests run in the top folder.
 */
#ifndef WR_TESTS_TEST_POSTGRES_H
#define WR_TESTS_TEST_POSTGRES_H

#include "store/pg_link.h"
#include "tests/test_dir.h"

enum { WR_TEST_URL_BYTES = WR_TEST_PATH_BYTES + 64 };

static struct wr_test_dir wr_test_postgres_dir; /* of our own server; empty: none */
static pid_t wr_test_postgres_pid;

static inline void wr_test_postgres_remove(void)
{
    char command[WR_TEST_PATH_BYTES + 64];
    if (getpid() != wr_test_postgres_pid)
        return;
    (void)snprintf(command, sizeof(command), "tests/postgres remove %s", wr_test_postgres_dir.path);
    (void)!system(command);
}

static inline bool wr_test_postgres_server(char server[WR_TEST_URL_BYTES])
{
    const char *given = getenv("WEIR_TEST_POSTGRES");
    char command[WR_TEST_PATH_BYTES + 64];

    if (given && *given) {
        (void)snprintf(server, WR_TEST_URL_BYTES, "%s", given);
        return true;
    }
    wr_test_postgres_dir = wr_test_dir_fast();
    (void)snprintf(command, sizeof(command), "tests/postgres start %s >/dev/null",
                   wr_test_postgres_dir.path);
    if (system(command)) {
        (void)rmdir(wr_test_postgres_dir.path);
        return false;
    }
    wr_test_postgres_pid = getpid();
    (void)atexit(wr_test_postgres_remove);
    (void)snprintf(server, WR_TEST_URL_BYTES, "postgresql://weir@/postgres?host=%s",
                   wr_test_postgres_dir.path);
    return true;
}

/* The address of a database with nothing in it, the same one at every call; NULL: there is no
 * PostgreSQL here, which has been said. */
static inline const char *wr_test_postgres(void)
{
    static char url[WR_TEST_URL_BYTES], server[WR_TEST_URL_BYTES];
    static bool is_tried;
    char sql[64];
    struct wr_pg_link link;

    if (is_tried)
        return *url ? url : NULL;
    is_tried = true;
    if (!wr_test_postgres_server(server))
        return NULL;
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE weir_test_%d", (int)getpid());
    if (!wr_pg_link_open(&link, server, 20000, NULL)) {
        const char *query = strstr(server, "/postgres?");
        wr_pg_start(&link);
        if (query && wr_pg_run(&link, sql, NULL))
            (void)snprintf(url, sizeof(url), "%.*s/weir_test_%d%s", (int)(query - server), server,
                           (int)getpid(), query + strlen("/postgres"));
        else
            fprintf(stderr, "cannot make a database: %s\n", link.err.text);
    }
    wr_pg_link_close(&link);
    return *url ? url : NULL;
}

#endif
