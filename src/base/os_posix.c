/* What os.h promises, by POSIX alone, and by what macOS has where POSIX has nothing.
 *
 * It is compiled for macOS by `make check-portable` and has never run there. All that is not
 * macOS's own runs on Linux in tests/os_test.sh, which builds it with WR_OS_PLAIN.
 *
 * A descriptor is made and marked in two steps; between them another thread may fork, and the
 * program that it starts then inherits one descriptor more. A mutex cannot know that its holder
 * died, so the shared lock is a pid in a word: whoever waits for it asks from time to time whether
 * that process is still there. A child hears of its parent's end from a third process that
 * watches both.
 */
#include "base/os.h"

#if !WR_OS_IS_LINUX

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <sys/random.h>
#include <sys/sysctl.h>
#endif

static void nap_us(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    (void)nanosleep(&time, NULL);
}

/* ---- descriptors ---- */

static bool mark_fd(int fd, bool is_no_wait)
{
    int flags = is_no_wait ? fcntl(fd, F_GETFL) : 0;
    return flags >= 0 && !fcntl(fd, F_SETFD, FD_CLOEXEC) &&
           (!is_no_wait || !fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

static int close_unmarked(int fd)
{
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static int open_pipe(int ends[2], bool is_no_wait)
{
    if (pipe(ends))
        return -1;
    if (mark_fd(ends[0], is_no_wait) && mark_fd(ends[1], is_no_wait))
        return 0;
    (void)close_unmarked(ends[0]);
    return close_unmarked(ends[1]);
}

int wr_os_pipe(int ends[2])
{
    return open_pipe(ends, false);
}

static int open_socket(int family, int type, int protocol, bool is_no_wait)
{
    int fd = socket(family, type, protocol);
    return fd < 0 || mark_fd(fd, is_no_wait) ? fd : close_unmarked(fd);
}

int wr_os_socket(int family, int type, int protocol)
{
    return open_socket(family, type, protocol, false);
}

int wr_os_socket_no_wait(int family, int type, int protocol)
{
    return open_socket(family, type, protocol, true);
}

void wr_os_close_from(int lowest)
{
    enum { FD_MAX = 1 << 16 };
    struct rlimit limit;
    int end =
        getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FD_MAX ? FD_MAX : (int)limit.rlim_cur;
    for (int fd = lowest; fd < end; fd++)
        (void)close(fd);
}

bool wr_os_wake_open(struct wr_os_wake *wake)
{
    int ends[2] = {-1, -1};
    bool ok = !open_pipe(ends, true);
    *wake = ok ? (struct wr_os_wake){ends[0], ends[1]} : (struct wr_os_wake){-1, -1};
    return ok;
}

void wr_os_wake_tell(const struct wr_os_wake *wake)
{
    (void)!write(wake->wake_fd, "", 1); /* full: it is told already */
}

void wr_os_wake_heard(const struct wr_os_wake *wake)
{
    char bytes[64];
    while (read(wake->poll_fd, bytes, sizeof(bytes)) > 0)
        ;
}

void wr_os_wake_close(struct wr_os_wake *wake)
{
    if (wake->poll_fd >= 0)
        (void)close(wake->poll_fd);
    if (wake->wake_fd >= 0)
        (void)close(wake->wake_fd);
    wake->poll_fd = wake->wake_fd = -1;
}

/* ---- files ---- */

bool wr_os_share_blocks(int from, int to)
{
    (void)from;
    (void)to;
    return false;
}

#ifdef __APPLE__
/* fsync() there only hands the bytes to the disk's own memory. */
int wr_os_sync(int fd)
{
    return fcntl(fd, F_FULLFSYNC) < 0 ? fsync(fd) : 0;
}

struct timespec wr_os_time_read(const struct stat *info)
{
    return info->st_atimespec;
}

struct timespec wr_os_time_written(const struct stat *info)
{
    return info->st_mtimespec;
}

struct timespec wr_os_time_changed(const struct stat *info)
{
    return info->st_ctimespec;
}
#else
int wr_os_sync(int fd)
{
    return fsync(fd);
}

struct timespec wr_os_time_read(const struct stat *info)
{
    return info->st_atim;
}

struct timespec wr_os_time_written(const struct stat *info)
{
    return info->st_mtim;
}

struct timespec wr_os_time_changed(const struct stat *info)
{
    return info->st_ctim;
}
#endif

/* ---- processes ---- */

#ifdef __APPLE__
bool wr_os_process_find(long pid, struct wr_os_process *process)
{
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid};
    struct kinfo_proc info;
    size_t bytes = sizeof(info);

    if (sysctl(name, 4, &info, &bytes, NULL, 0) || bytes != sizeof(info))
        return false;
    (void)snprintf(process->name, sizeof(process->name), "%s", info.kp_proc.p_comm);
    process->parent = info.kp_eproc.e_ppid;
    return true;
}

/* The kernel gives: how many arguments, the path, NULs, the arguments, the environment. */
size_t wr_os_process_environment(long pid, char *bytes, size_t bytes_max)
{
    int name[] = {CTL_KERN, KERN_PROCARGS2, (int)pid};
    size_t count = bytes_max, at = sizeof(int);
    int arguments = 0;

    if (sysctl(name, 3, bytes, &count, NULL, 0) || count <= sizeof(arguments))
        return 0;
    memcpy(&arguments, bytes, sizeof(arguments));
    while (at < count && bytes[at])
        at++;
    while (at < count && !bytes[at])
        at++;
    for (; at < count && arguments > 0; at++)
        arguments -= !bytes[at];
    memmove(bytes, bytes + at, count - at);
    return count - at;
}

void wr_os_process_each(wr_os_process_fn *each, void *user)
{
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_ALL};
    size_t bytes = 0;

    if (sysctl(name, 3, NULL, &bytes, NULL, 0))
        return;
    bytes += bytes / 4; /* some may begin meanwhile */
    struct kinfo_proc *list = malloc(bytes);
    if (list && !sysctl(name, 3, list, &bytes, NULL, 0))
        for (size_t i = 0; i < bytes / sizeof(*list); i++)
            each(user, list[i].kp_proc.p_pid);
    free(list);
}

size_t wr_os_program_path(char *path, size_t bytes_max)
{
    char found[PATH_MAX], whole[PATH_MAX];
    uint32_t bytes = sizeof(found);

    path[0] = '\0';
    if (_NSGetExecutablePath(found, &bytes) || !realpath(found, whole) ||
        strlen(whole) >= bytes_max)
        return 0;
    return (size_t)snprintf(path, bytes_max, "%s", whole);
}
#else
bool wr_os_process_find(long pid, struct wr_os_process *process)
{
    (void)pid;
    (void)process;
    return false;
}

size_t wr_os_process_environment(long pid, char *bytes, size_t bytes_max)
{
    (void)pid;
    (void)bytes;
    (void)bytes_max;
    return 0;
}

void wr_os_process_each(wr_os_process_fn *each, void *user)
{
    (void)each;
    (void)user;
}

size_t wr_os_program_path(char *path, size_t bytes_max)
{
    (void)bytes_max;
    path[0] = '\0';
    return 0;
}
#endif

bool wr_os_adopt_orphans(void)
{
    return false;
}

/* Nobody says who sent it. Keys of a terminal reach the group that is in front of it. */
int wr_os_signal_wait(const sigset_t *signals, bool *is_terminals)
{
    int number = -1;

    if (sigwait(signals, &number))
        number = -1;
    bool is_key = number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGWINCH;
    *is_terminals = is_key && tcgetpgrp(STDIN_FILENO) == getpgrp();
    return number;
}

/* In a process of its own, which is nobody's child: ends with the child, or ends it. */
_Noreturn static void watch_both(pid_t parent, pid_t child, int number)
{
    enum { LOOK_US = 100 * 1000 };

    wr_os_close_from(0);
    while (!kill(child, 0) || errno == EPERM) {
        if (kill(parent, 0) && errno == ESRCH) {
            (void)kill(child, number);
            break;
        }
        nap_us(LOOK_US);
    }
    _exit(0);
}

bool wr_parent_watch(pid_t parent, int number)
{
    pid_t child = getpid(), between = getppid() == parent ? fork() : -1;

    if (!between) {
        if (!fork())
            watch_both(parent, child, number);
        _exit(0);
    }
    if (between > 0)
        (void)waitpid(between, NULL, 0);
    return getppid() == parent;
}

/* ---- threads ---- */

#ifdef __APPLE__
bool wr_os_steady_cond_init(pthread_cond_t *cond)
{
    return !pthread_cond_init(cond, NULL);
}

int wr_os_steady_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    struct timespec now, rest;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    rest = (struct timespec){until->tv_sec - now.tv_sec, until->tv_nsec - now.tv_nsec};
    if (rest.tv_nsec < 0) {
        rest.tv_nsec += 1000000000;
        rest.tv_sec--;
    }
    return rest.tv_sec < 0 ? ETIMEDOUT : pthread_cond_timedwait_relative_np(cond, lock, &rest);
}
#else
bool wr_os_steady_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t steady;

    if (pthread_condattr_init(&steady))
        return false;
    bool ok =
        !pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) && !pthread_cond_init(cond, &steady);
    (void)pthread_condattr_destroy(&steady);
    return ok;
}

int wr_os_steady_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    return pthread_cond_timedwait(cond, lock, until);
}
#endif

bool wr_os_shared_lock_init(struct wr_os_shared_lock *lock)
{
    atomic_store(&lock->holder, 0);
    return true;
}

wr_os_lock wr_os_shared_lock_take(struct wr_os_shared_lock *lock)
{
    enum { NAP_US = 50, ROUNDS_BETWEEN_LOOKS = 64 };
    long own = (long)getpid(), holder = 0;

    for (unsigned round = 1;; round++) {
        holder = 0;
        if (atomic_compare_exchange_strong(&lock->holder, &holder, own))
            return WR_OS_LOCKED;
        if (round % ROUNDS_BETWEEN_LOOKS == 0 && kill((pid_t)holder, 0) && errno == ESRCH &&
            atomic_compare_exchange_strong(&lock->holder, &holder, own))
            return WR_OS_LOCKED_TORN;
        nap_us(NAP_US);
    }
}

void wr_os_shared_lock_give(struct wr_os_shared_lock *lock)
{
    atomic_store(&lock->holder, 0);
}

/* ---- and ---- */

bool wr_os_random(void *bytes, size_t count)
{
    return !getentropy(bytes, count);
}

const char *wr_os_last_byte(const char *bytes, char value, size_t count)
{
    while (count--)
        if (bytes[count] == value)
            return bytes + count;
    return NULL;
}

#endif
