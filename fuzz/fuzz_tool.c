/* Any bytes as a tool's name, arguments and result: no crash, and
 *   memory     every span of the handles can be read;
 *   numbers    are within their meaning, or say that they are not known;
 *   again      the same call gives the same handles;
 *   the middle of a long result does not matter.
 * The input is name, arguments and result, with a 0xff byte between them; a first byte below 0x20
 * stands for a known name.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/path.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static const char *const names[32] = {
    "Read",
    "Grep",
    "Glob",
    "Bash",
    "TaskOutput",
    "Edit",
    "exec_command",
    "write_stdin",
    "apply_patch",
    "exec",
    "wait",
    "shell",
    "read_file",
    "read",
    "grep",
    "bash",
    "edit",
    "write",
    "str_replace_editor",
    "read_files",
    "run_commands",
    "open",
    "scroll_down",
    "terminal",
    "find",
    "run_shell_command",
    "grep_search",
    "read_many_files",
    "view",
    "memory",
    "mcp__f__move_file",
    "weir_recall",
};

static unsigned sum;

static void touch(weir_span span)
{
    for (size_t i = 0; i < span.len; i++)
        sum += (unsigned char)span.ptr[i];
}

static void check_handles(const struct wr_tool_handles *handles)
{
    const weir_span spans[] = {handles->path,    handles->query,     handles->process_id,
                               handles->cursor,  handles->mode,      handles->command,
                               handles->workdir, handles->spill_path};
    for (size_t i = 0; i < WR_COUNT_OF(spans); i++)
        touch(spans[i]);
    MUST((unsigned)handles->dialect < WR_TOOL_DIALECTS &&
         (unsigned)handles->kind < WR_EFFECT_KINDS);
    MUST(handles->next_offset >= -1 && handles->total_lines >= -1);
    MUST(handles->has_exit_code || !handles->exit_code);
    for (size_t i = 0; i < handles->effects_count; i++) {
        touch(handles->effects[i].path);
        touch(handles->effects[i].query);
        touch(handles->effects[i].program);
        touch(handles->effects[i].rev);
    }
}

static void must_be_same(const struct wr_tool_handles *a, const struct wr_tool_handles *b)
{
    MUST(a->dialect == b->dialect && a->kind == b->kind && a->cut == b->cut);
    MUST(a->start_line == b->start_line && a->end_line == b->end_line);
    MUST(a->next_offset == b->next_offset && a->total_lines == b->total_lines);
    MUST(a->exit_code == b->exit_code && a->is_error == b->is_error &&
         a->is_running == b->is_running);
    MUST(wr_span_eq(a->path, b->path) && wr_span_eq(a->spill_path, b->spill_path));
    MUST(wr_span_eq(a->process_id, b->process_id) && a->effects_count == b->effects_count);
}

static weir_span take_part(weir_span *rest)
{
    const char *end = memchr(rest->ptr, 0xff, rest->len);
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    weir_span part = {rest->ptr, len};
    *rest = wr_span_cut(*rest, end ? len + 1 : len, rest->len);
    return part;
}

/* The result with a gap in its middle that is larger than what is read, filled with `byte`. */
static weir_span widen(struct wr_arena *arena, weir_span result, char byte)
{
    enum { GAP_BYTES = WR_TOOL_RESULT_HEAD_BYTES + WR_TOOL_RESULT_TAIL_BYTES };
    size_t half = result.len / 2;
    char *bytes = wr_arena_alloc(arena, result.len + 2 * GAP_BYTES + 64);
    MUST(bytes);
    memcpy(bytes, result.ptr, half);
    memset(bytes + half, '\n', 2 * GAP_BYTES + 64);
    memset(bytes + half + GAP_BYTES, byte, 64);
    memcpy(bytes + half + 2 * GAP_BYTES + 64, result.ptr + half, result.len - half);
    return (weir_span){bytes, result.len + 2 * GAP_BYTES + 64};
}

static void check_call(weir_span name, weir_span arguments, weir_span result)
{
    struct wr_arena arena;
    struct wr_tool_handles first, second, third;
    weir_span nowhere = {"", 0};

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    MUST(wr_tool_call(&first, &arena, name, arguments, nowhere) == WEIR_OK);
    MUST(wr_tool_call(&second, &arena, name, arguments, nowhere) == WEIR_OK);
    MUST(wr_tool_call(&third, &arena, name, arguments, WR_LIT("/d")) == WEIR_OK);
    check_handles(&first);
    must_be_same(&first, &second);
    wr_tool_result(&first, widen(&arena, result, 'x'), false);
    wr_tool_result(&second, widen(&arena, result, ' '), false);
    wr_tool_result(&third, result, true);
    check_handles(&first);
    check_handles(&third);
    must_be_same(&first, &second);

    const struct wr_tool_handles *calls[] = {&first, NULL, &second, &third};
    struct wr_stale stale[4];
    MUST(wr_stale_mark(stale, &arena, calls, 4, nowhere) == WEIR_OK);
    for (uint32_t i = 0; i < 4; i++)
        MUST(stale[i].by == UINT32_MAX || (stale[i].by >= i && stale[i].by < 4));
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    weir_span rest = {(const char *)bytes, len};
    if (!len)
        return 0;
    weir_span name = take_part(&rest);
    if (name.len && (unsigned char)name.ptr[0] < 0x20)
        name = wr_span_of(names[(unsigned char)name.ptr[0]]);
    weir_span arguments = take_part(&rest);
    check_call(name, arguments, take_part(&rest));
    return 0;
}
