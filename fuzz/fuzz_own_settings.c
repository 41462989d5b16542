/* Settings files of agents, as people write them. What is found in one must be good for a command
 * line: a name of letters and digits, an address that begins as one. And what strict JSON holds is
 * found whether or not comments and commas stand around it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "launch/own_settings.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct wr_provider *list, size_t count)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    must(count <= WR_PROVIDERS_MAX);
    for (size_t i = 0; i < count; i++) {
        must(list[i].name[0] && !list[i].name[strspn(list[i].name, letters)]);
        must(!strncmp(list[i].url, "http://", 7) || !strncmp(list[i].url, "https://", 8));
        for (size_t j = 0; j < i; j++)
            must(strcmp(list[i].name, list[j].name));
    }
}

static void compare(const struct wr_own *a, const struct wr_own *b)
{
    must(a->upstreams_count == b->upstreams_count && a->providers_count == b->providers_count);
    for (size_t i = 0; i < a->upstreams_count; i++)
        must(!strcmp(a->upstreams[i].name, b->upstreams[i].name) &&
             !strcmp(a->upstreams[i].url, b->upstreams[i].url));
}

static void read_json(enum wr_own_format format, weir_span text)
{
    struct wr_own own = {.upstreams_count = 0}, decorated = {.upstreams_count = 0};
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_buf more;

    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(&more, WR_LAUNCH_SETTINGS_BYTES_MAX);
    wr_own_read_json(&own, &arena, format, text);
    check(own.upstreams, own.upstreams_count);
    check(own.providers, own.providers_count);
    if (!wr_json_parse(&doc, &arena, text, NULL, NULL)) {
        wr_buf_text(&more, "// a comment, and \"\n/* another */");
        wr_buf_append(&more, text);
        wr_buf_text(&more, "/* the last");
        wr_own_read_json(&decorated, &arena, format, wr_buf_view(&more));
        compare(&own, &decorated);
    }
    wr_buf_release(&more);
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_own own = {.upstreams_count = 0};
    struct wr_arena arena;

    if (size < 1 || size > 64 * 1024)
        return 0;
    weir_span text = {(const char *)data + 1, size - 1};
    if (data[0] % 4 < 3) {
        static const enum wr_own_format formats[] = {WR_OWN_CLAUDE, WR_OWN_OPENCODE, WR_OWN_PI};
        read_json(formats[data[0] % 4], text);
        return 0;
    }
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_own_read_codex(&own, &arena, text);
    check(own.upstreams, own.upstreams_count);
    check(own.providers, own.providers_count);
    wr_arena_release(&arena);
    return 0;
}
