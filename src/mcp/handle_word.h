/* handle_word.h -- the handle in what a model wrote where a handle was asked for.
 *
 * Models copy more or less than the handle: the whole line that names it, brackets or quotes around
 * it, another case, a `-` for the `_`, the digits alone, or all 64 digits of the hash. Each of
 * these names one text as long as it holds one run of 20 (or 64) hex digits.
 */
#ifndef WR_MCP_HANDLE_WORD_H
#define WR_MCP_HANDLE_WORD_H

#include "weir/handle.h"

enum wr_handle_word {
    WR_HANDLE_WORD_NONE,
    WR_HANDLE_WORD_ONE,
    WR_HANDLE_WORD_SEVERAL, /* different ones; `handle` is the first */
};

enum wr_handle_word wr_handle_word_read(weir_span text, weir_handle *handle);

#endif
