/* A library for LD_PRELOAD that makes system calls fail, by a seed.
 *
 * The program under it is the real one. Its calls, and those of SQLite, libuv and libcurl, come
 * here by the names of the libc; most are passed on to the kernel at once. What fails is said by
 * the plan, a list of kinds with their odds: `client.again=500/4` means that of 10,000 stretches of
 * 4 calls 500 are bad, and every call of a bad stretch ends with EAGAIN. Whether a stretch is bad
 * is a hash of the seed, the kind, which process it is (the first worker, the second...) and the
 * count of such calls in it. So a replay with the same seed makes the same decisions, as far as the
 * threads of the program take the same turns.
 *
 * Only what the kernel could do is done. No EAGAIN where nothing would wake the caller up again
 * (an eventfd, a file), no failing write that was half done, no EINTR on what cannot be begun
 * again. File descriptors therefore have classes, by who made them: accept4 a client's, connect an
 * upstream's, open a file of the store or the log. libuv closes by syscall(), which is not seen
 * here, so every other maker of descriptors takes the class off again.
 *
 * From the environment: WEIR_CHAOS_SEED, WEIR_CHAOS_PLAN, WEIR_CHAOS_STORE (the folder whose files
 * are the store's) and WEIR_CHAOS_PAGE, a file that is shared with the driver: it switches faults
 * on and off there, moves the clock, and reads what was done.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

enum { FDS_MAX = 65536, ODDS = 10000, NAME_BYTES = 24, PATH_BYTES = 512, PAGE_BYTES = 4096 };

enum fd_class { FD_OTHER, FD_CLIENT, FD_UPSTREAM, FD_STORE, FD_LOG };

enum kind {
    CLIENT_SHORT, /* fewer bytes than asked for */
    CLIENT_AGAIN,
    CLIENT_EINTR,
    UPSTREAM_SHORT,
    UPSTREAM_AGAIN,
    UPSTREAM_EINTR,
    UPSTREAM_RESET,
    UPSTREAM_CONNECT, /* refused, unreachable, timed out */
    UPSTREAM_SOCKET,  /* no descriptor for a new connection */
    ACCEPT_AGAIN,
    ACCEPT_EMFILE,
    STORE_SHORT,
    STORE_EINTR,
    STORE_FULL, /* ENOSPC, EDQUOT */
    STORE_READ, /* EIO */
    STORE_WRITE,
    STORE_SYNC,
    STORE_OPEN, /* EMFILE, ENFILE, EACCES */
    STORE_MAP,
    LOG_SHORT,
    LOG_FULL,
    POLL_EINTR,
    MEMORY, /* an allocation of the program itself or of SQLite */
    KINDS_COUNT,
};

static const char *const kind_names[KINDS_COUNT] = {
    "client.short",   "client.again",   "client.eintr",     "upstream.short",  "upstream.again",
    "upstream.eintr", "upstream.reset", "upstream.connect", "upstream.socket", "accept.again",
    "accept.emfile",  "store.short",    "store.eintr",      "store.full",      "store.read",
    "store.write",    "store.sync",     "store.open",       "store.map",       "log.short",
    "log.full",       "poll.eintr",     "memory",
};

/* Shared with the driver and by all processes; the driver reads it by these offsets. */
struct page {
    _Atomic uint32_t is_on;
    _Atomic uint32_t processes_count;
    _Atomic int64_t clock_ns; /* added to the time of day */
    struct {
        char name[NAME_BYTES];
        _Atomic uint64_t done_count;
    } kinds[KINDS_COUNT];
};
_Static_assert(sizeof(struct page) <= PAGE_BYTES, "the page is mapped whole");

static struct page *page; /* NULL: nothing fails */
static uint64_t seed;
static uint32_t process_number;
static char store_path[PATH_BYTES];
static struct {
    uint32_t odds, stretch;
    _Atomic uint64_t calls_count;
} plan[KINDS_COUNT];
static _Atomic unsigned char classes[FDS_MAX];
static uintptr_t program_from, program_to, sqlite_from, sqlite_to; /* whose allocations may fail */

/* ---- whether this call fails ---- */

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* 0: it does not; else a number that says how. */
static uint64_t strike(enum kind kind)
{
    if (!page || !plan[kind].odds || !atomic_load(&page->is_on))
        return 0;
    uint64_t count = atomic_fetch_add(&plan[kind].calls_count, 1);
    uint64_t where = mix(seed ^ mix((uint64_t)kind << 32 | process_number));
    if (mix(where ^ mix(count / plan[kind].stretch)) % ODDS >= plan[kind].odds)
        return 0;
    atomic_fetch_add(&page->kinds[kind].done_count, 1);
    return mix(where ^ mix(~count)) | 1;
}

static ssize_t fail_with(int number)
{
    errno = number;
    return -1;
}

static enum fd_class class_of(int fd)
{
    return fd >= 0 && fd < FDS_MAX ? (enum fd_class)atomic_load(&classes[fd]) : FD_OTHER;
}

static int set_class(int fd, enum fd_class class)
{
    if (fd >= 0 && fd < FDS_MAX)
        atomic_store(&classes[fd], (unsigned char)class);
    return fd;
}

/* One byte, a few, or about half. */
static size_t shorten(uint64_t how, size_t bytes)
{
    size_t most = how & 2 ? 1 : how & 4 ? 100 : bytes / 2 + 1;
    most = most < bytes ? most : bytes - 1;
    return most < 2 ? 1 : 1 + (size_t)(how >> 8) % most;
}

struct call {
    int error;    /* what it fails with; 0: it does not */
    size_t bytes; /* at most this many */
};

static struct call plan_socket(enum kind first, size_t bytes)
{
    uint64_t how;
    if (strike(first + 1)) /* again */
        return (struct call){EAGAIN, 0};
    if (strike(first + 2)) /* eintr */
        return (struct call){EINTR, 0};
    if (bytes > 1 && (how = strike(first)))
        return (struct call){0, shorten(how, bytes)};
    return (struct call){0, bytes};
}

static int full_error(uint64_t how)
{
    return how & 2 ? ENOSPC : EDQUOT;
}

static struct call plan_store(bool is_write, size_t bytes)
{
    uint64_t how;
    if (strike(STORE_EINTR))
        return (struct call){EINTR, 0};
    if (is_write && (how = strike(STORE_FULL)))
        return (struct call){full_error(how), 0};
    if (strike(is_write ? STORE_WRITE : STORE_READ))
        return (struct call){EIO, 0};
    if (bytes > 1 && (how = strike(STORE_SHORT)))
        return (struct call){0, shorten(how, bytes)};
    return (struct call){0, bytes};
}

static struct call plan_log(bool is_write, size_t bytes)
{
    uint64_t how;
    if (is_write && (how = strike(LOG_FULL)))
        return (struct call){full_error(how), 0};
    if (is_write && bytes > 1 && (how = strike(LOG_SHORT)))
        return (struct call){0, shorten(how, bytes)};
    return (struct call){0, bytes};
}

static struct call plan_call(int fd, bool is_write, size_t bytes)
{
    switch (class_of(fd)) {
    case FD_CLIENT:
        return plan_socket(CLIENT_SHORT, bytes);
    case FD_UPSTREAM:
        if (strike(UPSTREAM_RESET))
            return (struct call){ECONNRESET, 0};
        return plan_socket(UPSTREAM_SHORT, bytes);
    case FD_STORE:
        return plan_store(is_write, bytes);
    case FD_LOG:
        return plan_log(is_write, bytes);
    default:
        return (struct call){0, bytes};
    }
}

/* ---- bytes in and out ---- */

SEEN ssize_t read(int fd, void *bytes, size_t count)
{
    struct call call = plan_call(fd, false, count);
    return call.error ? fail_with(call.error) : syscall(SYS_read, fd, bytes, call.bytes);
}

SEEN ssize_t write(int fd, const void *bytes, size_t count)
{
    struct call call = plan_call(fd, true, count);
    return call.error ? fail_with(call.error) : syscall(SYS_write, fd, bytes, call.bytes);
}

SEEN ssize_t pread64(int fd, void *bytes, size_t count, off64_t at)
{
    struct call call = plan_call(fd, false, count);
    return call.error ? fail_with(call.error) : syscall(SYS_pread64, fd, bytes, call.bytes, at);
}

SEEN ssize_t pread(int fd, void *bytes, size_t count, off_t at)
{
    return pread64(fd, bytes, count, at);
}

SEEN ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    struct call call = plan_call(fd, true, count);
    return call.error ? fail_with(call.error) : syscall(SYS_pwrite64, fd, bytes, call.bytes, at);
}

SEEN ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return pwrite64(fd, bytes, count, at);
}

SEEN ssize_t recvfrom(int fd, void *bytes, size_t count, int flags, __SOCKADDR_ARG address,
                      socklen_t *address_bytes)
{
    struct call call = plan_call(fd, false, count);
    if (call.error)
        return fail_with(call.error);
    return syscall(SYS_recvfrom, fd, bytes, call.bytes, flags, address.__sockaddr__, address_bytes);
}

SEEN ssize_t recv(int fd, void *bytes, size_t count, int flags)
{
    return recvfrom(fd, bytes, count, flags, (struct sockaddr *)NULL, NULL);
}

SEEN ssize_t sendto(int fd, const void *bytes, size_t count, int flags,
                    __CONST_SOCKADDR_ARG address, socklen_t address_bytes)
{
    struct call call = plan_call(fd, true, count);
    if (call.error)
        return fail_with(call.error);
    return syscall(SYS_sendto, fd, bytes, call.bytes, flags, address.__sockaddr__, address_bytes);
}

SEEN ssize_t send(int fd, const void *bytes, size_t count, int flags)
{
    return sendto(fd, bytes, count, flags, (const struct sockaddr *)NULL, 0);
}

static size_t bytes_of(const struct iovec *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

/* A call with parts that is to be short is made with a piece of its first part that has any. */
static struct iovec first_piece(const struct iovec *parts, size_t count, size_t bytes)
{
    struct iovec piece = {NULL, 0};
    for (size_t i = 0; i < count && !piece.iov_len; i++)
        piece = parts[i];
    piece.iov_len = piece.iov_len < bytes ? piece.iov_len : bytes;
    return piece;
}

static ssize_t move_parts(long number, int fd, const struct iovec *parts, int count)
{
    size_t bytes = bytes_of(parts, (size_t)count);
    struct call call = plan_call(fd, number == SYS_writev, bytes);
    if (call.error)
        return fail_with(call.error);
    if (call.bytes == bytes)
        return syscall(number, fd, parts, count);
    struct iovec piece = first_piece(parts, (size_t)count, call.bytes);
    return syscall(number, fd, &piece, 1);
}

SEEN ssize_t readv(int fd, const struct iovec *parts, int count)
{
    return move_parts(SYS_readv, fd, parts, count);
}

SEEN ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return move_parts(SYS_writev, fd, parts, count);
}

static ssize_t move_message(long number, int fd, const struct msghdr *message, int flags)
{
    size_t bytes = bytes_of(message->msg_iov, message->msg_iovlen);
    struct call call = plan_call(fd, number == SYS_sendmsg, bytes);
    if (call.error)
        return fail_with(call.error);
    if (call.bytes == bytes || message->msg_controllen)
        return syscall(number, fd, message, flags);
    struct iovec piece = first_piece(message->msg_iov, message->msg_iovlen, call.bytes);
    struct msghdr shorter = *message;
    shorter.msg_iov = &piece;
    shorter.msg_iovlen = 1;
    return syscall(number, fd, &shorter, flags);
}

SEEN ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return move_message(SYS_recvmsg, fd, message, flags);
}

SEEN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return move_message(SYS_sendmsg, fd, message, flags);
}

/* ---- files ---- */

static int sync_file(long number, int fd)
{
    if (class_of(fd) == FD_STORE && strike(STORE_SYNC))
        return (int)fail_with(EIO);
    return (int)syscall(number, fd);
}

SEEN int fsync(int fd)
{
    return sync_file(SYS_fsync, fd);
}

SEEN int fdatasync(int fd)
{
    return sync_file(SYS_fdatasync, fd);
}

SEEN int ftruncate64(int fd, off64_t bytes)
{
    uint64_t how = class_of(fd) == FD_STORE ? strike(STORE_FULL) : 0;
    return how ? (int)fail_with(full_error(how)) : (int)syscall(SYS_ftruncate, fd, bytes);
}

SEEN int ftruncate(int fd, off_t bytes)
{
    return ftruncate64(fd, bytes);
}

static enum fd_class class_of_path(const char *path)
{
    size_t len = strlen(store_path);
    if (len && strncmp(path, store_path, len) == 0)
        return FD_STORE;
    return strstr(path, "requests.jsonl") ? FD_LOG : FD_OTHER;
}

static int open_file(int folder, const char *path, int flags, mode_t mode)
{
    static const int errors[] = {EMFILE, ENFILE, EACCES, EINTR};
    enum fd_class class = class_of_path(path);
    uint64_t how = class == FD_STORE ? strike(STORE_OPEN) : 0;
    if (how)
        return (int)fail_with(errors[how >> 8 & 3]);
    return set_class((int)syscall(SYS_openat, folder, path, flags, mode), class);
}

/* The mode is there only where a file may be made; reading it where it is not does no harm. */
#define MODE_ARGUMENT(last)                                                      \
    va_list arguments;                                                           \
    va_start(arguments, last);                                                   \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments)

SEEN int open(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    return open_file(AT_FDCWD, path, flags, mode);
}

SEEN int open64(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    return open_file(AT_FDCWD, path, flags, mode);
}

SEEN int openat(int folder, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    return open_file(folder, path, flags, mode);
}

SEEN void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t from)
{
    if (!(flags & MAP_ANONYMOUS) && class_of(fd) == FD_STORE && strike(STORE_MAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, from); /* NOLINT */
}

SEEN void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    return mmap64(at, bytes, protection, flags, fd, from);
}

/* ---- descriptors ---- */

SEEN int accept4(int fd, __SOCKADDR_ARG address, socklen_t *address_bytes, int flags)
{
    if (strike(ACCEPT_AGAIN))
        return (int)fail_with(EAGAIN);
    if (strike(ACCEPT_EMFILE))
        return (int)fail_with(EMFILE);
    return set_class((int)syscall(SYS_accept4, fd, address.__sockaddr__, address_bytes, flags),
                     FD_CLIENT);
}

SEEN int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t address_bytes)
{
    static const int errors[] = {ECONNREFUSED, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL};
    int family = address.__sockaddr__->sa_family;
    if (family != AF_INET && family != AF_INET6)
        return (int)syscall(SYS_connect, fd, address.__sockaddr__, address_bytes);
    set_class(fd, FD_UPSTREAM);
    uint64_t how = strike(UPSTREAM_CONNECT);
    if (how)
        return (int)fail_with(errors[how >> 8 & 3]);
    return (int)syscall(SYS_connect, fd, address.__sockaddr__, address_bytes);
}

SEEN int socket(int domain, int type, int protocol)
{
    if (domain == AF_INET && strike(UPSTREAM_SOCKET))
        return (int)fail_with(EMFILE);
    return set_class((int)syscall(SYS_socket, domain, type, protocol), FD_OTHER);
}

static int forget_pair(int result, const int *fds)
{
    if (!result) {
        set_class(fds[0], FD_OTHER);
        set_class(fds[1], FD_OTHER);
    }
    return result;
}

SEEN int socketpair(int domain, int type, int protocol, int fds[2])
{
    return forget_pair((int)syscall(SYS_socketpair, domain, type, protocol, fds), fds);
}

SEEN int pipe2(int fds[2], int flags)
{
    return forget_pair((int)syscall(SYS_pipe2, fds, flags), fds);
}

SEEN int eventfd(unsigned int first, int flags)
{
    return set_class((int)syscall(SYS_eventfd2, first, flags), FD_OTHER);
}

SEEN int epoll_create1(int flags)
{
    return set_class((int)syscall(SYS_epoll_create1, flags), FD_OTHER);
}

SEEN int dup(int fd)
{
    return set_class((int)syscall(SYS_dup, fd), FD_OTHER);
}

SEEN int epoll_pwait(int fd, struct epoll_event *events, int events_max, int timeout_ms,
                     const sigset_t *mask)
{
    if (strike(POLL_EINTR))
        return (int)fail_with(EINTR);
    return (int)syscall(SYS_epoll_pwait, fd, events, events_max, timeout_ms, mask, (size_t)8);
}

SEEN int epoll_wait(int fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    return epoll_pwait(fd, events, events_max, timeout_ms, NULL);
}

/* ---- the time of day ---- */

enum { SECOND_NS = 1000000000 };

SEEN int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (page && !result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = now->tv_sec * (int64_t)SECOND_NS + now->tv_nsec;
        ns += atomic_load(&page->clock_ns);
        *now = (struct timespec){.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
    }
    return result;
}

SEEN int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec exact;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    *now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
    return result;
}

SEEN time_t time(time_t *now)
{
    struct timespec exact;
    (void)clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}

/* ---- memory ---- */

void *__libc_malloc(size_t bytes); /* NOLINT: names of the libc */
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

/* libuv and others end the process where they get none; the program and SQLite are not to. */
static bool is_refused(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    bool is_ours = (at >= program_from && at < program_to) || (at >= sqlite_from && at < sqlite_to);
    return is_ours && strike(MEMORY);
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

SEEN void *malloc(size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_malloc(bytes);
}

SEEN void *calloc(size_t count, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_calloc(count, bytes);
}

SEEN void *realloc(void *old, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_realloc(old, bytes);
}

/* ---- the beginning ---- */

static void read_plan(const char *text)
{
    for (int kind = 0; text && kind < KINDS_COUNT; kind++) {
        char wanted[NAME_BYTES + 2];
        (void)snprintf(wanted, sizeof(wanted), "%s=", kind_names[kind]);
        const char *at = strstr(text, wanted);
        char *end = NULL;
        if (!at)
            continue;
        plan[kind].odds = (uint32_t)strtoull(at + strlen(wanted), &end, 10);
        plan[kind].stretch = *end == '/' ? (uint32_t)strtoull(end + 1, NULL, 10) : 1;
        if (!plan[kind].stretch)
            plan[kind].stretch = 1;
    }
}

/* Where the code of a file is mapped. */
static void find_code(const char *name, uintptr_t *from, uintptr_t *to)
{
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        char *end;
        uintptr_t start = (uintptr_t)strtoull(line, &end, 16);
        if (!strstr(line, name) || !strstr(line, "r-xp"))
            continue;
        *from = start;
        *to = (uintptr_t)strtoull(end + 1, NULL, 16);
    }
    if (maps)
        (void)fclose(maps);
}

static void begin_process(void)
{
    if (page)
        process_number = atomic_fetch_add(&page->processes_count, 1);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("WEIR_CHAOS_PAGE"), *number = getenv("WEIR_CHAOS_SEED");
    const char *store = getenv("WEIR_CHAOS_STORE");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap64(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)syscall(SYS_close, fd);
    if (mapped == MAP_FAILED)
        return;
    seed = number ? strtoull(number, NULL, 10) : 0;
    (void)snprintf(store_path, sizeof(store_path), "%s", store ? store : "");
    read_plan(getenv("WEIR_CHAOS_PLAN"));
    find_code("/weir\n", &program_from, &program_to);
    find_code("libsqlite3", &sqlite_from, &sqlite_to);
    page = mapped;
    for (int kind = 0; kind < KINDS_COUNT; kind++)
        (void)snprintf(page->kinds[kind].name, NAME_BYTES, "%s", kind_names[kind]);
    begin_process();
    (void)pthread_atfork(NULL, NULL, begin_process);
}
