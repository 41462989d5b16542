/* A static program loads no libraries: glibc's dlopen() in one needs the very glibc that it was
 * built with, and where it finds another it may crash. So there is none in the portable program,
 * and what would load libpq says that it cannot (src/store/pg_lib.c). */
#include <dlfcn.h>
#include <stddef.h>

void *dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return -1;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    (void)handle;
    (void)name;
    return NULL;
}

char *dlerror(void)
{
    static char text[] = "a static program loads no libraries";
    return text;
}
