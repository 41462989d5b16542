#include "proxy/audit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/span.h"
#include "json/write.h"

enum { LINE_BYTES_MAX = 4096, OFTEN_MS = 60 * 60 * 1000 };

struct wr_audit {
    int fd;
    int64_t often_ms; /* when something that is done often was noted last */
};

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

void wr_audit_close(struct wr_audit *audit)
{
    if (!audit)
        return;
    (void)close(audit->fd);
    free(audit);
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
    wr_json_member_bool(&w, "done", !act->is_refused && act->status < 400);
    wr_json_write_object_end(&w);
    wr_buf_byte(&line, '\n');
    if (!wr_buf_status(&line))
        (void)!write(audit->fd, line.bytes, line.len);
    wr_buf_release(&line);
}

void wr_audit_note_often(struct wr_audit *audit, const struct wr_act *act)
{
    int64_t now_ms = wr_clock_ms();

    if (!audit || now_ms - audit->often_ms < OFTEN_MS)
        return;
    audit->often_ms = now_ms;
    wr_audit_note(audit, act);
}
