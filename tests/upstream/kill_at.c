/* For LD_PRELOAD: ends the program with SIGKILL at the KILL_AT-th call that changes something
 * outside it: a write when half of it is done, any other before it. (Before a write is behind the
 * call before it, which is a point of its own.)
 *
 * Calls are counted in the first process only: its children have no business here. Without KILL_AT
 * the count is written to KILL_COUNT at the end, so that a driver knows how many points there are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t self;
static long count, at;

__attribute__((constructor)) static void begin(void)
{
    self = getpid();
    at = getenv("KILL_AT") ? atol(getenv("KILL_AT")) : 0;
    unsetenv("LD_PRELOAD"); /* for commands */
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("KILL_COUNT");
    FILE *out = path && !at && getpid() == self ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld", count);
        fclose(out);
    }
}

static int is_the_point(void)
{
    return self && getpid() == self && ++count == at;
}

static void end_now(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t len)
{
    if (is_the_point()) {
        if (len > 1)
            (void)!NEXT(write)(fd, bytes, len / 2);
        end_now();
    }
    return NEXT(write)(fd, bytes, len);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t place)
{
    if (is_the_point()) {
        if (len > 1)
            (void)!NEXT(pwrite64)(fd, bytes, len / 2, place);
        end_now();
    }
    return NEXT(pwrite64)(fd, bytes, len, place);
}

#define POINT(type, name, parameters, arguments) \
    type name parameters                         \
    {                                            \
        if (is_the_point())                      \
            end_now();                           \
        return NEXT(name) arguments;             \
    }

POINT(int, fdatasync, (int fd), (fd))
POINT(int, fsync, (int fd), (fd))
POINT(int, ftruncate, (int fd, off_t len), (fd, len))
POINT(int, rename, (const char *from, const char *to), (from, to))
POINT(int, unlink, (const char *path), (path))
POINT(int, mkdir, (const char *path, mode_t mode), (path, mode))
POINT(pid_t, fork, (void), ())
POINT(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
POINT(ssize_t, send, (int fd, const void *bytes, size_t len, int flags), (fd, bytes, len, flags))
POINT(ssize_t, recv, (int fd, void *bytes, size_t len, int flags), (fd, bytes, len, flags))
