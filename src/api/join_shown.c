/* What the last of several answers shows of those before it: their parts in its list, their output
 * in its usage.
 */
#include "api/join_api.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- usage ---- */

static int64_t sum_before(const struct wr_join *j, bool is_reasoning)
{
    int64_t sum = 0;

    for (size_t i = 0; i + 1 < j->legs_count; i++) {
        int64_t tokens =
            is_reasoning ? j->legs[i].usage.reasoning_tokens : j->legs[i].usage.output_tokens;
        sum += tokens > 0 ? tokens : 0;
    }
    return sum;
}

static void add_tokens(struct wr_join *j, struct wr_splice *splice, wr_json_id id, int64_t more)
{
    int64_t now;

    if (more && id != WR_JSON_NONE && wr_json_i64(splice->doc, id, &now) && now >= 0 &&
        now <= WR_MODEL_TOKENS_MAX)
        wr_join_set_number(j, splice, id, now + more);
}

void wr_join_edit_usage(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                        wr_json_id usage)
{
    static const char *const outputs[] = {"completion_tokens", "output_tokens", "total_tokens",
                                          "outputTokens",      "totalTokens",   "eval_count"};
    static const char *const details[] = {"completion_tokens_details", "output_tokens_details"};

    if (!wr_json_is(doc, usage, WR_JSON_OBJECT))
        return;
    for (size_t i = 0; i < WR_COUNT_OF(outputs); i++)
        add_tokens(j, splice, wr_json_find(doc, usage, outputs[i]), sum_before(j, false));
    for (size_t i = 0; i < WR_COUNT_OF(details); i++) {
        wr_json_id inner = wr_json_find(doc, usage, details[i]);
        add_tokens(j, splice, wr_json_find(doc, inner, "reasoning_tokens"), sum_before(j, true));
    }
}

/* ---- parts ---- */

void wr_join_insert_shown(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                          wr_json_id list)
{
    wr_json_id first = wr_json_first(doc, list);

    for (size_t i = 0; i + 1 < j->legs_count; i++)
        for (size_t at = 0; at < j->legs[i].parts_count; at++)
            if (j->legs[i].parts[at].kind != WR_LEG_OWN)
                wr_splice_insert(splice, list, first, j->legs[i].parts[at].json);
}

void wr_join_remove_own(struct wr_splice *splice, const struct wr_json *doc, wr_json_id list)
{
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id type = wr_json_find(doc, at, "type");
        wr_json_id function = wr_json_find(doc, at, "function");
        wr_json_id use = wr_json_find(doc, at, "toolUse");
        bool is_call = type == WR_JSON_NONE || wr_json_text_is(doc, type, "function") ||
                       wr_json_text_is(doc, type, "function_call") ||
                       wr_json_text_is(doc, type, "tool_use");
        if (is_call && (wr_join_is_own(doc, wr_json_find(doc, at, "name")) ||
                        wr_join_is_own(doc, wr_json_find(doc, function, "name")) ||
                        wr_join_is_own(doc, wr_json_find(doc, use, "name"))))
            wr_splice_remove(splice, list, at);
    }
}
