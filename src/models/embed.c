#include "models/embed.h"

/* The assembler puts the file in as it is: no generated source, no copy that can be out of date.
 * The path is relative to the project root, where the compiler runs. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".hidden wr_models_data_start\n"
        ".globl wr_models_data_start\n"
        "wr_models_data_start:\n"
        ".incbin \"data/models.json\"\n"
        ".hidden wr_models_data_end\n"
        ".globl wr_models_data_end\n"
        "wr_models_data_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char wr_models_data_start[] __attribute__((visibility("hidden")));
extern const char wr_models_data_end[] __attribute__((visibility("hidden")));

weir_span wr_models_embedded(void)
{
    return (weir_span){wr_models_data_start, (size_t)(wr_models_data_end - wr_models_data_start)};
}
