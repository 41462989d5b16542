/* references.c -- ${NAME} and {file: PATH} in weir.yaml.
 *
 * libyaml's nodes are changed in place: it frees a scalar's text and a mapping's pairs with free(),
 * so a text of ours may take their place. */
#include "proxy/references.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { NAME_BYTES_MAX = 128, FILE_BYTES_MAX = 64 * 1024 };

/* ---- variables ---- */

static weir_status put_variable(struct wr_yaml *yaml, const yaml_node_t *node, weir_span inside,
                                struct wr_buf *out)
{
    size_t at = wr_span_find(inside, WR_LIT(":-"), 0);
    weir_span name = wr_span_cut(inside, 0, at == SIZE_MAX ? inside.len : at);
    char text[NAME_BYTES_MAX];

    if (!name.len || name.len >= sizeof(text))
        return wr_yaml_fail(yaml, node, WEIR_INVALID, "${NAME} names a variable");
    (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
    const char *value = getenv(text);
    if (value)
        wr_buf_text(out, value);
    else if (at != SIZE_MAX)
        wr_buf_append(out, wr_span_from(inside, at + strlen(":-")));
    else
        return wr_yaml_fail(yaml, node, WEIR_INVALID,
                            "the variable %s is not set; ${%s:-TEXT} says what else", text, text);
    return WEIR_OK;
}

static weir_status expand(struct wr_yaml *yaml, const yaml_node_t *node, struct wr_buf *out)
{
    weir_span rest = wr_yaml_text(node);
    weir_status status = WEIR_OK;

    while (rest.len && !status) {
        size_t at = wr_span_find(rest, WR_LIT("${"), 0);
        if (at == SIZE_MAX) {
            wr_buf_append(out, rest);
            break;
        }
        bool is_escaped = at && rest.ptr[at - 1] == '$';
        wr_buf_append(out, wr_span_cut(rest, 0, at - is_escaped));
        rest = wr_span_from(rest, at + strlen("${"));
        if (is_escaped) {
            wr_buf_text(out, "${");
            continue;
        }
        const char *end = rest.len ? memchr(rest.ptr, '}', rest.len) : NULL;
        if (!end)
            return wr_yaml_fail(yaml, node, WEIR_INVALID, "a } is missing behind ${");
        size_t bytes = (size_t)(end - rest.ptr);
        status = put_variable(yaml, node, wr_span_cut(rest, 0, bytes), out);
        rest = wr_span_from(rest, bytes + 1);
    }
    return status ? status : wr_buf_status(out);
}

/* ---- nodes ---- */

static weir_status become(yaml_node_t *node, weir_span text)
{
    char *copy = malloc(text.len + 1);

    if (!copy)
        return WEIR_NOMEM;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (node->type == YAML_MAPPING_NODE)
        free(node->data.mapping.pairs.start);
    else
        free(node->data.scalar.value);
    node->type = YAML_SCALAR_NODE;
    node->data.scalar.value = (yaml_char_t *)copy;
    node->data.scalar.length = text.len;
    node->data.scalar.style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return WEIR_OK;
}

static weir_status resolve_scalar(struct wr_yaml *yaml, yaml_node_t *node)
{
    struct wr_buf text;

    if (wr_span_find(wr_yaml_text(node), WR_LIT("${"), 0) == SIZE_MAX)
        return WEIR_OK;
    wr_buf_init(&text, WR_PROXY_CONFIG_BYTES_MAX);
    weir_status status = expand(yaml, node, &text);
    if (!status)
        status = become(node, wr_buf_view(&text));
    wr_buf_release(&text);
    return status;
}

/* {file: PATH} and nothing else; NULL: it is another mapping. */
static yaml_node_t *path_of(struct wr_yaml *yaml, const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE ||
        node->data.mapping.pairs.top - node->data.mapping.pairs.start != 1)
        return NULL;
    return wr_yaml_find(yaml, node, "file");
}

static weir_status resolve_file(struct wr_yaml *yaml, yaml_node_t *node, yaml_node_t *path)
{
    weir_status status = resolve_scalar(yaml, path);
    char name[4096], text[FILE_BYTES_MAX + 1];
    weir_span said = wr_yaml_text(path);

    if (status)
        return status;
    if (!said.len || said.len >= sizeof(name))
        return wr_yaml_fail(yaml, path, WEIR_INVALID, "the path of a file is wanted here");
    (void)snprintf(name, sizeof(name), "%.*s", (int)said.len, said.ptr);
    FILE *file = fopen(name, "re");
    if (!file)
        return wr_yaml_fail(yaml, path, WEIR_INVALID, "this file cannot be read: %s",
                            strerror(errno));
    size_t bytes = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    weir_span held = wr_span_trim((weir_span){text, bytes});
    if (bytes > FILE_BYTES_MAX || !held.len)
        return wr_yaml_fail(yaml, path, WEIR_INVALID, "this file holds no value: %s",
                            held.len ? "it is too long" : "it is empty");
    return become(node, held);
}

static bool has_own_place(weir_span key)
{
    static const char *const keys[] = {"key", "access_key", "secret_key", "session_token"};

    for (size_t i = 0; i < WR_COUNT_OF(keys); i++)
        if (wr_span_is(key, keys[i]))
            return true;
    return false;
}

static weir_status resolve_value(struct wr_yaml *yaml, yaml_node_t *node, int depth);

static weir_status resolve_pairs(struct wr_yaml *yaml, yaml_node_t *node, int depth)
{
    weir_status status = WEIR_OK;

    for (yaml_node_pair_t *at = node->data.mapping.pairs.start;
         at < node->data.mapping.pairs.top && !status; at++) {
        weir_span key = wr_yaml_text(yaml_document_get_node(&yaml->doc, at->key));
        bool is_models = !depth && (wr_span_is(key, "models") || wr_span_is(key, "aliases"));
        if (!is_models && !has_own_place(key))
            status = resolve_value(yaml, yaml_document_get_node(&yaml->doc, at->value), depth + 1);
    }
    return status;
}

/* A document may be a graph: it is walked to a fixed depth. */
static weir_status resolve_value(struct wr_yaml *yaml, yaml_node_t *node, int depth)
{
    weir_status status = WEIR_OK;
    yaml_node_t *path = path_of(yaml, node);

    if (depth > WR_YAML_DEPTH_MAX)
        return wr_yaml_fail(yaml, node, WEIR_LIMIT, "this is nested too deep");
    if (path && depth)
        return resolve_file(yaml, node, path);
    if (node->type == YAML_SCALAR_NODE)
        return resolve_scalar(yaml, node);
    if (node->type == YAML_MAPPING_NODE)
        return resolve_pairs(yaml, node, depth);
    if (node->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *at = node->data.sequence.items.start;
             at < node->data.sequence.items.top && !status; at++)
            status = resolve_value(yaml, yaml_document_get_node(&yaml->doc, *at), depth + 1);
    return status;
}

weir_status wr_references_resolve(struct wr_yaml *yaml)
{
    yaml_node_t *root = wr_yaml_root(yaml);
    return root ? resolve_value(yaml, root, 0) : WEIR_OK;
}
