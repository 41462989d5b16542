/* audit.h -- who did what to the server, a JSON line each: `audit:` of weir.yaml (docs/gateway.md).
 *
 * Acts are orders that are given to it (pins, undo, pause, rules, policies), logins at the page,
 * who read the metrics or was refused, reloads, starts and ends. Requests to models are none: they
 * are in the log. A line has names and a status, never a word of what was said, and is written at
 * once. What cannot be written is counted and lost: it keeps nobody from working.
 */
#ifndef WR_PROXY_AUDIT_H
#define WR_PROXY_AUDIT_H

#include <stdbool.h>

#include "proxy/users.h"

struct wr_audit;

struct wr_act {
    const char *act;            /* "steer.pin", "reload", ... */
    const struct wr_user *user; /* NULL: nobody with a name */
    const char *tenant;         /* NULL: the operator, on the machine itself */
    const char *subject;        /* a session; NULL or "": none */
    int status;                 /* HTTP, or 0 */
    uint64_t times;             /* that it was done, where more than once; else 0 */
    bool is_refused;
};

/* NULL: the file cannot be written; errno says why. Several processes may have it open. */
struct wr_audit *wr_audit_open(const char *path);
uint64_t wr_audit_close(struct wr_audit *audit);     /* as wr_log_close() */
uint64_t wr_audit_take_lost(struct wr_audit *audit); /* lines, since it was asked last */

/* NULL is fine, here and below: then nobody is told. */
void wr_audit_note(struct wr_audit *audit, const struct wr_act *act);

/* The same for what may be done all the time: one line an hour of this process, or, of what was
 * refused, one a minute, so that nobody without a token can fill the disk. A line says how often it
 * was since the last one; what is left over is told when the audit is closed. `act` and `tenant`
 * are constants, and nothing else is said. */
void wr_audit_note_often(struct wr_audit *audit, const struct wr_act *act);

#endif
