/* The arguments of a call. Models write them, so each of these functions says what is wrong in
 * words that the model can act on, as the call's erroneous result. null counts as "not given" and
 * "5" as 5, because models write both.
 */
#include "agent/tool_args.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"

void wr_tool_fail(struct wr_tool_output *output, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    wr_buf_reset(&output->text);
    wr_buf_text(&output->text, "Error: ");
    wr_buf_text(&output->text, text);
    output->is_error = true;
}

bool wr_tool_args_init(struct wr_tool_args *args, weir_span text, struct wr_tool_output *output)
{
    struct weir_err err = {0};

    *args = (struct wr_tool_args){.output = output};
    wr_arena_init(&args->arena, WR_AGENT_TOOL_BYTES_MAX);
    if (!wr_span_trim(text).len)
        text = WR_LIT("{}");
    if (wr_json_parse(&args->doc, &args->arena, text, NULL, &err)) {
        wr_tool_fail(output, "the arguments are not JSON: %s", err.text);
        return false;
    }
    if (!wr_json_is(&args->doc, 0, WR_JSON_OBJECT)) {
        wr_tool_fail(output, "the arguments must be a JSON object");
        return false;
    }
    return true;
}

void wr_tool_args_release(struct wr_tool_args *args)
{
    wr_arena_release(&args->arena);
}

/* NONE also for null, which models write for "not given". */
static wr_json_id find_arg(const struct wr_tool_args *args, const char *name)
{
    wr_json_id id = wr_json_find(&args->doc, 0, name);
    return wr_json_is(&args->doc, id, WR_JSON_NULL) ? WR_JSON_NONE : id;
}

bool wr_tool_args_may_text(struct wr_tool_args *args, const char *name, weir_span *text)
{
    wr_json_id id = find_arg(args, name);

    if (id == WR_JSON_NONE)
        return true;
    if (!wr_json_is(&args->doc, id, WR_JSON_STRING)) {
        wr_tool_fail(args->output, "'%s' must be a string", name);
        return false;
    }
    *text = wr_json_text(&args->doc, &args->arena, id);
    if (!text->ptr)
        wr_tool_fail(args->output, "out of memory");
    return text->ptr;
}

bool wr_tool_args_text(struct wr_tool_args *args, const char *name, weir_span *text)
{
    *text = (weir_span){NULL, 0};
    if (!wr_tool_args_may_text(args, name, text))
        return false;
    if (!text->ptr)
        wr_tool_fail(args->output, "'%s' is missing", name);
    return text->ptr;
}

/* Some models write numbers as strings. */
bool wr_tool_args_may_number(struct wr_tool_args *args, const char *name, uint64_t *number)
{
    wr_json_id id = find_arg(args, name);
    int64_t value;

    if (id == WR_JSON_NONE)
        return true;
    if (wr_json_i64(&args->doc, id, &value) && value >= 0) {
        *number = (uint64_t)value;
        return true;
    }
    if (wr_json_is(&args->doc, id, WR_JSON_STRING) &&
        wr_span_u64(wr_json_inner(&args->doc, id), number))
        return true;
    wr_tool_fail(args->output, "'%s' must be a whole number, 0 or more", name);
    return false;
}

bool wr_tool_args_may_bool(struct wr_tool_args *args, const char *name, bool *value)
{
    wr_json_id id = find_arg(args, name);

    if (id == WR_JSON_NONE)
        return true;
    *value = wr_json_is(&args->doc, id, WR_JSON_TRUE);
    if (*value || wr_json_is(&args->doc, id, WR_JSON_FALSE))
        return true;
    wr_tool_fail(args->output, "'%s' must be true or false", name);
    return false;
}

const char *wr_tool_path(struct wr_tool_args *args, const struct wr_toolbox *box, weir_span path)
{
    bool is_absolute = path.len && path.ptr[0] == '/';
    size_t root_bytes = is_absolute ? 0 : strlen(box->root) + 1;

    if (memchr(path.ptr, '\0', path.len) || root_bytes + path.len >= PATH_MAX) {
        wr_tool_fail(args->output, "that is no path");
        return NULL;
    }
    char *whole = wr_arena_alloc(&args->arena, root_bytes + path.len + 1);
    if (!whole) {
        wr_tool_fail(args->output, "out of memory");
        return NULL;
    }
    if (root_bytes)
        (void)snprintf(whole, root_bytes + 1, "%s/", box->root);
    if (path.len)
        memcpy(whole + root_bytes, path.ptr, path.len);
    whole[root_bytes + path.len] = '\0';
    return whole;
}

const char *wr_tool_string(struct wr_tool_args *args, weir_span text)
{
    char *copy = NULL;

    if (memchr(text.ptr, '\0', text.len)) {
        wr_tool_fail(args->output, "there is a NUL byte in it");
        return NULL;
    }
    copy = wr_arena_alloc(&args->arena, text.len + 1);
    if (!copy) {
        wr_tool_fail(args->output, "out of memory");
        return NULL;
    }
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}
