/* embed.h -- a file of the tree inside the library or the program, as it was when that was built.
 *
 * The assembler puts the file in as it is (.incbin): no generated source, no copy that can be out
 * of date, and nothing to find at run time. Paths are from the root of the tree, where the compiler
 * runs; the Makefile knows the files under data/ and web/ as what such a source depends on.
 *
 *     WR_EMBED(wr_odds_data, "data/odds.tsv");
 *     weir_span text = WR_EMBEDDED(wr_odds_data);
 */
#ifndef WR_BASE_EMBED_H
#define WR_BASE_EMBED_H

#include "weir/span.h"

/* How the assembler of the target says it: Mach-O has other sections, and a '_' before C's names.
 */
#ifdef __APPLE__
#define WR_EMBED_PLACE  "__TEXT,__const"
#define WR_EMBED_PREFIX "_"
#define WR_EMBED_HIDING ".private_extern "
#else
#define WR_EMBED_PLACE  ".rodata"
#define WR_EMBED_PREFIX ""
#define WR_EMBED_HIDING ".hidden "
#endif

/* Tests that are linked against a shared library of everything see its names (Makefile). */
#ifdef WR_SHARED_TESTS
#define WR_EMBED_HIDDEN
#define WR_EMBED_HIDE(name)
#else
#define WR_EMBED_HIDDEN     __attribute__((visibility("hidden")))
#define WR_EMBED_HIDE(name) WR_EMBED_HIDING WR_EMBED_PREFIX #name "\n"
#endif

#define WR_EMBED_BEGIN(name) \
    ".globl " WR_EMBED_PREFIX #name "\n" WR_EMBED_HIDE(name) WR_EMBED_PREFIX #name ":\n"

/* Once in one source, outside functions. A NUL byte follows that is no part of the span. */
#define WR_EMBED(name, path)                                                                 \
    __asm__(".pushsection " WR_EMBED_PLACE "\n.balign 64\n" WR_EMBED_BEGIN(                  \
        name) ".incbin \"" path "\"\n" WR_EMBED_BEGIN(name##_end) ".byte 0\n.popsection\n"); \
    extern const unsigned char name[] WR_EMBED_HIDDEN;                                       \
    extern const unsigned char name##_end[] WR_EMBED_HIDDEN

#define WR_EMBEDDED(name) ((weir_span){(const char *)(name), (size_t)(name##_end - (name))})

#endif
