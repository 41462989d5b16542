/* yaml.h -- a YAML document as libyaml's nodes, and failures that name their line and column.
 *
 * 1. One document of UTF-8 text. Nodes belong to it and die with wr_yaml_close().
 * 2. What is wrong is said in the struct weir_err given at the start: "line 3, column 14: ...",
 * with the byte in at_byte. Only lack of memory has no place.
 * 3. It is at most WR_YAML_DEPTH_MAX deep and has at most WR_YAML_EVENTS_MAX events (WEIR_LIMIT).
 * 4. An alias is the node it names, so a document may be a graph: walk it to a fixed depth only.
 */
#ifndef WR_BASE_YAML_H
#define WR_BASE_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "weir/span.h"
#include "weir/status.h"

struct wr_yaml {
    yaml_document_t doc;
    weir_span text;       /* borrowed */
    struct weir_err *err; /* borrowed; may be NULL */
};

/* Reads `text`, which outlives the document, as does `err`. On failure there is nothing to close.
 */
WEIR_MUST_USE weir_status wr_yaml_open(struct wr_yaml *yaml, weir_span text, struct weir_err *err);
void wr_yaml_close(struct wr_yaml *yaml);

/* NULL: the document is empty. */
yaml_node_t *wr_yaml_root(struct wr_yaml *yaml);

/* Says what is wrong with `node`, and returns `code`. */
weir_status wr_yaml_fail(struct wr_yaml *yaml, const yaml_node_t *node, weir_status code,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

static inline bool wr_yaml_is_scalar(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE;
}

/* The text of a scalar; of anything else it is empty. */
weir_span wr_yaml_text(const yaml_node_t *node);

/* The value under `key` of a mapping; NULL where there is none, or `mapping` is none. */
yaml_node_t *wr_yaml_find(struct wr_yaml *yaml, const yaml_node_t *mapping, const char *key);

/* Calls `fn` for every member in order, up to the first failure, which is returned. The keys are
 * scalars, and none is there twice: else the mapping fails before any call. `count_max` is the most
 * members there may be. */
typedef weir_status wr_yaml_member_fn(void *user, yaml_node_t *key, yaml_node_t *value);
WEIR_MUST_USE weir_status wr_yaml_each(struct wr_yaml *yaml, const yaml_node_t *mapping,
                                       size_t count_max, wr_yaml_member_fn *fn, void *user);

#endif
