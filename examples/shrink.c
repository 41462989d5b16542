/* Makes a request smaller: the largest tool result gives way to a note, all other bytes stay.
 *
 *   shrink REQUEST.json > SMALLER.json
 *
 * The request may be of any of the three APIs. What was done is said on stderr.
 *   cc shrink.c $(pkg-config --cflags --libs weir)
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

/* The whole file, to be freed by the caller; an empty span where it cannot be read. */
static weir_span read_file(const char *path)
{
    weir_span none = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return none;
    size_t len = 0, cap = 1 << 16;
    char *bytes = malloc(cap);
    while (bytes) {
        len += fread(bytes + len, 1, cap - len, file);
        if (len < cap)
            break;
        char *grown = realloc(bytes, cap *= 2);
        if (!grown)
            free(bytes);
        bytes = grown;
    }
    fclose(file);
    return bytes ? (weir_span){bytes, len} : none;
}

static size_t part_bytes(const struct weir_segment *segment)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < segment->parts_count; i++)
        bytes += segment->parts[i].end - segment->parts[i].start;
    return bytes;
}

/* Lists the segments and returns the largest result that may be edited, or WEIR_NONE. */
static uint32_t list_segments(const struct weir_request *request)
{
    uint32_t largest = WEIR_NONE;
    size_t largest_bytes = 0;
    struct weir_segment segment;

    for (uint32_t i = 0; weir_request_segment(request, i, &segment) == WEIR_OK; i++) {
        size_t bytes = segment.span.end - segment.span.start;
        fprintf(stderr, "%4u  %-9s  %-11s  %8zu bytes  %.*s\n", i, weir_role_name(segment.role),
                weir_kind_name(segment.kind), bytes, (int)segment.tool.len, segment.tool.ptr);
        if (segment.kind != WEIR_KIND_TOOL_RESULT || part_bytes(&segment) <= largest_bytes)
            continue;
        largest = i;
        largest_bytes = part_bytes(&segment);
    }
    return largest;
}

static weir_status leave_out(struct weir_request *request, uint32_t index, struct weir_err *err)
{
    char note[100];
    weir_span text;
    weir_status status = weir_request_text(request, index, &text);
    if (status)
        return status;
    int len = snprintf(note, sizeof(note), "[a result of %zu bytes was left out here]", text.len);
    return weir_request_edit(request, index, (weir_span){note, (size_t)len}, err);
}

static weir_status shrink(struct weir_request *request, weir_span body, struct weir_err *err)
{
    struct weir_write_report report;
    weir_span smaller;
    uint32_t largest = list_segments(request);
    weir_status status = largest == WEIR_NONE ? WEIR_OK : leave_out(request, largest, err);
    if (!status)
        status = weir_request_write(request, &smaller, &report, err);
    if (status)
        return status;

    fwrite(smaller.ptr, 1, smaller.len, stdout);
    if (report.first_reason)
        fprintf(stderr, "nothing was changed: %s\n", report.first_reason);
    else if (largest == WEIR_NONE)
        fprintf(stderr, "nothing was changed: there is no tool result\n");
    else
        fprintf(stderr, "segment %u was replaced: %zu bytes became %zu\n", largest, body.len,
                smaller.len);
    return WEIR_OK;
}

int main(int argc, char **argv)
{
    struct weir_request *request = NULL;
    struct weir_err err = {0};
    weir_span body = argc == 2 ? read_file(argv[1]) : (weir_span){NULL, 0};

    if (!body.ptr) {
        fprintf(stderr, "usage: shrink REQUEST.json > SMALLER.json\n");
        return 2;
    }
    weir_status status = weir_request_new(body, NULL, &request, &err);
    if (!status)
        status = shrink(request, body, &err);
    if (status)
        fprintf(stderr, "%s: %s at byte %zu\n", argv[1],
                err.code ? err.text : weir_status_text(status), err.at_byte);
    weir_request_free(request);
    free((char *)body.ptr);
    return status ? 1 : 0;
}
