/* encode -- the ids of texts, for the comparison in compare.js.
 *
 * usage: encode ENCODING < records > records
 * In: for each text its number of bytes (32 bits, this machine's order), then the bytes. Out: for
 * each text the number of its tokens, then their ids, 32 bits each. Counting must agree with
 * encoding.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/span.h"
#include "tokens/bpe.h"

enum { ARENA_BYTES_MAX = 1024 * 1024 * 1024 };

struct encoder {
    struct wr_bpe *bpe;
    struct wr_bpe_scratch *scratch;
    struct wr_arena arena;
};

static int encode_one(struct encoder *encoder, weir_span text)
{
    struct wr_bpe_ids ids;
    size_t tokens;

    wr_arena_reset(&encoder->arena);
    if (wr_bpe_encode(encoder->scratch, &encoder->arena, text, &ids) ||
        wr_bpe_count(encoder->scratch, text, &tokens))
        return 1;
    if (tokens != ids.count) {
        fprintf(stderr, "encode: counted %zu tokens, encoded %zu\n", tokens, ids.count);
        return 1;
    }
    uint32_t count = (uint32_t)ids.count;
    return fwrite(&count, sizeof count, 1, stdout) != 1 ||
           fwrite(ids.ids, sizeof *ids.ids, ids.count, stdout) != ids.count;
}

static int encode_all(struct encoder *encoder)
{
    uint32_t bytes;
    while (fread(&bytes, sizeof bytes, 1, stdin) == 1) {
        /* A block of just the text's bytes, so that a sanitizer sees a read past them. */
        char *text = malloc(bytes ? bytes : 1);
        int failed = !text || fread(text, 1, bytes, stdin) != bytes ||
                     encode_one(encoder, (weir_span){text, bytes});
        free(text);
        if (failed)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    enum wr_bpe_encoding encoding;
    struct encoder encoder = {0};
    int failed = 1;

    if (argc != 2 || !wr_bpe_encoding_find(wr_span_of(argv[1]), &encoding)) {
        fputs("usage: encode o200k_base|cl100k_base < records\n", stderr);
        return 2;
    }
    wr_arena_init(&encoder.arena, ARENA_BYTES_MAX);
    if (!wr_bpe_new(&encoder.bpe, encoding, NULL) &&
        !wr_bpe_scratch_new(&encoder.scratch, encoder.bpe))
        failed = encode_all(&encoder);
    wr_bpe_scratch_free(encoder.scratch);
    wr_bpe_free(encoder.bpe);
    wr_arena_release(&encoder.arena);
    return failed;
}
