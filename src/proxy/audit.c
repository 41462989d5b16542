#include "proxy/audit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/span.h"
#include "json/write.h"

enum {
    LINE_BYTES_MAX = 4096,
    DONE_MS = 60 * 60 * 1000, /* between two lines of what is done often, */
    REFUSED_MS = 60 * 1000,   /* and of what is refused */
    OFTEN_MAX = 8
};

/* What is done often, and how often it was since its last line. */
struct often {
    struct wr_act act;
    int64_t noted_ms;
    uint64_t times;
};

struct wr_audit {
    int fd;
    uint64_t lost_count;
    struct often often[OFTEN_MAX]; /* in the order in which they came first */
    size_t often_count;
};

static void tell_often(struct wr_audit *audit, struct often *often);

static bool is_done(const struct wr_act *act)
{
    return !act->is_refused && act->status < 400;
}

struct wr_audit *wr_audit_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct wr_audit *audit = fd < 0 ? NULL : calloc(1, sizeof(*audit));

    if (audit)
        audit->fd = fd;
    else if (fd >= 0)
        (void)close(fd);
    return audit;
}

uint64_t wr_audit_close(struct wr_audit *audit)
{
    if (!audit)
        return 0;
    for (size_t i = 0; i < audit->often_count; i++)
        tell_often(audit, &audit->often[i]);
    uint64_t lost_count = audit->lost_count;
    (void)close(audit->fd);
    free(audit);
    return lost_count;
}

/* One write a line: with O_APPEND those of several processes do not mix. */
void wr_audit_note(struct wr_audit *audit, const struct wr_act *act)
{
    struct wr_json_writer w;
    struct wr_buf line;
    char time[WR_DATE_BYTES];

    if (!audit)
        return;
    wr_buf_init(&line, LINE_BYTES_MAX);
    wr_date_write(wr_clock_ms(), time);
    wr_json_write_init(&w, &line);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "time", time);
    wr_json_member_word(&w, "act", act->act);
    wr_json_member_i64(&w, "process", getpid());
    if (act->user)
        wr_json_member_word(&w, "user", act->user->name);
    if (act->user && act->user->team[0])
        wr_json_member_word(&w, "team", act->user->team);
    wr_json_member_word(&w, "tenant", act->tenant ? act->tenant : "operator");
    if (act->subject && act->subject[0])
        wr_json_member_text(&w, "session", wr_span_of(act->subject));
    if (act->status)
        wr_json_member_i64(&w, "status", act->status);
    if (act->times)
        wr_json_member_number(&w, "times", act->times);
    wr_json_member_bool(&w, "done", is_done(act));
    wr_json_write_object_end(&w);
    wr_buf_byte(&line, '\n');
    if (wr_buf_status(&line) || write(audit->fd, line.bytes, line.len) != (ssize_t)line.len)
        audit->lost_count++;
    wr_buf_release(&line);
}

uint64_t wr_audit_take_lost(struct wr_audit *audit)
{
    uint64_t count = audit->lost_count;

    audit->lost_count = 0;
    return count;
}

/* What is not told yet. */
static void tell_often(struct wr_audit *audit, struct often *often)
{
    struct wr_act act = often->act;

    if (!often->times)
        return;
    act.times = often->times > 1 ? often->times : 0;
    often->times = 0;
    often->noted_ms = wr_clock_ms();
    wr_audit_note(audit, &act);
}

void wr_audit_note_often(struct wr_audit *audit, const struct wr_act *act)
{
    size_t i = 0;

    if (!audit)
        return;
    while (i < audit->often_count && (strcmp(audit->often[i].act.act, act->act) != 0 ||
                                      is_done(&audit->often[i].act) != is_done(act)))
        i++;
    if (i == OFTEN_MAX) {
        wr_audit_note(audit, act);
        return;
    }
    struct often *often = &audit->often[i];
    if (i == audit->often_count) {
        *often = (struct often){.act = *act};
        audit->often_count++;
    }
    int64_t since_ms = wr_clock_ms() - often->noted_ms;
    often->times++;
    if (!often->noted_ms || since_ms < 0 || since_ms >= (is_done(act) ? DONE_MS : REFUSED_MS))
        tell_often(audit, often);
}
