/* embedded.h -- the files of data/ that the library carries inside it, so that it finds them from
 * any working directory.
 *
 * They are pulled in by the assembler (.incbin) with paths from the root of the tree, where the
 * build runs.
 */
#ifndef WR_TOKENS_EMBEDDED_H
#define WR_TOKENS_EMBEDDED_H

#include "weir/span.h"

/* data/unicode_classes.bin, made by tools/make-unicode-classes; read by unicode_class.h. */
extern const unsigned char wr_embedded_unicode_classes[];

/* data/o200k_base.bpe and data/cl100k_base.bpe, made by tools/make-bpe-table. */
weir_span wr_embedded_o200k_base(void);
weir_span wr_embedded_cl100k_base(void);

#endif
