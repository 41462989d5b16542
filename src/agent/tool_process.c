/* The tools process_start, process_read and process_stop, on top of process.c.
 *
 * Output is shown as a terminal would show it in the end: progress bars and colours are gone, and
 * of a long output only the tail is left. Each process remembers where its last reader stopped, so
 * that "new" needs no cursor from the model. A search reads all of the output and not what is
 * shown of it.
 */
#include <stdio.h>

#include "agent/toolbox.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/terminal.h"
#include "store/grep.h"

/* ---- showing output ---- */

static void put_state(struct wr_buf *out, uint64_t id, const struct wr_process_status *status,
                      uint64_t cursor)
{
    wr_buf_printf(out, "[process %llu ", (unsigned long long)id);
    if (status->state == WR_PROCESS_RUNNING)
        wr_buf_text(out, "is running");
    else if (status->state == WR_PROCESS_EXITED)
        wr_buf_printf(out, "ended, exit code %d", status->code);
    else
        wr_buf_printf(out, "was killed by signal %d", status->code);
    if (status->is_too_long)
        wr_buf_text(out, ": it printed more than a command may");
    wr_buf_printf(out, "; cursor %llu]", (unsigned long long)cursor);
}

/* What a terminal would show in the end; only the tail if that is long. */
static void put_output(struct wr_tool_output *output, weir_span bytes, struct wr_arena *arena)
{
    struct wr_terminal_text shown;

    if (wr_terminal_render(&shown, arena, bytes))
        shown.text = bytes;
    weir_span tail = wr_terminal_tail(shown.text, WR_TERMINAL_STREAM_BYTES_MAX);
    if (tail.len < shown.text.len)
        wr_buf_printf(&output->text, "[%zu bytes before this are left out]\n",
                      shown.text.len - tail.len);
    wr_buf_append(&output->text, tail);
    if (tail.len && tail.ptr[tail.len - 1] != '\n')
        wr_buf_byte(&output->text, '\n');
}

static void put_matches(struct wr_tool_output *output, weir_span bytes, weir_span pattern)
{
    struct wr_grep grep;
    struct weir_err err = {0};
    uint64_t lines = 1, number = 0;
    weir_span rest = bytes, line;

    while (wr_span_line(&rest, &line))
        lines++;
    if (wr_grep_init(&grep, pattern, lines, &err)) {
        wr_tool_fail(output, "search: %s", err.text);
        return;
    }
    for (rest = bytes; wr_span_line(&rest, &line) && output->text.len < WR_AGENT_READ_BYTES_MAX;) {
        bool matches = false;
        number++;
        if (!wr_grep_line(&grep, line, &matches) && matches)
            wr_buf_printf(&output->text, "%llu:%.*s\n", (unsigned long long)number, (int)line.len,
                          line.ptr);
    }
    wr_grep_release(&grep);
}

struct reading {
    uint64_t id, cursor;
    weir_span search;
    bool is_tail;
};

static void show_output(const struct wr_toolbox *box, struct wr_tool_args *args,
                        const struct reading *reading, const struct wr_process_status *status,
                        struct wr_tool_output *output)
{
    uint64_t from = reading->cursor;
    struct wr_buf bytes;

    if (from > status->output_bytes)
        from = status->output_bytes;
    if (reading->is_tail && status->output_bytes > WR_TERMINAL_STREAM_BYTES_MAX)
        from = status->output_bytes - WR_TERMINAL_STREAM_BYTES_MAX;
    wr_buf_init(&bytes, WR_AGENT_OUTPUT_BYTES_MAX * 2);
    wr_process_output(box->processes, reading->id, from, WR_AGENT_OUTPUT_BYTES_MAX, &bytes);
    uint64_t end = from + bytes.len;
    if (reading->search.len)
        put_matches(output, wr_buf_view(&bytes), reading->search);
    else
        put_output(output, wr_buf_view(&bytes), &args->arena);
    wr_buf_release(&bytes);
    if (output->is_error)
        return;
    *wr_process_cursor(box->processes, reading->id) = end;
    put_state(&output->text, reading->id, status, end);
}

/* ---- the tools ---- */

static bool get_wait(struct wr_tool_args *args, uint64_t usual_s, uint64_t *wait_ms)
{
    uint64_t seconds = usual_s;
    if (!wr_tool_args_may_number(args, "wait_seconds", &seconds))
        return false;
    *wait_ms = (seconds < WR_AGENT_WAIT_S_MAX ? seconds : WR_AGENT_WAIT_S_MAX) * 1000;
    return true;
}

void wr_tool_process_start(const struct wr_toolbox *box, struct wr_tool_args *args,
                           struct wr_tool_output *output)
{
    weir_span command;
    uint64_t wait_ms;
    struct reading reading = {0};
    struct wr_process_status status;

    if (!wr_tool_args_text(args, "command", &command) || !get_wait(args, WR_AGENT_WAIT_S, &wait_ms))
        return;
    const char *text = wr_tool_string(args, command);
    if (!text)
        return;
    const char *why = wr_process_start(box->processes, text, &reading.id);
    if (why) {
        wr_tool_fail(output, "the command could not be started: %s", why);
        return;
    }
    (void)wr_process_wait(box->processes, reading.id, wait_ms, NULL, &status);
    show_output(box, args, &reading, &status, output);
}

static bool get_id(const struct wr_toolbox *box, struct wr_tool_args *args, uint64_t *id,
                   struct wr_process_status *status)
{
    *id = 0;
    if (!wr_tool_args_may_number(args, "id", id))
        return false;
    if (!wr_process_look(box->processes, *id, status)) {
        wr_tool_fail(args->output,
                     "there is no process %llu, or no longer: process_start gives the id",
                     (unsigned long long)*id);
        return false;
    }
    return true;
}

void wr_tool_process_read(const struct wr_toolbox *box, struct wr_tool_args *args,
                          struct wr_tool_output *output)
{
    struct reading reading = {0};
    struct wr_process_status status;
    weir_span mode = WR_LIT("new");
    uint64_t wait_ms;

    if (!get_id(box, args, &reading.id, &status))
        return;
    reading.cursor = *wr_process_cursor(box->processes, reading.id);
    if (!wr_tool_args_may_text(args, "mode", &mode) ||
        !wr_tool_args_may_text(args, "search", &reading.search) || !get_wait(args, 0, &wait_ms))
        return;
    if (wr_span_is(mode, "all"))
        reading.cursor = 0;
    else if (wr_span_is(mode, "tail"))
        reading.is_tail = true;
    else if (!wr_span_is(mode, "new")) {
        wr_tool_fail(output, "mode is new, all or tail");
        return;
    }
    if (!wr_tool_args_may_number(args, "cursor", &reading.cursor))
        return;
    if (reading.is_tail)
        reading.cursor = 0;
    (void)wr_process_wait(box->processes, reading.id, wait_ms, &reading.cursor, &status);
    show_output(box, args, &reading, &status, output);
}

void wr_tool_process_stop(const struct wr_toolbox *box, struct wr_tool_args *args,
                          struct wr_tool_output *output)
{
    struct wr_process_status status;
    struct reading reading = {0};

    if (!get_id(box, args, &reading.id, &status))
        return;
    (void)wr_process_stop(box->processes, reading.id, &status);
    reading.cursor = *wr_process_cursor(box->processes, reading.id);
    show_output(box, args, &reading, &status, output);
}
