/* Reads YAML with libyaml, and adds what libyaml lacks: limits, and places in bytes.
 *
 * A text is read twice. The first pass (check_limits) takes events only and stops at the first
 * thing that is too deep or too much; the second loads the document. One pass would not do: libyaml
 * looks through all open brackets at each token, so a deeply nested text takes time in the square
 * of its depth before anybody could refuse it.
 *
 * libyaml counts characters and skips a byte order mark without counting it, while our errors name
 * the byte as well. So the mark is cut off before libyaml sees the text, and byte_at() turns its
 * count of characters into an offset. Only errors of the encoding come as bytes already.
 *
 * A second document in the same text is an error: nobody would read it.
 */
#include "base/yaml.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

static const char bom[] = "\xEF\xBB\xBF";

/* The byte at which the character stands that libyaml gave number `characters`. */
static size_t byte_at(weir_span text, size_t characters)
{
    size_t at = wr_span_starts(text, wr_span_of(bom)) ? strlen(bom) : 0;
    for (; at < text.len; at++) {
        bool begins = ((unsigned char)text.ptr[at] & 0xC0) != 0x80;
        if (begins && !characters--)
            break;
    }
    return at;
}

static void line_and_column(weir_span text, size_t byte, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < byte && i < text.len; i++) {
        bool is_break = text.ptr[i] == '\n';
        *line += is_break;
        *column = is_break ? 1 : *column + (((unsigned char)text.ptr[i] & 0xC0) != 0x80);
    }
}

static weir_status parse_failed(const yaml_parser_t *parser, weir_span text, struct weir_err *err)
{
    yaml_mark_t mark = parser->problem_mark;
    size_t line, column;
    /* libyaml does not always report that it ran out of memory. But it names every other problem,
     * so an error without a problem is one of memory. */
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory to read YAML");
    if (parser->error != YAML_READER_ERROR)
        return wr_fail(err, WEIR_SYNTAX, byte_at(text, mark.index), "line %zu, column %zu: %s",
                       mark.line + 1, mark.column + 1, parser->problem);
    line_and_column(text, parser->problem_offset, &line, &column);
    return wr_fail(err, WEIR_SYNTAX, parser->problem_offset, "line %zu, column %zu: %s", line,
                   column, parser->problem);
}

static weir_status check_end(yaml_parser_t *parser, struct wr_yaml *yaml)
{
    yaml_document_t more;
    if (!yaml_parser_load(parser, &more))
        return parse_failed(parser, yaml->text, yaml->err);
    yaml_node_t *root = yaml_document_get_root_node(&more);
    weir_status status =
        root ? wr_yaml_fail(yaml, root, WEIR_INVALID, "a second document begins here; one is read")
             : WEIR_OK;
    yaml_document_delete(&more);
    return status;
}

static weir_status open_yaml_parser(yaml_parser_t *parser, weir_span text, struct weir_err *err)
{
    if (!yaml_parser_initialize(parser))
        return wr_fail(err, WEIR_NOMEM, 0, "no memory to read YAML");
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    weir_span rest =
        wr_span_starts(text, wr_span_of(bom)) ? wr_span_cut(text, strlen(bom), text.len) : text;
    yaml_parser_set_input_string(parser, (const unsigned char *)(rest.ptr ? rest.ptr : ""),
                                 rest.len);
    return WEIR_OK;
}

static weir_status fail_over_limit(weir_span text, const yaml_event_t *event, const char *what,
                                   struct weir_err *err)
{
    return wr_fail(err, WEIR_LIMIT, byte_at(text, event->start_mark.index),
                   "line %zu, column %zu: %s", event->start_mark.line + 1,
                   event->start_mark.column + 1, what);
}

static int depth_change(yaml_event_type_t type)
{
    bool begins = type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
    bool ends = type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
    return begins - ends;
}

/* The first pass: reads events up to the first thing that is too deep or too much. */
static weir_status check_limits(weir_span text, struct weir_err *err)
{
    yaml_parser_t parser;
    weir_status status = open_yaml_parser(&parser, text, err);
    if (status)
        return status;
    bool is_over = false;
    for (int depth = 0, count = 0; !status && !is_over; count++) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = parse_failed(&parser, text, err);
            break;
        }
        depth += depth_change(event.type);
        is_over = event.type == YAML_STREAM_END_EVENT;
        if (depth > WR_YAML_DEPTH_MAX)
            status = fail_over_limit(text, &event, "this is nested too deep", err);
        else if (count >= WR_YAML_EVENTS_MAX)
            status = fail_over_limit(text, &event, "there is too much in this document", err);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

weir_status wr_yaml_open(struct wr_yaml *yaml, weir_span text, struct weir_err *err)
{
    yaml_parser_t parser;

    *yaml = (struct wr_yaml){.text = text, .err = err};
    weir_status status = check_limits(text, err);
    if (!status)
        status = open_yaml_parser(&parser, text, err);
    if (status)
        return status;
    if (!yaml_parser_load(&parser, &yaml->doc)) {
        status = parse_failed(&parser, text, err);
    } else if (wr_yaml_root(yaml)) {
        status = check_end(&parser, yaml);
        if (status)
            yaml_document_delete(&yaml->doc);
    }
    yaml_parser_delete(&parser);
    return status;
}

void wr_yaml_close(struct wr_yaml *yaml)
{
    yaml_document_delete(&yaml->doc);
}

yaml_node_t *wr_yaml_root(struct wr_yaml *yaml)
{
    return yaml_document_get_root_node(&yaml->doc);
}

weir_status wr_yaml_fail(struct wr_yaml *yaml, const yaml_node_t *node, weir_status code,
                         const char *format, ...)
{
    char said[WEIR_ERR_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said, sizeof(said), format, args);
    va_end(args);
    return wr_fail(yaml->err, code, byte_at(yaml->text, node->start_mark.index),
                   "line %zu, column %zu: %s", node->start_mark.line + 1,
                   node->start_mark.column + 1, said);
}

weir_span wr_yaml_text(const yaml_node_t *node)
{
    if (!wr_yaml_is_scalar(node))
        return (weir_span){"", 0};
    return (weir_span){(const char *)node->data.scalar.value, node->data.scalar.length};
}

yaml_node_t *wr_yaml_find(struct wr_yaml *yaml, const yaml_node_t *mapping, const char *key)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
         p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = yaml_document_get_node(&yaml->doc, p->key);
        if (wr_yaml_is_scalar(name) && wr_span_is(wr_yaml_text(name), key))
            return yaml_document_get_node(&yaml->doc, p->value);
    }
    return NULL;
}

static weir_status check_keys(struct wr_yaml *yaml, const yaml_node_t *mapping)
{
    const yaml_node_pair_t *start = mapping->data.mapping.pairs.start;
    for (const yaml_node_pair_t *p = start; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->doc, p->key);
        weir_span name = wr_yaml_text(key);
        if (!wr_yaml_is_scalar(key))
            return wr_yaml_fail(yaml, key, WEIR_INVALID, "a name is wanted here");
        for (const yaml_node_pair_t *q = start; q < p; q++)
            if (wr_span_eq(wr_yaml_text(yaml_document_get_node(&yaml->doc, q->key)), name))
                return wr_yaml_fail(yaml, key, WEIR_INVALID, "'%.*s' is here twice",
                                    (int)(name.len < 60 ? name.len : 60), name.ptr);
    }
    return WEIR_OK;
}

weir_status wr_yaml_each(struct wr_yaml *yaml, const yaml_node_t *mapping, size_t count_max,
                         wr_yaml_member_fn *fn, void *user)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return wr_yaml_fail(yaml, mapping, WEIR_INVALID, "`name: value` pairs are wanted here");
    const yaml_node_pair_t *start = mapping->data.mapping.pairs.start;
    const yaml_node_pair_t *top = mapping->data.mapping.pairs.top;
    if ((size_t)(top - start) > count_max)
        return wr_yaml_fail(yaml, mapping, WEIR_LIMIT, "%zu entries: there may be at most %zu",
                            (size_t)(top - start), count_max);
    weir_status status = check_keys(yaml, mapping);
    for (const yaml_node_pair_t *p = start; p < top && !status; p++)
        status = fn(user, yaml_document_get_node(&yaml->doc, p->key),
                    yaml_document_get_node(&yaml->doc, p->value));
    return status;
}
