#include "proxy/refusal.h"

#include <stdlib.h>

#include "api/answer.h"
#include "base/hash.h"
#include "models/window.h"
#include "net/http.h"

enum { REFUSAL_BYTES_MAX = WR_NET_QUEUED_BYTES_MAX };

static weir_span copy_into(struct wr_buf *text, weir_span span)
{
    size_t at = text->len;
    wr_buf_append(text, span);
    return (weir_span){text->bytes + at, span.len};
}

/* The buffer has room for all of it before the first span points into it. */
static bool copy_head(struct wr_refusal *refusal, const struct wr_head *head)
{
    size_t bytes = head->target.len + 1;
    struct wr_head *copy = refusal->head;

    for (size_t i = 0; i < head->headers_count; i++)
        bytes += head->headers[i].name.len + head->headers[i].value.len;
    wr_buf_reserve(&refusal->text, bytes);
    if (wr_buf_status(&refusal->text))
        return false;
    *copy = *head;
    copy->target = copy_into(&refusal->text, head->target);
    for (size_t i = 0; i < head->headers_count; i++) {
        copy->headers[i].name = copy_into(&refusal->text, head->headers[i].name);
        copy->headers[i].value = copy_into(&refusal->text, head->headers[i].value);
    }
    return true;
}

bool wr_refusal_begin(struct wr_refusal *refusal, const struct wr_head *head)
{
    *refusal = (struct wr_refusal){.head = calloc(1, sizeof(struct wr_head))};
    wr_buf_init(&refusal->text, WR_NET_HEAD_BYTES_MAX * 2);
    wr_buf_init(&refusal->body, REFUSAL_BYTES_MAX);
    refusal->is_held = refusal->head && copy_head(refusal, head);
    if (!refusal->is_held)
        wr_refusal_release(refusal);
    return refusal->is_held;
}

bool wr_refusal_add(struct wr_refusal *refusal, weir_span bytes)
{
    if (bytes.len > REFUSAL_BYTES_MAX - refusal->body.len)
        return false;
    wr_buf_append(&refusal->body, bytes);
    return !wr_buf_status(&refusal->body);
}

static weir_status add_decoded(void *user, weir_span bytes)
{
    wr_buf_append(user, bytes);
    return wr_buf_status(user);
}

static struct wr_remedy judge_text(weir_span text, const struct wr_refused *refused)
{
    struct wr_remedy remedy = {.reason = NULL};
    struct wr_overflow overflow;

    if (wr_error_is_unbound(text)) {
        if (refused->was_changed)
            remedy = (struct wr_remedy){.reason = "thinking_bound", .bind = WR_BOUND_RAW};
        else if (refused->may_project)
            remedy = (struct wr_remedy){.reason = "thinking_bound", .bind = WR_BOUND_PROJECTED};
    } else if (refused->was_projected && wr_overflow_read(text, &overflow)) {
        uint64_t tokens = refused->tokens_sent;
        struct wr_overflow_sent sent = {.prompt_tokens =
                                            tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX,
                                        .answer_tokens = refused->answer_tokens};
        remedy.overflow_tokens = wr_overflow_cap(&overflow, &sent);
        remedy.counted_tokens = overflow.used_tokens;
        remedy.reason = remedy.overflow_tokens ? "context_overflow" : NULL;
    }
    return remedy;
}

struct wr_remedy wr_refusal_judge(const struct wr_refusal *refusal,
                                  const struct wr_refused *refused)
{
    struct wr_buf text;
    wr_buf_init(&text, REFUSAL_BYTES_MAX * 4);
    struct wr_decoder *decoder =
        wr_decoder_new(wr_coding_of(wr_head_find(refusal->head, "content-encoding")),
                       REFUSAL_BYTES_MAX * 4, add_decoded, &text);
    struct wr_remedy remedy = {.reason = NULL};

    if (decoder && !wr_decoder_feed(decoder, wr_buf_view(&refusal->body)))
        remedy = judge_text(wr_buf_view(&text), refused);
    wr_decoder_free(decoder);
    wr_buf_release(&text);
    if (remedy.reason)
        remedy.refused = wr_hash128_seeded(refused->body, (wr_hash128){0, 0});
    return remedy;
}

bool wr_remedy_fits(const struct wr_remedy *remedy, weir_span body, bool is_changed)
{
    wr_hash128 hash = wr_hash128_seeded(body, (wr_hash128){0, 0});

    if (hash.low == remedy->refused.low && hash.high == remedy->refused.high)
        return false;
    return remedy->bind == WR_BOUND_PROJECTED ? is_changed
           : remedy->bind == WR_BOUND_RAW     ? !is_changed
                                              : true;
}

void wr_refusal_release(struct wr_refusal *refusal)
{
    free(refusal->head);
    wr_buf_release(&refusal->text);
    wr_buf_release(&refusal->body);
    *refusal = (struct wr_refusal){.is_held = false};
}
