#include "agent/plain_text.h"

#include <stdbool.h>

void wr_plain_text_put(FILE *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
        bool is_two_bytes = c == 0xC2 && next >= 0x80 && next < 0xA0;
        bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 127 || is_two_bytes;
        (void)fputc(is_control ? '?' : c, out);
        i += is_two_bytes;
    }
}
