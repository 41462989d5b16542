/* Also built over os_posix.c, by tests/os_test.sh: both must do the same. */
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/span.h"

static bool is_closed_on_exec(int fd)
{
    return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static void descriptors_are_not_inherited(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(wr_os_pipe(ends), 0);
    int plain = wr_os_socket(AF_INET, SOCK_STREAM, 0);
    int no_wait = wr_os_socket_no_wait(AF_INET, SOCK_STREAM, 0);
    const int fds[] = {ends[0], ends[1], plain, no_wait};
    for (size_t i = 0; i < 4; i++) {
        assert_true(fds[i] >= 0 && is_closed_on_exec(fds[i]));
        assert_int_equal(!!(fcntl(fds[i], F_GETFL) & O_NONBLOCK), fds[i] == no_wait);
        (void)close(fds[i]);
    }
    assert_int_equal(wr_os_socket(-1, SOCK_STREAM, 0), -1);
}

static void a_child_closes_what_it_shall_not_have(void **state)
{
    int kept = dup(STDOUT_FILENO), status;
    (void)state;
    int gone = fcntl(kept, F_DUPFD, 200);
    assert_true(gone >= 200);
    if (!fork()) {
        wr_os_close_from(kept + 1);
        _exit(fcntl(kept, F_GETFD) >= 0 && fcntl(gone, F_GETFD) < 0 ? 0 : 1);
    }
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    (void)close(kept);
    (void)close(gone);
}

static int is_told(const struct wr_os_wake *wake)
{
    struct pollfd poll_it = {.fd = wake->poll_fd, .events = POLLIN};
    return poll(&poll_it, 1, 0);
}

struct lot {
    int to;
    weir_span bytes;
    bool is_written;
};

static void *write_lot(void *user)
{
    struct lot *lot = user;
    lot->is_written = wr_os_write_all(lot->to, lot->bytes);
    (void)close(lot->to);
    return NULL;
}

/* A pipe takes 64 KiB at a time. */
static void all_is_written_in_as_many_parts_as_it_takes(void **state)
{
    static char bytes[300000], got[4096];
    int ends[2];
    size_t count = 0;
    ssize_t part;
    pthread_t writer;
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)('a' + i % 23);
    assert_int_equal(wr_os_pipe(ends), 0);
    struct lot lot = {.to = ends[1], .bytes = {bytes, sizeof(bytes)}};
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_lot, &lot), 0);
    while ((part = read(ends[0], got, sizeof(got))) > 0) {
        assert_memory_equal(got, bytes + count, (size_t)part);
        count += (size_t)part;
    }
    (void)pthread_join(writer, NULL);
    (void)close(ends[0]);
    assert_true(lot.is_written);
    assert_int_equal(count, sizeof(bytes));
    assert_false(wr_os_write_all(-1, WR_LIT("a")));
    assert_true(wr_os_write_all(-1, WR_LIT("")));
}

static void a_wake_is_heard_once(void **state)
{
    struct wr_os_wake wake;
    (void)state;
    assert_true(wr_os_wake_open(&wake));
    assert_int_equal(is_told(&wake), 0);
    wr_os_wake_tell(&wake);
    wr_os_wake_tell(&wake);
    assert_int_equal(is_told(&wake), 1);
    wr_os_wake_heard(&wake);
    assert_int_equal(is_told(&wake), 0);
    wr_os_wake_heard(&wake); /* does not wait */
    wr_os_wake_tell(&wake);
    assert_int_equal(is_told(&wake), 1);
    wr_os_wake_close(&wake);
    assert_int_equal(wake.poll_fd, -1);
    wr_os_wake_close(&wake);
}

static void a_file_has_its_times(void **state)
{
    char path[] = "/tmp/weir-os-XXXXXX";
    const struct timespec times[] = {{.tv_sec = 5, .tv_nsec = 6000}, {.tv_sec = 7, .tv_nsec = 800}};
    struct stat info;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !unlink(path));
    assert_int_equal(wr_os_sync(fd), 0);
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(wr_os_time_read(&info).tv_sec, 5);
    assert_int_equal(wr_os_time_written(&info).tv_sec, 7);
    assert_int_equal(wr_os_time_written(&info).tv_nsec, 800);
    assert_true(wr_os_time_changed(&info).tv_sec > 7);
    (void)close(fd);
    assert_int_equal(wr_os_sync(fd), -1);
}

static void a_signal_is_waited_for(void **state)
{
    sigset_t set;
    bool is_terminals = true;
    (void)state;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)kill(getpid(), SIGUSR1);
    assert_int_equal(wr_os_signal_wait(&set, &is_terminals), SIGUSR1);
    assert_false(is_terminals);
}

static void a_wait_ends_by_the_steady_clock(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    struct timespec until, now;
    (void)state;
    assert_true(wr_os_steady_cond_init(&cond));
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += until.tv_nsec >= 990000000;
    until.tv_nsec = (until.tv_nsec + 10000000) % 1000000000;
    (void)pthread_mutex_lock(&lock);
    int result = 0;
    while (!result)
        result = wr_os_steady_cond_wait(&cond, &lock, &until);
    (void)pthread_mutex_unlock(&lock);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    assert_int_equal(result, ETIMEDOUT);
    assert_true(now.tv_sec > until.tv_sec ||
                (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
    (void)pthread_cond_destroy(&cond);
}

enum { ROUNDS = 2000, PROCESSES = 4 };
struct shared {
    struct wr_os_shared_lock lock;
    volatile int count;
};

static struct shared *new_shared(void)
{
    struct shared *s =
        mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED && wr_os_shared_lock_init(&s->lock));
    return s;
}

static void one_process_at_a_time_has_the_lock(void **state)
{
    struct shared *s = new_shared();
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        if (!fork()) {
            for (int k = 0; k < ROUNDS; k++) {
                if (wr_os_shared_lock_take(&s->lock) != WR_OS_LOCKED)
                    _exit(1);
                s->count = s->count + 1;
                wr_os_shared_lock_give(&s->lock);
            }
            _exit(0);
        }
    for (int i = 0, status; i < PROCESSES; i++)
        assert_true(wait(&status) > 0 && !status);
    assert_int_equal(s->count, PROCESSES * ROUNDS);
    (void)munmap(s, sizeof(*s));
}

static void a_lock_comes_free_when_its_holder_is_killed(void **state)
{
    struct shared *s = new_shared();
    int status;
    (void)state;
    if (!fork()) {
        (void)!wr_os_shared_lock_take(&s->lock);
        (void)raise(SIGKILL);
    }
    assert_true(wait(&status) > 0 && WIFSIGNALED(status));
    assert_int_equal(wr_os_shared_lock_take(&s->lock), WR_OS_LOCKED_TORN);
    wr_os_shared_lock_give(&s->lock);
    assert_int_equal(wr_os_shared_lock_take(&s->lock), WR_OS_LOCKED);
    wr_os_shared_lock_give(&s->lock);
    (void)munmap(s, sizeof(*s));
}

static void randomness_is_not_the_same_twice(void **state)
{
    char one[16], two[16];
    (void)state;
    assert_true(wr_os_random(one, sizeof(one)) && wr_os_random(two, sizeof(two)));
    assert_memory_not_equal(one, two, sizeof(one));
}

static void the_last_byte_is_found(void **state)
{
    static const char text[] = "a/b/c";
    (void)state;
    assert_ptr_equal(wr_os_last_byte(text, '/', 5), text + 3);
    assert_ptr_equal(wr_os_last_byte(text, '/', 3), text + 1);
    assert_ptr_equal(wr_os_last_byte(text, 'a', 5), text);
    assert_null(wr_os_last_byte(text, 'x', 5));
    assert_null(wr_os_last_byte(NULL, 'x', 0));
}

#if WR_OS_IS_LINUX || defined(__APPLE__)
static void look_for_self(void *user, long pid)
{
    *(bool *)user |= pid == getpid();
}

static void this_process_is_known(void **state)
{
    struct wr_os_process self;
    char path[4096], bytes[65536];
    const char *at = NULL, *own = getenv("PATH");
    bool is_listed = false;
    (void)state;
    assert_true(wr_os_process_find(getpid(), &self));
    assert_int_equal(self.parent, getppid());
    assert_true(strstr(self.name, "os_test") != NULL);
    size_t len = wr_os_program_path(path, sizeof(path));
    assert_true(len && strlen(path) == len && strstr(path, "os_test") != NULL);
    assert_int_equal(access(path, X_OK), 0);
    assert_true(!wr_os_process_find(-5, &self));
    wr_os_process_each(look_for_self, &is_listed);
    assert_true(is_listed);
    size_t count = wr_os_process_environment(getpid(), bytes, sizeof(bytes));
    if (own)
        at = memmem(bytes, count, own, strlen(own) + 1);
    assert_true(!own || at);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_not_inherited),
        cmocka_unit_test(a_child_closes_what_it_shall_not_have),
        cmocka_unit_test(all_is_written_in_as_many_parts_as_it_takes),
        cmocka_unit_test(a_wake_is_heard_once),
        cmocka_unit_test(a_file_has_its_times),
        cmocka_unit_test(a_signal_is_waited_for),
        cmocka_unit_test(a_wait_ends_by_the_steady_clock),
        cmocka_unit_test(one_process_at_a_time_has_the_lock),
        cmocka_unit_test(a_lock_comes_free_when_its_holder_is_killed),
        cmocka_unit_test(randomness_is_not_the_same_twice),
        cmocka_unit_test(the_last_byte_is_found),
#if WR_OS_IS_LINUX || defined(__APPLE__)
        cmocka_unit_test(this_process_is_known),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
