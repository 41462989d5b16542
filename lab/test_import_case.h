/* test_import_case.h -- for tests of the importers: a small log, and what one of its requests says.
 */
#ifndef WR_LAB_TEST_IMPORT_CASE_H
#define WR_LAB_TEST_IMPORT_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/import.h"
#include "lab/test_quoted.h"

/* A quote in a log or in what is expected of it is written ' here. */
struct import_case {
    const char *behaviour, *agent, *log;
    uint32_t requests_count;
    uint32_t request;         /* which one is looked at */
    const char *messages;     /* what it has: see write_message() */
    enum wr_import_note note; /* counted once; NOTES: nothing is noted, but ids may be made */
};

static inline void write_field(const struct wr_json *m, wr_json_id object, const char *key,
                               struct wr_buf *out)
{
    wr_json_id value = wr_json_find(m, object, key);
    if (wr_json_is(m, value, WR_JSON_STRING))
        wr_buf_append(out, wr_json_inner(m, value));
}

/* "role: text", " [id name arguments]" for each call; of a result "id name: text". */
static inline void write_message(const struct wr_json *m, struct wr_buf *out)
{
    wr_json_id calls = wr_json_find(m, 0, "tool_calls");
    bool is_result = wr_json_text_is(m, wr_json_find(m, 0, "role"), "tool");
    write_field(m, 0, is_result ? "tool_call_id" : "role", out);
    wr_buf_text(out, is_result ? " " : "");
    write_field(m, 0, "name", out);
    wr_buf_text(out, ": ");
    write_field(m, 0, "content", out);
    WR_JSON_EACH(call, m, calls) {
        wr_json_id function = wr_json_find(m, call, "function");
        wr_buf_text(out, " [");
        write_field(m, call, "id", out);
        wr_buf_text(out, " ");
        write_field(m, function, "name", out);
        wr_buf_text(out, " ");
        write_field(m, function, "arguments", out);
        wr_buf_text(out, "]");
    }
}

static inline void write_messages(const struct wr_session *s, uint32_t n, struct wr_buf *out)
{
    struct wr_session_view view = wr_session_view(s, n);
    for (uint32_t i = 0; i < wr_session_view_count(&view); i++) {
        wr_buf_text(out, i ? "\n" : "");
        wr_buf_text(out, wr_session_view_thinks(&view, i) ? "(thinks) " : "");
        write_message(wr_session_view_message(&view, i), out);
    }
}

static inline void check_notes(const struct import_case *c, const struct wr_import *import)
{
    for (int i = 0; i < WR_IMPORT_NOTES; i++) {
        uint64_t expected = (enum wr_import_note)i == c->note;
        bool is_free = i == WR_IMPORT_CALL_RENAMED;
        if (import->notes[i] != expected && !is_free)
            fail_msg("%s\nnote: %llu %s", c->behaviour, (unsigned long long)import->notes[i],
                     wr_import_note_text((enum wr_import_note)i));
    }
}

static inline void check_case(const struct import_case *c)
{
    struct wr_arena arena;
    struct wr_import import;
    struct wr_buf got;
    struct weir_err err = {0};

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&got, 1 << 20);
    if (wr_import_read(&import, &arena, quoted(&arena, c->log), &err))
        fail_msg("%s\n%s, at byte %zu", c->behaviour, err.text, err.at_byte);
    if (strcmp(import.agent, c->agent))
        fail_msg("%s\nread as %s", c->behaviour, import.agent);
    const struct wr_session *s = &import.sessions[0];
    if (s->requests_count != c->requests_count)
        fail_msg("%s\n%u requests", c->behaviour, s->requests_count);
    write_messages(s, c->request, &got);
    weir_span expected = quoted(&arena, c->messages);
    if (!wr_span_eq(wr_buf_view(&got), expected))
        fail_msg("%s\n%.*s\nexpected\n%.*s", c->behaviour, (int)got.len, got.bytes,
                 (int)expected.len, expected.ptr);
    check_notes(c, &import);
    wr_buf_release(&got);
    wr_arena_release(&arena);
}

/* Every amount of memory that is too little is refused as that, and leaks nothing. */
static inline void check_memory(const struct import_case *c)
{
    weir_status status = WEIR_LIMIT;
    for (size_t bytes = 64; status; bytes += bytes / 2) {
        struct wr_arena arena, own;
        struct wr_import import;
        wr_arena_init(&own, WR_ARENA_BYTES_MAX);
        wr_arena_init(&arena, bytes);
        status = wr_import_read(&import, &arena, quoted(&own, c->log), NULL);
        if (status && status != WEIR_LIMIT)
            fail_msg("%s\n%s with %zu bytes", c->behaviour, weir_status_text(status), bytes);
        wr_arena_release(&arena);
        wr_arena_release(&own);
    }
}

#endif
