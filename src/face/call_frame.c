/* The frame around one call: its arguments, and an answer that is whole, or an error alone. */
#include "face/call_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "face/face.h"

/* ---- call args ---- */

static const char *arg_kind_text(enum wr_arg_kind kind)
{
    switch (kind) {
    case WR_ARG_TEXT:
        return "a string";
    case WR_ARG_NAME:
        return "a string without a NUL in it";
    case WR_ARG_COUNT:
        return "a whole number from 0";
    case WR_ARG_TIME:
        return "a whole number";
    case WR_ARG_BOOL:
        return "true or false";
    case WR_ARG_ARRAY:
        return "an array";
    case WR_ARG_OBJECT:
        return "an object, or a string that holds one";
    }
    return "something else";
}

static weir_status read_text_arg(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id,
                                 weir_span *text)
{
    *text = wr_json_text(doc, arena, id);
    return text->ptr ? WEIR_OK : wr_arena_status(arena);
}

static weir_status read_name_arg(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id,
                                 const char **name)
{
    weir_span text;
    weir_status status = read_text_arg(doc, arena, id, &text);
    if (status)
        return status;
    if (text.len && memchr(text.ptr, '\0', text.len))
        return WEIR_INVALID;
    char *copy = wr_arena_zalloc(arena, text.len + 1);
    if (!copy)
        return wr_arena_status(arena);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    *name = copy;
    return WEIR_OK;
}

static weir_status read_count_arg(const struct wr_json *doc, wr_json_id id, uint64_t *count)
{
    int64_t number;
    if (!wr_json_i64(doc, id, &number) || number < 0)
        return WEIR_INVALID;
    *count = (uint64_t)number;
    return WEIR_OK;
}

/* WEIR_INVALID: the value is not of the argument's kind. */
static weir_status read_arg_value(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id,
                                  const struct wr_arg *arg)
{
    enum wr_json_kind kind = wr_json_kind(doc, id);

    switch (arg->kind) {
    case WR_ARG_TEXT:
        return kind == WR_JSON_STRING ? read_text_arg(doc, arena, id, arg->target) : WEIR_INVALID;
    case WR_ARG_NAME:
        return kind == WR_JSON_STRING ? read_name_arg(doc, arena, id, arg->target) : WEIR_INVALID;
    case WR_ARG_COUNT:
        return read_count_arg(doc, id, arg->target);
    case WR_ARG_TIME:
        return wr_json_i64(doc, id, arg->target) ? WEIR_OK : WEIR_INVALID;
    case WR_ARG_BOOL:
        if (kind != WR_JSON_TRUE && kind != WR_JSON_FALSE)
            return WEIR_INVALID;
        *(bool *)arg->target = kind == WR_JSON_TRUE;
        return WEIR_OK;
    case WR_ARG_ARRAY:
        if (kind != WR_JSON_ARRAY)
            return WEIR_INVALID;
        *(weir_span *)arg->target = wr_json_raw(doc, id);
        return WEIR_OK;
    case WR_ARG_OBJECT:
        if (kind == WR_JSON_STRING)
            return read_text_arg(doc, arena, id, arg->target);
        if (kind != WR_JSON_OBJECT)
            return WEIR_INVALID;
        *(weir_span *)arg->target = wr_json_raw(doc, id);
        return WEIR_OK;
    }
    return WEIR_INVALID;
}

static weir_status read_arg_member(const struct wr_json *doc, struct wr_arena *arena,
                                   wr_json_id key, const struct wr_arg *args, size_t args_count,
                                   struct weir_err *err)
{
    wr_json_id value = wr_json_value(key);
    size_t i = 0;

    while (i < args_count && !wr_json_text_is(doc, key, args[i].name))
        i++;
    if (i == args_count) {
        weir_span name = wr_json_inner(doc, key);
        return wr_fail(err, WEIR_INVALID, doc->nodes[key].start, "there is no member '%.*s' here",
                       (int)(name.len < 60 ? name.len : 60), name.ptr);
    }
    if (wr_json_kind(doc, value) == WR_JSON_NULL)
        return WEIR_OK;
    weir_status status = read_arg_value(doc, arena, value, &args[i]);
    if (status == WEIR_INVALID)
        return wr_fail(err, WEIR_INVALID, doc->nodes[value].start, "'%s' is to be %s", args[i].name,
                       arg_kind_text(args[i].kind));
    return status ? wr_fail(err, status, 0, "%s", weir_status_text(status)) : WEIR_OK;
}

weir_status wr_args_read(weir_span json, struct wr_arena *arena, const struct wr_arg *args,
                         size_t args_count, struct weir_err *err)
{
    struct wr_json doc;
    weir_status status = WEIR_OK;

    if (!json.len)
        return WEIR_OK;
    status = wr_json_parse(&doc, arena, json, NULL, err);
    if (!status && wr_json_kind(&doc, 0) != WR_JSON_OBJECT)
        status = wr_fail(err, WEIR_INVALID, 0, "the arguments of a call are an object");
    if (status)
        return status;
    for (wr_json_id key = wr_json_first(&doc, 0); key != WR_JSON_NONE && !status;
         key = wr_json_next(&doc, 0, key))
        status = read_arg_member(&doc, arena, key, args, args_count, err);
    return status;
}

/* ---- call frame ---- */

void wr_call_begin(struct wr_call *call)
{
    if (call->called)
        *call->called = (struct weir_called){.json = NULL};
    wr_arena_init(&call->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&call->out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&call->w, &call->out);
    wr_json_write_object(&call->w);
}

weir_status wr_call_args(struct wr_call *call, const struct wr_arg *args, size_t args_count)
{
    return wr_args_read(call->json, &call->arena, args, args_count, &call->err);
}

weir_status wr_call_find_text(struct wr_call *call, const char *member, weir_span *text)
{
    if (!call->beside.ptr)
        return WEIR_OK;
    if (text->ptr)
        return wr_fail(&call->err, WEIR_INVALID, 0, "'%s' is given twice", member);
    *text = call->beside;
    return WEIR_OK;
}

static weir_status put_member(struct wr_call *call, const char *member, weir_span text,
                              uint64_t *replaced_count)
{
    weir_status status = wr_valid_text(&call->arena, text, &text, replaced_count);
    if (!status)
        wr_json_member_text(&call->w, member, text);
    return status;
}

weir_status wr_call_put_text(struct wr_call *call, const char *member, weir_span text, bool is_same,
                             uint64_t *replaced_count)
{
    struct weir_called *called = call->called;
    uint64_t ignored;

    replaced_count = replaced_count ? replaced_count : &ignored;
    *replaced_count = 0;
    if (!called)
        return put_member(call, member, text, replaced_count);
    if (is_same && call->beside.ptr) {
        called->bytes = call->beside;
        return WEIR_OK;
    }
    char *copy = malloc(text.len + 1);
    if (!copy)
        return wr_fail(&call->err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    called->owned = copy;
    called->bytes = (weir_span){copy, text.len};
    return WEIR_OK;
}

/* ---- the end ---- */

const char *wr_face_status_name(weir_status status)
{
    static const char *const names[] = {
#define X(name, text) "WEIR_" #name,
        WEIR_STATUS_MAP(X)
#undef X
    };
    return (size_t)status < WR_COUNT_OF(names) ? names[status] : "unknown";
}

/* The whole answer anew: the error, and nothing of what was begun. */
static void write_error(struct wr_call *call, weir_status status)
{
    bool is_said = call->err.code == status && call->err.text[0];
    weir_span text = wr_span_of(is_said ? call->err.text : weir_status_text(status));
    uint64_t replaced_count;

    /* A name that a message quotes may be cut within a letter. */
    wr_arena_reset(&call->arena);
    if (wr_valid_text(&call->arena, text, &text, &replaced_count))
        text = wr_span_of(weir_status_text(status));
    wr_buf_release(&call->out);
    wr_buf_init(&call->out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&call->w, &call->out);
    wr_json_write_object(&call->w);
    wr_json_member_object(&call->w, "error");
    wr_json_member_word(&call->w, "status", wr_face_status_name(status));
    wr_json_member_text(&call->w, "text", text);
    wr_json_member_number(&call->w, "at_byte", is_said ? call->err.at_byte : 0);
    wr_json_write_object_end(&call->w);
    wr_json_write_object_end(&call->w);
}

weir_status wr_call_end(struct wr_call *call, weir_status status, char **answered,
                        struct weir_err *err)
{
    wr_json_write_object_end(&call->w);
    if (!status)
        status = wr_buf_status(&call->out);
    if (status)
        write_error(call, status);
    wr_buf_byte(&call->out, '\0');
    bool is_whole = !wr_buf_status(&call->out);
    *answered = is_whole ? call->out.bytes : NULL;
    if (!is_whole) {
        wr_buf_release(&call->out);
        status = status ? status : WEIR_NOMEM;
    }
    wr_arena_release(&call->arena);
    if (status && call->err.code != status)
        (void)wr_fail(&call->err, status, 0, "%s", weir_status_text(status));
    if (err && status)
        *err = call->err;
    return status;
}

weir_status wr_call_end_beside(struct wr_call *call, weir_status status, struct weir_err *err)
{
    struct weir_called *called = call->called;

    status = wr_call_end(call, status, &called->json, err);
    called->json_bytes = called->json ? call->out.len - 1 : 0;
    if (status) {
        free(called->owned);
        called->owned = NULL;
        called->bytes = (weir_span){NULL, 0};
    }
    return status;
}

void weir_called_release(struct weir_called *called)
{
    free(called->json);
    free(called->owned);
    *called = (struct weir_called){.json = NULL};
}

void weir_call_free(char *answer)
{
    free(answer);
}
