/* Reading and splicing a chat request, beside simdjson's DOM and beside memcpy, in one run.
 * usage: bench_json FILE...   the files' texts become the tool results of a 2 MB request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "bench/clock.h"
#include "json/json.h"
#include "json/splice.h"
#include "json/write.h"

bool peer_parse(const char *text, size_t len);
size_t peer_parse_minify(const char *text, size_t len);
const char *peer_name(void);

enum { BODY_BYTES = 2 * 1000 * 1000, ROUNDS = 200, FILE_BYTES_MAX = 1 << 20 };

struct bench {
    weir_span body;
    struct wr_arena arena;
    struct wr_buf out;
    char *copy;
    enum wr_json_path path;
    bool ok;
};

static void add_result(struct wr_json_writer *w, int n, weir_span text)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "call_%d", n);
    wr_json_write_object(w);
    wr_json_member_text(w, "role", (weir_span){"tool", 4});
    wr_json_member_text(w, "tool_call_id", (weir_span){id, strlen(id)});
    wr_json_member_text(w, "content", text);
    wr_json_write_object_end(w);
}

static size_t read_file(const char *path, char *into)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t len = fread(into, 1, FILE_BYTES_MAX, file);
    fclose(file);
    return len;
}

static void make_body(struct wr_buf *body, int files_count, char **files)
{
    struct wr_json_writer w;
    char *text = malloc(FILE_BYTES_MAX);
    if (!text)
        exit(2);
    wr_json_write_init(&w, body);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "model", (weir_span){"gpt-5", 5});
    wr_json_write_key(&w, "messages");
    wr_json_write_array(&w);
    for (int n = 0; body->len < BODY_BYTES; n++) {
        size_t len = read_file(files[n % files_count], text);
        if (len)
            add_result(&w, n, (weir_span){text, len > 8192 ? 8192 : len});
    }
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    free(text);
}

static void run_memcpy(void *user)
{
    struct bench *b = user;
    memcpy(b->copy, b->body.ptr, b->body.len);
    b->ok &= b->copy[b->body.len - 1] == '}';
}

static void run_parse(void *user)
{
    struct bench *b = user;
    struct wr_json doc;
    struct wr_json_options options = {.path = b->path};
    wr_arena_reset(&b->arena);
    b->ok &= wr_json_parse(&doc, &b->arena, b->body, &options, NULL) == WEIR_OK;
}

static void run_splice(void *user)
{
    struct bench *b = user;
    struct wr_json doc;
    struct wr_splice splice;
    struct wr_json_options options = {.path = b->path};
    wr_arena_reset(&b->arena);
    wr_buf_reset(&b->out);
    b->ok &= wr_json_parse(&doc, &b->arena, b->body, &options, NULL) == WEIR_OK;
    wr_splice_init(&splice, &doc, &b->arena);
    uint32_t strings = 0;
    for (uint32_t i = 0; i < doc.nodes_count; i++)
        if (doc.nodes[i].kind == WR_JSON_STRING && !doc.nodes[i].is_key && strings++ % 10 == 0)
            wr_splice_set_text(&splice, i, (weir_span){"[left out: 120 lines \"x\"]\n", 26});
    b->ok &= wr_splice_apply(&splice, &b->out, NULL) == WEIR_OK;
}

static void run_peer_parse(void *user)
{
    struct bench *b = user;
    b->ok &= peer_parse(b->body.ptr, b->body.len);
}

static void run_peer_minify(void *user)
{
    struct bench *b = user;
    b->ok &= peer_parse_minify(b->body.ptr, b->body.len) > 0;
}

static void print_row(const char *what, double took_s, double peer_s, double copy_s, size_t bytes)
{
    printf("%-44s %8.2f GB/s  %6.2fx peer  %5.1fx memcpy's time\n", what,
           (double)bytes / took_s * 1e-9, peer_s / took_s, took_s / copy_s);
}

int main(int argc, char **argv)
{
    struct wr_buf body;
    struct bench b = {.ok = true};
    if (argc < 2) {
        fputs("usage: bench_json FILE...\n", stderr);
        return 2;
    }
    wr_buf_init(&body, WR_JSON_BODY_BYTES_MAX);
    make_body(&body, argc - 1, argv + 1);
    b.body = wr_buf_view(&body);
    b.copy = malloc(b.body.len);
    wr_arena_init(&b.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b.out, 2u * WR_JSON_BODY_BYTES_MAX);
    if (!b.copy || body.status)
        return 2;

    double copy_s = bench_best_s(run_memcpy, &b, ROUNDS);
    double peer_parse_s = bench_best_s(run_peer_parse, &b, ROUNDS);
    double peer_minify_s = bench_best_s(run_peer_minify, &b, ROUNDS);
    double parse_s = bench_best_s(run_parse, &b, ROUNDS);
    double splice_s = bench_best_s(run_splice, &b, ROUNDS);
    b.path = WR_JSON_PATH_SCALAR;
    double scalar_s = bench_best_s(run_parse, &b, ROUNDS);

    printf("json: a chat body of %zu bytes, best of %d, peer is %s\n", b.body.len, ROUNDS,
           peer_name());
    print_row("peer: parse", peer_parse_s, peer_parse_s, copy_s, b.body.len);
    print_row("weir: parse, UTF-8 checked", parse_s, peer_parse_s, copy_s, b.body.len);
    print_row("weir: parse, scalar path", scalar_s, peer_parse_s, copy_s, b.body.len);
    print_row("peer: parse + minify", peer_minify_s, peer_minify_s, copy_s, b.body.len);
    print_row("weir: parse + splice of 1/10 of the strings", splice_s, peer_minify_s, copy_s,
              b.body.len);
    puts(b.ok ? "all rounds gave the right answer" : "A ROUND FAILED");

    wr_buf_release(&body);
    wr_buf_release(&b.out);
    wr_arena_release(&b.arena);
    free(b.copy);
    return b.ok ? 0 : 1;
}
