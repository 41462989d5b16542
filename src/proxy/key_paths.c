#include "proxy/key_paths.h"

#include "api/api.h"
#include "base/ascii.h"
#include "base/span.h"

static bool is_below(weir_span path, weir_span front)
{
    return wr_span_starts(path, front) && (path.len == front.len || path.ptr[front.len] == '/');
}

/* Whether one of these stands at `at` in digits. */
static bool is_coded(weir_span path, size_t at, const char *const *codes, size_t codes_count)
{
    for (size_t k = 0; k < codes_count && path.ptr[at] == '%' && path.len - at > 2; k++)
        if (wr_lower(path.ptr[at + 1]) == codes[k][0] && wr_lower(path.ptr[at + 2]) == codes[k][1])
            return true;
    return false;
}

/* Whether some server may end the path before its end, or read a part of it as leading elsewhere:
 * what Weir counts goes by the end of a path, and the model may stand in it. A slash in digits is
 * one to some servers, and belongs to names of models (of Bedrock's) to others. */
static bool is_misleading(weir_span path)
{
    static const char *const ends[] = {"00", "23", "25", "2e", "3b", "3f", "5c"};
    static const char *const slash[] = {"2f"};
    size_t part_at = 0;

    for (size_t i = 0; i <= path.len; i++) {
        bool is_coded_slash = i < path.len && is_coded(path, i, slash, WR_COUNT_OF(slash));
        char c = i < path.len && !is_coded_slash ? path.ptr[i] : '/';
        weir_span part = wr_span_cut(path, part_at, i);
        if (c == '\\' || c == '#' || c == ';' ||
            (c == '%' && is_coded(path, i, ends, WR_COUNT_OF(ends))))
            return true;
        if (c != '/')
            continue;
        if (wr_span_is(part, ".") || wr_span_is(part, ".."))
            return true;
        part_at = i + (is_coded_slash ? 3 : 1);
    }
    return false;
}

/* A path that no server takes for another one: it has no parts that are empty or hidden, either. */
static bool is_plain(weir_span path)
{
    static const char *const slash[] = {"2f"};

    for (size_t i = 0; i < path.len; i++)
        if (is_coded(path, i, slash, WR_COUNT_OF(slash)) ||
            (i && path.ptr[i] == '/' && path.ptr[i - 1] == '/'))
            return false;
    return !is_misleading(path);
}

static bool lists_models(weir_span path)
{
    static const char *const others[] = {"/api/tags", "/api/ps", "/api/version"};

    for (size_t i = 0; i < WR_COUNT_OF(others); i++)
        if (wr_span_is(path, others[i]))
            return true;
    return wr_span_ends(path, WR_LIT("/models")) ||
           wr_span_find(path, WR_LIT("/models/"), 0) != SIZE_MAX;
}

/* An answer that is there is read, deleted, or cancelled. Whatever else is posted below answers may
 * be another spelling of what begins one, in capitals for instance, and nobody would count it. */
static bool asks_answer(const struct wr_head *head, weir_span path, bool is_read)
{
    weir_span id = wr_api_answer_id(path);
    weir_span verb = wr_span_from(path, id.len ? (size_t)(id.ptr + id.len - path.ptr) : 0);

    return id.len && (is_read || (wr_span_is(head->method, "DELETE") && !verb.len) ||
                      (wr_span_is(head->method, "POST") && wr_span_is(verb, "/cancel")));
}

bool wr_key_paths_allow(const struct wr_key_paths *paths, const struct wr_head *head,
                        weir_span target, bool is_model)
{
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");
    weir_span path = wr_target_path(target);
    bool is_known = asks_answer(head, path, is_read) || (is_read && lists_models(path));

    for (size_t i = 0; i < paths->count; i++)
        if (wr_span_is(paths->fronts[i], "/"))
            return true;
    if (is_model)
        return !is_misleading(path);
    for (size_t i = 0; i < paths->count && !is_known; i++)
        is_known = is_below(path, paths->fronts[i]);
    return is_known && is_plain(path);
}

static weir_status read_front(struct wr_key_paths *paths, struct wr_arena *arena,
                              struct wr_yaml *yaml, const yaml_node_t *node)
{
    weir_span text = wr_yaml_text(node);

    if (!wr_yaml_is_scalar(node) || !wr_span_starts(text, WR_LIT("/")) || !is_plain(text) ||
        wr_span_find(text, WR_LIT("?"), 0) != SIZE_MAX ||
        (text.len > 1 && text.ptr[text.len - 1] == '/'))
        return wr_yaml_fail(yaml, node, WEIR_INVALID,
                            "the beginning of a path is wanted here, such as /v1/embeddings, or "
                            "\"/\" for all");
    paths->fronts[paths->count++] = wr_arena_copy(arena, text);
    return wr_arena_status(arena);
}

weir_status wr_key_paths_read(struct wr_key_paths *paths, struct wr_arena *arena,
                              struct wr_yaml *yaml, yaml_node_t *value)
{
    weir_status status = WEIR_OK;

    paths->count = 0;
    if (value->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "a list of paths is wanted here");
    size_t count = (size_t)(value->data.sequence.items.top - value->data.sequence.items.start);
    if (count > WR_PROXY_KEY_PATHS_MAX)
        return wr_yaml_fail(yaml, value, WEIR_LIMIT, "%d paths at most", WR_PROXY_KEY_PATHS_MAX);
    for (size_t i = 0; i < count && !status; i++)
        status =
            read_front(paths, arena, yaml,
                       yaml_document_get_node(&yaml->doc, value->data.sequence.items.start[i]));
    return status;
}
