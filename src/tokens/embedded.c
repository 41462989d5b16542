#include "tokens/embedded.h"

#if defined(__APPLE__)
#define READ_ONLY_SECTION ".const_data\n"
#define SYMBOL(name)      "_" name
#else
#define READ_ONLY_SECTION ".section .rodata\n"
#define SYMBOL(name)      name
#endif

#define EMBED(name, path)                                                                        \
    __asm__(READ_ONLY_SECTION ".globl " SYMBOL(                                                  \
        name) "\n"                                                                               \
              ".globl " SYMBOL(name) "_end\n"                                                    \
                                     ".balign 64\n" SYMBOL(name) ":\n"                           \
                                                                 ".incbin \"" path               \
                                                                 "\"\n" SYMBOL(name) "_end:\n"   \
                                                                                     ".byte 0\n" \
                                                                                     ".text\n")

EMBED("wr_embedded_unicode_classes", "data/unicode_classes.bin");
EMBED("wr_embedded_o200k_base_table", "data/o200k_base.bpe");
EMBED("wr_embedded_cl100k_base_table", "data/cl100k_base.bpe");

extern const char wr_embedded_o200k_base_table[], wr_embedded_o200k_base_table_end[];
extern const char wr_embedded_cl100k_base_table[], wr_embedded_cl100k_base_table_end[];

weir_span wr_embedded_o200k_base(void)
{
    return (weir_span){wr_embedded_o200k_base_table,
                       (size_t)(wr_embedded_o200k_base_table_end - wr_embedded_o200k_base_table)};
}

weir_span wr_embedded_cl100k_base(void)
{
    return (weir_span){wr_embedded_cl100k_base_table,
                       (size_t)(wr_embedded_cl100k_base_table_end - wr_embedded_cl100k_base_table)};
}
