/* Legs of the APIs whose answers are lists of blocks, Anthropic Messages and Bedrock's Converse:
 * what of a leg goes back, and as what.
 */
#include "api/join_api.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

weir_span wr_leg_input(struct wr_join *j, const struct wr_part *part)
{
    weir_span text = wr_buf_view(&part->text);
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status =
        text.len ? wr_json_parse(&doc, &j->scratch, text, NULL, NULL) : WEIR_SYNTAX;
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    return !status && wr_json_is(&doc, 0, WR_JSON_OBJECT) ? text : WR_LIT("{}");
}

static weir_span block_of(struct wr_join *j, const struct wr_part *part,
                          wr_leg_block_fn *write_block)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    write_block(j, &out, part);
    wr_join_fail_with(j, wr_buf_status(&out));
    weir_span block = wr_join_keep(j, wr_buf_view(&out));
    wr_buf_release(&out);
    return block;
}

static void add_block(struct wr_join *j, struct wr_leg *leg, const struct wr_part *part,
                      weir_span json, wr_leg_block_fn *write_block)
{
    bool is_own =
        part->kind == WR_PART_CALL && wr_span_is(wr_buf_view(&part->name), WR_OWN_TOOL_NAME);
    struct wr_leg_part *added = wr_leg_add(j, leg,
                                           is_own                       ? WR_LEG_OWN
                                           : part->kind == WR_PART_CALL ? WR_LEG_CALL
                                           : part->kind == WR_PART_TEXT ? WR_LEG_TEXT
                                                                        : WR_LEG_OTHER);
    if (!added)
        return;
    added->json = json.ptr ? json : block_of(j, part, write_block);
    added->id = wr_join_keep(j, wr_buf_view(&part->id));
    added->text = wr_join_keep(j, wr_buf_view(&part->text));
    if (is_own && !added->text.len)
        added->text = WR_LIT("{}");
    added->is_dropped = part->kind == WR_PART_TEXT && wr_text_is_blank(added->text);
}

void wr_leg_read_blocks(struct wr_join *j, struct wr_leg *leg, wr_leg_block_fn *write_block)
{
    struct wr_arena arena;
    struct wr_reply reply;

    wr_leg_read_answer(j, leg, &arena, &reply);
    bool is_whole = leg->bytes.len > 0 && reply.items_count == reply.parts_count;
    for (size_t i = 0; i < reply.parts_count && !j->is_broken; i++)
        add_block(j, leg, &reply.parts[i], is_whole ? reply.items[i] : (weir_span){NULL, 0},
                  write_block);
    wr_answer_release(&reply);
    wr_arena_release(&arena);
}

void wr_leg_write_parts(const struct wr_leg *leg, struct wr_buf *out)
{
    const char *comma = "";

    for (size_t i = 0; i < leg->parts_count; i++) {
        if (leg->parts[i].is_dropped)
            continue;
        wr_buf_text(out, comma);
        wr_buf_append(out, leg->parts[i].json);
        comma = ",";
    }
}

void wr_leg_write_results(const struct wr_leg *leg, struct wr_buf *out)
{
    for (size_t i = 0; i < leg->calls_count; i++) {
        wr_buf_text(out, i ? "," : "");
        wr_buf_append(out, leg->results[i]);
    }
}

void wr_leg_write_blocks(const struct wr_leg *leg, struct wr_buf *out)
{
    wr_buf_text(out, "{\"role\":\"assistant\",\"content\":[");
    wr_leg_write_parts(leg, out);
    wr_buf_text(out, "]},{\"role\":\"user\",\"content\":[");
    wr_leg_write_results(leg, out);
    wr_buf_text(out, "]}");
}
