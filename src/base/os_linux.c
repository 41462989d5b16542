/* What os.h promises, on Linux: glibc and musl. The second implementation is os_posix.c.
 *
 * Most functions are one system call that makes its result whole at once, such as a pipe that no
 * program inherits: setting that afterwards would leave a moment in which another thread may fork.
 * Processes are read from /proc.
 */
#include "base/os.h"

#if WR_OS_IS_LINUX

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- descriptors ---- */

int wr_os_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

int wr_os_socket(int family, int type, int protocol)
{
    return socket(family, type | SOCK_CLOEXEC, protocol);
}

int wr_os_socket_no_wait(int family, int type, int protocol)
{
    return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

/* musl has no closefrom(), and a kernel before 5.9 (or qemu) no close_range(). */
void wr_os_close_from(int lowest)
{
    enum { FD_MAX = 1 << 20 };
    struct rlimit limit;

#ifdef SYS_close_range
    if (!syscall(SYS_close_range, (unsigned)lowest, ~0u, 0u))
        return;
#endif
    int end =
        getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FD_MAX ? FD_MAX : (int)limit.rlim_cur;
    for (int fd = lowest; fd < end; fd++)
        (void)close(fd);
}

bool wr_os_wake_open(struct wr_os_wake *wake)
{
    wake->poll_fd = wake->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return wake->poll_fd >= 0;
}

void wr_os_wake_tell(const struct wr_os_wake *wake)
{
    const uint64_t one = 1;
    (void)!write(wake->wake_fd, &one, sizeof(one));
}

void wr_os_wake_heard(const struct wr_os_wake *wake)
{
    uint64_t times;
    (void)!read(wake->poll_fd, &times, sizeof(times));
}

void wr_os_wake_close(struct wr_os_wake *wake)
{
    if (wake->poll_fd >= 0)
        (void)close(wake->poll_fd);
    wake->poll_fd = wake->wake_fd = -1;
}

/* ---- files ---- */

int wr_os_sync(int fd)
{
    return fdatasync(fd);
}

bool wr_os_share_blocks(int from, int to)
{
    return !ioctl(to, FICLONE, from);
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

/* ---- processes ---- */

static size_t read_of_process(long pid, const char *what, char *bytes, size_t bytes_max)
{
    char path[64];
    size_t count = 0;
    ssize_t got;

    (void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (count < bytes_max && (got = read(fd, bytes + count, bytes_max - count)) > 0)
        count += (size_t)got;
    (void)close(fd);
    return count;
}

/* "7 (a name) S 3 ...". The name may hold anything, so the last ')' ends it. */
bool wr_os_process_find(long pid, struct wr_os_process *process)
{
    char text[1024];
    size_t count = read_of_process(pid, "stat", text, sizeof(text) - 1);

    text[count] = '\0';
    const char *start = strchr(text, '('), *end = strrchr(text, ')');
    if (!start || !end || end < start || strlen(end) < strlen(") S 1"))
        return false;
    (void)snprintf(process->name, sizeof(process->name), "%.*s", (int)(end - start - 1), start + 1);
    process->parent = strtol(end + strlen(") S "), NULL, 10);
    return true;
}

size_t wr_os_process_environment(long pid, char *bytes, size_t bytes_max)
{
    return read_of_process(pid, "environ", bytes, bytes_max);
}

void wr_os_process_each(wr_os_process_fn *each, void *user)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && !*end)
            each(user, pid);
    }
    if (folder)
        (void)closedir(folder);
}

bool wr_os_adopt_orphans(void)
{
    return !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

size_t wr_os_program_path(char *path, size_t bytes_max)
{
    ssize_t bytes = readlink("/proc/self/exe", path, bytes_max - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0 ? (size_t)bytes : 0;
}

/* What a terminal sends comes from the kernel. */
int wr_os_signal_wait(const sigset_t *signals, bool *is_terminals)
{
    siginfo_t info = {.si_code = 0};
    int number = sigwaitinfo(signals, &info);
    *is_terminals = number > 0 && info.si_code == SI_KERNEL;
    return number;
}

/* A parent that ended before prctl() sends no signal. Such a child has a new parent already, so
 * asking for its number shows that. */
bool wr_parent_watch(pid_t parent, int number)
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)number);
    return getppid() == parent;
}

/* ---- threads ---- */

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

bool wr_os_shared_lock_init(struct wr_os_shared_lock *lock)
{
    pthread_mutexattr_t attributes;

    if (pthread_mutexattr_init(&attributes))
        return false;
    bool ok = !pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) &&
              !pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) &&
              !pthread_mutex_init(&lock->mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return ok;
}

wr_os_lock wr_os_shared_lock_take(struct wr_os_shared_lock *lock)
{
    int result = pthread_mutex_lock(&lock->mutex);

    if (result == EOWNERDEAD)
        return pthread_mutex_consistent(&lock->mutex) ? WR_OS_LOCK_FAILED : WR_OS_LOCKED_TORN;
    return result ? WR_OS_LOCK_FAILED : WR_OS_LOCKED;
}

void wr_os_shared_lock_give(struct wr_os_shared_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

/* ---- and ---- */

bool wr_os_random(void *bytes, size_t count)
{
    return getrandom(bytes, count, 0) == (ssize_t)count;
}

const char *wr_os_last_byte(const char *bytes, char value, size_t count)
{
    return count ? memrchr(bytes, value, count) : NULL;
}

#endif
