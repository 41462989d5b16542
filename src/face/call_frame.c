/* The frame around one call: its arguments, and an answer that is whole, or an error alone. */
#include "face/call_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "face/face.h"

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
