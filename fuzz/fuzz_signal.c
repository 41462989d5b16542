/* Oracles: the lines listed are enough; a text twice, in colour, or with lines behind it that say
 * nothing, has the same signals; and so has one where only a time or a process id differs. */
#include "condense/signal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/volatile.h"

enum { TEXT_BYTES_MAX = 1 << 20 };

struct scanned {
    struct wr_arena arena;
    struct wr_signal_set set;
};

static void scan(struct scanned *scanned, weir_span text, enum wr_output_kind kind)
{
    wr_arena_init(&scanned->arena, WR_ARENA_BYTES_MAX);
    if (wr_signal_scan(&scanned->set, &scanned->arena, text, kind))
        abort();
}

static void show(const char *what, const struct wr_signal *signal)
{
    if (signal)
        fprintf(stderr, "%s %s: %.*s\n", what, wr_signal_kind_text(signal->kind),
                (int)signal->text.len, signal->text.ptr);
}

static void must_equal(const struct wr_signal_set *a, const struct wr_signal_set *b,
                       const char *oracle)
{
    struct wr_signal_difference difference;
    if (wr_signal_set_equal(a, b, &difference))
        return;
    fprintf(stderr, "%s\n", oracle);
    show("missing", difference.missing);
    show("added", difference.added);
    abort();
}

static void check(const struct wr_signal_set *set, const struct wr_buf *other,
                  enum wr_output_kind kind, const char *oracle)
{
    struct scanned scanned;
    scan(&scanned, wr_buf_view(other), kind);
    must_equal(set, &scanned.set, oracle);
    wr_arena_release(&scanned.arena);
}

static void write_listed(struct wr_buf *out, weir_span text, const struct wr_signal_set *set)
{
    weir_span line;
    for (uint32_t number = 0; wr_span_line(&text, &line); number++)
        if (wr_signal_set_has_line(set, number)) {
            wr_buf_append(out, line);
            wr_buf_byte(out, '\n');
        }
}

static void write_coloured(struct wr_buf *out, weir_span text, unsigned step)
{
    for (size_t i = 0; i < text.len; i++) {
        if (i % step == 0)
            wr_buf_text(out, i % (2 * step) ? "\x1b[0m" : "\x1b[1;31m");
        wr_buf_byte(out, text.ptr[i]);
    }
}

static void write_prefixed(struct wr_buf *out, weir_span text, const char *prefix)
{
    weir_span line;
    while (wr_span_line(&text, &line)) {
        wr_buf_text(out, prefix);
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
}

static void check_prefixes(struct wr_buf *buf, weir_span text, enum wr_output_kind kind)
{
    static const char *const prefixes[][2] = {
        {"2024-01-02T03:04:05Z ", "2025-11-12T23:24:25Z "},
        {"app[12]: ", "app[98765]: "},
    };
    for (size_t i = 0; i < 2; i++) {
        struct scanned first;
        wr_buf_reset(buf);
        write_prefixed(buf, text, prefixes[i][0]);
        scan(&first, wr_buf_view(buf), kind);
        wr_buf_reset(buf);
        write_prefixed(buf, text, prefixes[i][1]);
        check(&first.set, buf, kind, "a time or a process id changed the signals");
        wr_arena_release(&first.arena);
    }
}

static void check_volatile(weir_span text)
{
    static char once[TEXT_BYTES_MAX * 2], twice[TEXT_BYTES_MAX * 4];
    size_t len = wr_volatile_write(once, sizeof(once), text);
    size_t again = wr_volatile_write(twice, sizeof(twice), (weir_span){once, len});
    if (len != again || memcmp(once, twice, len))
        abort();
}

static void check_all(weir_span text, enum wr_output_kind kind, unsigned step)
{
    struct scanned whole;
    struct wr_buf buf;
    scan(&whole, text, kind);
    wr_buf_init(&buf, 64 * TEXT_BYTES_MAX);

    write_listed(&buf, text, &whole.set);
    check(&whole.set, &buf, kind, "the lines listed are not enough");

    wr_buf_reset(&buf);
    wr_buf_append(&buf, text);
    wr_buf_text(&buf, "\n\nplain words\n  and more of them\n");
    check(&whole.set, &buf, kind, "lines without signals changed the signals");

    wr_buf_reset(&buf);
    wr_buf_append(&buf, text);
    wr_buf_text(&buf, "\n\nplain words\n");
    wr_buf_append(&buf, text);
    check(&whole.set, &buf, kind, "twice the text has other signals");

    if (text.len && !memchr(text.ptr, 0x1b, text.len)) {
        wr_buf_reset(&buf);
        write_coloured(&buf, text, step);
        check(&whole.set, &buf, kind, "colour changed the signals");
    }
    if (kind == WR_OUTPUT_PROCESS || kind == WR_OUTPUT_LOG || kind == WR_OUTPUT_TEST)
        check_prefixes(&buf, text, kind);
    wr_buf_release(&buf);
    wr_arena_release(&whole.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2 || len > TEXT_BYTES_MAX)
        return 0;
    weir_span text = {(const char *)bytes + 1, len - 1};
    check_volatile(text);
    check_all(text, (enum wr_output_kind)(bytes[0] % WR_OUTPUT_KINDS),
              1 + bytes[0] / WR_OUTPUT_KINDS);
    return 0;
}
