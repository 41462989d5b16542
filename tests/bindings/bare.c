/* Runs in a folder that has nothing but the C library and our own: loads the library that is named
 * and uses it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "weir/call.h"

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    struct weir_engine *engine;
    char *answer;

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    weir_status (*make)(struct weir_engine **, struct weir_err *);
    weir_status (*call)(struct weir_engine *, struct weir_store *, const char *, const char *,
                        size_t, char **, struct weir_err *);
    *(void **)&make = dlsym(library, "weir_engine_new");
    *(void **)&call = dlsym(library, "weir_call");
    if (!make || !call || make(&engine, NULL) ||
        call(engine, NULL, "count", "{\"text\":\"What is a weir?\"}", 26, &answer, NULL))
        return 2;
    puts(answer);
    return strncmp(answer, "{\"tokens\":6,", 12) != 0;
}
