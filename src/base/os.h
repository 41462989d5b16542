/* os.h -- what systems do in different ways, under one name each.
 *
 * os_linux.c is how it is done on Linux. os_posix.c is the second implementation: POSIX alone, and
 * what macOS has where POSIX has nothing. Which of them is built is known by the system; with
 * WR_OS_PLAIN the second one is built on Linux too, so that it can be tested there. Nobody else
 * asks for the system.
 */
#ifndef WR_BASE_OS_H
#define WR_BASE_OS_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "weir/span.h"

#if defined(__linux__) && !defined(WR_OS_PLAIN)
#define WR_OS_IS_LINUX 1
#else
#define WR_OS_IS_LINUX 0
#endif

/* unistd.h has it on Linux alone. */
extern char **environ;

/* ---- descriptors: none of these is inherited by a program that is started ---- */

/* 0, or -1 and errno. */
int wr_os_pipe(int ends[2]);

/* The descriptor, or -1 and errno. */
int wr_os_socket(int family, int type, int protocol);
int wr_os_socket_no_wait(int family, int type, int protocol);

/* In a child before exec(): closes every descriptor from `lowest` on. */
void wr_os_close_from(int lowest);

/* Something that a loop can poll and any thread can wake it by. Both ends may be one descriptor. */
struct wr_os_wake {
    int poll_fd, wake_fd; /* -1: not open */
};

bool wr_os_wake_open(struct wr_os_wake *wake);
void wr_os_wake_tell(const struct wr_os_wake *wake);
void wr_os_wake_heard(const struct wr_os_wake *wake); /* it can be polled for the next time */
void wr_os_wake_close(struct wr_os_wake *wake);

/* ---- files ---- */

/* Writes all of it, however often the system takes a part. False: errno. */
static inline bool wr_os_write_all(int fd, weir_span bytes)
{
    while (bytes.len) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes = (weir_span){bytes.ptr + put, bytes.len - (size_t)put};
    }
    return true;
}

/* What was written is on the disk when it returns: 0, or -1 and errno. */
int wr_os_sync(int fd);

/* Lets an empty file share the blocks of another. False: the caller has to copy. */
bool wr_os_share_blocks(int from, int to);

struct timespec wr_os_time_read(const struct stat *info);
struct timespec wr_os_time_written(const struct stat *info);
struct timespec wr_os_time_changed(const struct stat *info);

/* ---- processes ---- */

struct wr_os_process {
    long parent;
    char name[256]; /* of its program, without a folder */
};

/* False: it has ended, or the system does not tell. */
bool wr_os_process_find(long pid, struct wr_os_process *process);

/* The environment that a process was started with, each text with its NUL. Returns its bytes; 0
 * where it has ended, is another user's, or the system does not tell. */
size_t wr_os_process_environment(long pid, char *bytes, size_t bytes_max);

typedef void wr_os_process_fn(void *user, long pid);

/* Every process that there is, in no order. */
void wr_os_process_each(wr_os_process_fn *each, void *user);

/* From now on a process below this one whose parent ends becomes this one's child. False: the
 * system has no such thing. */
bool wr_os_adopt_orphans(void);

/* The path of this very program, with a NUL. Returns its length, 0 where it is not known. */
size_t wr_os_program_path(char *path, size_t bytes_max);

/* Waits for one of the signals, which are blocked, and takes it: its number, or -1. `is_terminals`:
 * a terminal sent it, and the whole group of processes has it. */
int wr_os_signal_wait(const sigset_t *signals, bool *is_terminals);

/* ---- threads ---- */

/* A condition whose timed waits run by the steady clock (wr_clock_steady_in_ms). */
bool wr_os_steady_cond_init(pthread_cond_t *cond);

/* 0, ETIMEDOUT, or another error of pthread_cond_timedwait(). */
int wr_os_steady_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
                           const struct timespec *until);

/* A lock in memory that processes share. It comes free when its holder is killed. */
struct wr_os_shared_lock {
    pthread_mutex_t mutex;
    _Atomic long holder; /* a pid; 0: nobody. Only where a mutex cannot know that its holder died */
};

typedef enum {
    WR_OS_LOCKED,
    WR_OS_LOCKED_TORN, /* its holder was killed: what it guards may be half written */
    WR_OS_LOCK_FAILED
} wr_os_lock;

bool wr_os_shared_lock_init(struct wr_os_shared_lock *lock);
wr_os_lock wr_os_shared_lock_take(struct wr_os_shared_lock *lock);
void wr_os_shared_lock_give(struct wr_os_shared_lock *lock);

/* ---- and ---- */

/* At most 256 bytes. False: the system has no randomness. */
bool wr_os_random(void *bytes, size_t count);

/* The last byte `value` in a memory; NULL: there is none. */
const char *wr_os_last_byte(const char *bytes, char value, size_t count);

/* ---- a child that ends with its parent, however the parent ended ---- */

/* A parent that is killed tells nobody. Called by a child right after fork(), with the pid that
 * getpid() gave before it: from then on signal `number` comes when the parent is gone. False: it is
 * gone already, and no signal comes. */
bool wr_parent_watch(pid_t parent, int number);

#endif
