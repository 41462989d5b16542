/* banned.h -- calls that have no safe use here. Included by the build in front of every file, so it
 * is also where the libc's extensions (memmem) are asked for. */
#ifndef WR_BASE_BANNED_H
#define WR_BASE_BANNED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where libc checks lengths and the compiler is clang, these are macros, and a macro cannot be
 * poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atof gets gmtime localtime \
    ctime asctime

#endif
