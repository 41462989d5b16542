/* pg_lib.h -- libpq, loaded when the first store is a database.
 *
 * Nothing links it: a program that keeps its things in files, and one that embeds libweir, need not
 * have it (docs/decisions/008-libpq.md). Calls are wr_pq->connectStart(...) for PQconnectStart().
 */
#ifndef WR_STORE_PG_LIB_H
#define WR_STORE_PG_LIB_H

/* Debian keeps it in a folder of its own, which no flag need name. */
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#include "weir/status.h"

#define WR_PQ_MAP(X)     \
    X(conninfoParse)     \
    X(conninfoFree)      \
    X(freemem)           \
    X(connectStart)      \
    X(connectPoll)       \
    X(status)            \
    X(finish)            \
    X(socket)            \
    X(errorMessage)      \
    X(setnonblocking)    \
    X(sendQueryParams)   \
    X(sendPrepare)       \
    X(sendQueryPrepared) \
    X(flush)             \
    X(consumeInput)      \
    X(isBusy)            \
    X(getResult)         \
    X(resultStatus)      \
    X(resultErrorField)  \
    X(ntuples)           \
    X(getvalue)          \
    X(getlength)         \
    X(getisnull)         \
    X(cmdTuples)         \
    X(clear)             \
    X(setSingleRowMode)  \
    X(enterPipelineMode) \
    X(exitPipelineMode)  \
    X(pipelineSync)      \
    X(setNoticeProcessor)

struct wr_pq {
#define X(name) __typeof__(PQ##name) *name;
    WR_PQ_MAP(X)
#undef X
};

/* NULL: it is not installed, or too old; `err` says so. Any thread may call it. */
const struct wr_pq *wr_pq_load(struct weir_err *err);

#endif
