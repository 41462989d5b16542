/* test_server.h -- for tests: a server in a process of its own that gives the same bytes to every
 * request, so many times, and then is gone. */
#ifndef WR_TESTS_TEST_SERVER_H
#define WR_TESTS_TEST_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct test_server {
    pid_t pid;
    int port;
};

/* Reads a request: its head, and as much body as that says. */
static inline void test_server_read(int fd)
{
    static char bytes[1 << 16];
    size_t len = 0, body = 0;
    char *end = NULL;

    while (len < sizeof(bytes) - 1) {
        ssize_t got = read(fd, bytes + len, sizeof(bytes) - 1 - len);
        if (got <= 0)
            return;
        len += (size_t)got;
        bytes[len] = 0;
        end = strstr(bytes, "\r\n\r\n");
        const char *size = strcasestr(bytes, "content-length:");
        body = size ? strtoul(size + strlen("content-length:"), NULL, 10) : 0;
        if (end && len >= (size_t)(end - bytes) + 4 + body)
            return;
    }
}

static inline void test_server_serve(int listener, const char *const *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int fd = accept(listener, NULL, NULL);
        test_server_read(fd);
        size_t len = strlen(answers[i]);
        if (len && write(fd, answers[i], len) != (ssize_t)len)
            _exit(1);
        if (!len)
            pause(); /* says nothing */
        (void)close(fd);
    }
    _exit(0);
}

/* An empty answer: the request is left without one. */
static inline struct test_server test_server_start(const char *const *answers, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t at_bytes = sizeof(at);
    struct test_server server;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &at_bytes), 0);
    server.port = ntohs(at.sin_port);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (!server.pid)
        test_server_serve(listener, answers, count);
    (void)close(listener);
    return server;
}

static inline void test_server_stop(struct test_server *server)
{
    (void)kill(server->pid, SIGKILL);
    (void)waitpid(server->pid, NULL, 0);
}

#define TEST_STREAM \
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"

/* A streamed chat answer of one word. */
#define TEST_CHAT(word)                                                                           \
    TEST_STREAM "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" word \
                "\"}}]}\n\n"                                                                      \
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" \
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,"                         \
                "\"completion_tokens\":7,\"total_tokens\":107}}\n\n"                              \
                "data: [DONE]\n\n"

#endif
