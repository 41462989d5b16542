/* ascii.h -- questions about one byte, the same in every locale. */
#ifndef WR_BASE_ASCII_H
#define WR_BASE_ASCII_H

#include <stdbool.h>

static inline bool wr_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char wr_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#endif
