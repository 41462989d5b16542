#include "base/ascii.h"

#define D WR_ASCII_DIGIT
#define L WR_ASCII_LOWER
#define U WR_ASCII_UPPER
#define X (WR_ASCII_A_TO_F | WR_ASCII_LOWER)
#define Y (WR_ASCII_A_TO_F | WR_ASCII_UPPER)

/* clang-format off */
const unsigned char wr_ascii_classes[256] = {
    ['\t'] = WR_ASCII_BLANK,
    ['\n'] = WR_ASCII_LINE,
    ['\v'] = WR_ASCII_FEED,
    ['\f'] = WR_ASCII_FEED,
    ['\r'] = WR_ASCII_LINE,
    [' '] = WR_ASCII_BLANK,
    ['_'] = WR_ASCII_UNDERSCORE,
    ['0'] = D, D, D, D, D, D, D, D, D, D,
    ['A'] = Y, Y, Y, Y, Y, Y, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    ['a'] = X, X, X, X, X, X, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
};
/* clang-format on */
