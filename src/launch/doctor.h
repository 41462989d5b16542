/* doctor.h -- what could keep Weir from working here, looked at one after the other.
 *
 * A finding is well, a warning or a failure, with what to do about it. Nothing is changed by
 * looking: no store is made, and upstreams are asked without a key.
 */
#ifndef WR_LAUNCH_DOCTOR_H
#define WR_LAUNCH_DOCTOR_H

#include <stdbool.h>

#include "base/arena.h"
#include "proxy/config.h"

enum wr_finding_level { WR_FINDING_OK, WR_FINDING_WARN, WR_FINDING_FAIL };

enum { WR_FINDINGS_MAX = 128, WR_DOCTOR_VERSION_BYTES = 256 };

struct wr_finding {
    enum wr_finding_level level;
    const char *name; /* of what was looked at */
    const char *text;
    const char *advice; /* "": there is nothing to do */
};

struct wr_doctor {
    struct wr_arena arena; /* owns the texts */
    struct wr_finding findings[WR_FINDINGS_MAX];
    size_t findings_count;
    bool has_failed;
    /* What it is told. */
    const char *store;
    const struct wr_config *config;
    bool asks_all_upstreams; /* else only those that are not the defaults */
    bool is_offline;         /* asks no upstream */
    int64_t now_s;
};

void wr_doctor_init(struct wr_doctor *doctor);
void wr_doctor_release(struct wr_doctor *doctor);

/* Each adds its findings. */
void wr_doctor_versions(struct wr_doctor *doctor);
void wr_doctor_limits(struct wr_doctor *doctor);
void wr_doctor_store(struct wr_doctor *doctor);
void wr_doctor_clock(struct wr_doctor *doctor);
void wr_doctor_server(struct wr_doctor *doctor); /* and the port */
void wr_doctor_upstreams(struct wr_doctor *doctor);
void wr_doctor_agents(struct wr_doctor *doctor);
void wr_doctor_settings(struct wr_doctor *doctor, char **environment); /* of agents */
void wr_doctor_recall(struct wr_doctor *doctor, char **environment);   /* as agents start it */
void wr_doctor_hooks(struct wr_doctor *doctor, char **environment);    /* that call us */
void wr_doctor_runs(struct wr_doctor *doctor); /* what killed ones have left */

/* What `PROGRAM --version` says first; "": nothing, or not in time. */
void wr_doctor_ask_version(const char *path, char version[WR_DOCTOR_VERSION_BYTES]);

const char *wr_finding_level_name(enum wr_finding_level level); /* "ok", "warn", "fail" */

void wr_doctor_add(struct wr_doctor *doctor, enum wr_finding_level level, const char *name,
                   const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
