#include "session/trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/span.h"
#include "session/disk.h"
#include "store/store.h"

enum { FILE_MODE = 0600 };

weir_status wr_trace_open(struct wr_trace *trace, const char *dir, struct weir_err *err)
{
    struct stat found;
    weir_trouble trouble;

    trace->fd = -1;
    weir_status status = wr_disk_join(trace->path, dir, WR_TRACE_FILE, err);
    if (status)
        return status;
    trace->fd =
        open(trace->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (trace->fd < 0 || fstat(trace->fd, &found)) {
        status = wr_os_error(trace->path, &trouble, err);
        wr_trace_close(trace);
        return status;
    }
    trace->end_bytes = (uint64_t)found.st_size;
    return WEIR_OK;
}

void wr_trace_close(struct wr_trace *trace)
{
    if (trace->fd >= 0)
        (void)close(trace->fd);
    trace->fd = -1;
}

static void begin_trace(struct wr_json_writer *w, struct wr_buf *line, int64_t at_ms,
                        const char *kind)
{
    wr_json_write_init(w, line);
    wr_json_write_object(w);
    wr_json_member_i64(w, "at_ms", at_ms);
    wr_json_member_word(w, "kind", kind);
}

static weir_status end_line(struct wr_trace *trace, struct wr_json_writer *w, struct wr_buf *line,
                            struct weir_err *err)
{
    wr_json_write_object_end(w);
    wr_buf_byte(line, '\n');
    weir_status status = wr_buf_status(line);
    if (!status && trace->fd >= 0)
        status = wr_disk_append(trace->fd, &trace->end_bytes, wr_buf_view(line), trace->path, err);
    wr_buf_release(line);
    return status;
}

weir_status wr_trace_write(struct wr_trace *trace, int64_t at_ms, const char *kind,
                           weir_span fields, struct weir_err *err)
{
    struct wr_json_writer w;
    struct wr_buf line;

    wr_buf_init(&line, WR_JOURNAL_LINE_BYTES_MAX);
    begin_trace(&w, &line, at_ms, kind);
    if (fields.len) {
        wr_buf_byte(&line, ',');
        wr_buf_append(&line, fields);
    }
    return end_line(trace, &w, &line, err);
}

void wr_trace_tell(struct wr_trace *trace, int64_t at_ms, const char *kind,
                   const struct wr_trace_field *fields, size_t count)
{
    struct wr_json_writer w;
    struct wr_buf line;

    wr_buf_init(&line, WR_JOURNAL_LINE_BYTES_MAX);
    begin_trace(&w, &line, at_ms, kind);
    for (size_t i = 0; i < count; i++) {
        wr_json_write_key(&w, fields[i].key);
        if (fields[i].text.len)
            wr_json_write_text(&w, fields[i].text);
        else
            wr_json_write_i64(&w, (int64_t)fields[i].number);
    }
    /* A trace that cannot be written must not stop the session: its journal has it all. */
    if (end_line(trace, &w, &line, NULL))
        return;
}
