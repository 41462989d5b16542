/* Oracle: condense_check.h, for any text, kind and budget. The first byte is the kind, the second
 * the share of the text that is the budget, the third how many bytes of the text are words that
 * matter, and whether line numbers are left out. */
#include "tests/condense_check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_BYTES = 3, TEXT_BYTES_MAX = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < HEADER_BYTES || len - HEADER_BYTES > TEXT_BYTES_MAX)
        return 0;
    weir_span text = {(const char *)bytes + HEADER_BYTES, len - HEADER_BYTES};
    size_t words_len = bytes[2] < text.len ? bytes[2] : text.len;
    struct wr_condense_input input = {
        .text = text,
        .kind = (enum wr_output_kind)(bytes[0] % WR_OUTPUT_KINDS),
        .command = {"", 0},
        .path = {"", 0},
        .query = {text.ptr, words_len / 4},
        .focus = {text.ptr, words_len},
        .number_every = bytes[2] % 3 ? 0 : 4,
        .bytes_budget = text.len * bytes[1] / 256,
    };
    const char *broken = condense_check(&input, wr_condense);
    if (broken) {
        fprintf(stderr, "%s: broken: %s\n", wr_output_kind_text(input.kind), broken);
        abort();
    }
    return 0;
}
