/* Condenses one tool output for a caller who has no request. The call that it came from is made up
 * from the options, so that the same rules as in a request find out what kind of output it is. */
#include "weir/condense.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/condense.h"
#include "json/write.h"
#include "policy/stage.h"

/* A text of so many bytes says more than what could stand for it. */
enum { WHOLE_BYTES = 2000 };

static void write_argument(struct wr_json_writer *w, const char *key, weir_span value)
{
    if (!value.len)
        return;
    wr_json_member_text(w, key, value);
}

/* The call as an agent would have made it, as far as the options tell. */
static weir_status find_kind(const struct weir_condense_options *o, weir_span text,
                             struct wr_arena *arena, enum wr_output_kind *kind)
{
    struct wr_output_hint hint = {.command = o->command, .path = o->path};
    weir_span tool = o->tool.len      ? o->tool
                     : o->command.len ? WR_LIT("Bash")
                     : o->path.len    ? WR_LIT("Read")
                                      : WR_LIT("");
    struct wr_tool_handles handles;
    struct wr_json_writer w;
    struct wr_buf arguments;

    wr_buf_init(&arguments, WR_JSON_BODY_BYTES_MAX);
    wr_json_write_init(&w, &arguments);
    wr_json_write_object(&w);
    write_argument(&w, "command", o->command);
    write_argument(&w, "file_path", o->path);
    wr_json_write_object_end(&w);
    weir_status status = wr_buf_status(&arguments);
    if (!status)
        status = wr_tool_call(&handles, arena, tool, wr_buf_view(&arguments), WR_LIT(""));
    if (!status) {
        hint.origin = wr_output_origin_of(handles.kind);
        if (!hint.path.len)
            hint.path = handles.path;
        *kind = wr_output_kind(&hint, text);
    }
    wr_buf_release(&arguments);
    return status;
}

static size_t budget_of(const struct weir_condense_options *o, weir_span text)
{
    if (o->budget_bytes)
        return o->budget_bytes;
    return text.len / 4 > WHOLE_BYTES ? text.len / 4 : WHOLE_BYTES;
}

/* Hands the result over; its memory is the arena's, which the caller owns from now on. */
static weir_status fill_condensed(struct weir_condensed *condensed, struct wr_arena *arena,
                                  const struct wr_condensed *c, enum wr_output_kind kind)
{
    struct weir_lines *lines = WR_ARENA_ARRAY(arena, struct weir_lines, c->kept_count);
    if (!lines)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < c->kept_count; i++)
        lines[i] =
            (struct weir_lines){.first = (uint64_t)c->kept[i].first + 1, .last = c->kept[i].end};
    *condensed = (struct weir_condensed){.text = c->text,
                                         .kind = wr_output_kind_text(kind),
                                         .is_same = c->is_same,
                                         .lines_total = c->lines_total,
                                         .lines = lines,
                                         .lines_count = c->kept_count,
                                         .owned = arena};
    return WEIR_OK;
}

weir_status weir_condense(weir_span text, const struct weir_condense_options *options,
                          struct weir_condensed *condensed, struct weir_err *err)
{
    struct weir_condense_options own;
    struct wr_condensed c;
    weir_status status = WR_OPTIONS_READ(&own, options, err);

    *condensed = (struct weir_condensed){.owned = NULL};
    if (status)
        return status;
    struct wr_condense_input input = {.text = text,
                                      .command = own.command,
                                      .path = own.path,
                                      .query = own.query,
                                      .focus = own.focus,
                                      .bytes_budget = budget_of(&own, text)};
    struct wr_arena *arena = malloc(sizeof(*arena));
    if (!arena)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    status = find_kind(&own, text, arena, &input.kind);
    if (!status)
        status = wr_condense_within(&c, arena, &input);
    if (!status)
        status = fill_condensed(condensed, arena, &c, input.kind);
    if (!status)
        return WEIR_OK;
    wr_arena_release(arena);
    free(arena);
    return wr_fail(err, status, 0, "%s", weir_status_text(status));
}

void weir_condensed_release(struct weir_condensed *condensed)
{
    if (!condensed->owned)
        return;
    wr_arena_release(condensed->owned);
    free(condensed->owned);
    condensed->owned = NULL;
}
