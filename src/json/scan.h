/* scan.h -- finding the end of a JSON string and of what needs no unescaping in it, the loops where
 * the reader spends its time.
 *
 * A scanner starts behind the opening quote and stops at the closing one or at the first byte that
 * may not stand in a string. All scanners agree, byte for byte, on where they stop and why; the
 * tests run every one the machine has against the scalar one.
 */
#ifndef WR_JSON_SCAN_H
#define WR_JSON_SCAN_H

#include <stdbool.h>

#include "weir/span.h"

enum wr_scan_end {
    WR_SCAN_QUOTE,      /* `at` is the closing quote */
    WR_SCAN_CONTROL,    /* `at` is a byte below 0x20 */
    WR_SCAN_BAD_ESCAPE, /* `at` is the backslash of an escape that JSON does not have */
    WR_SCAN_BAD_UTF8,   /* `at` is the first byte of a sequence that is not UTF-8 */
    WR_SCAN_OPEN,       /* the text ended first; `at` is its length */
};

struct wr_scan {
    size_t at;
    enum wr_scan_end end;
    bool escaped; /* a backslash was seen */
    bool ascii;   /* no byte above 0x7F was seen */
};

typedef void wr_scan_fn(struct wr_scan *scan, weir_span text, size_t from);

wr_scan_fn wr_scan_scalar;

/* Copies the text up to its first backslash, or all of it, and returns how much that is. `out` has
 * room for all of the text: what stands there behind the copy is anything. */
typedef size_t wr_copy_plain_fn(char *out, weir_span text);

wr_copy_plain_fn wr_copy_plain_scalar;

#if defined(__x86_64__)
wr_scan_fn wr_scan_avx2; /* call only where the machine has AVX2 */
wr_copy_plain_fn wr_copy_plain_avx2;
#endif

#endif
