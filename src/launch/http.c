#include "launch/http.h"

#include <curl/curl.h>

#include "base/span.h"
#include "net/ca_file.h"
#include "net/fetch.h"

struct reading {
    struct wr_buf *body;
    struct wr_http_answer *answer;
};

static size_t on_data(char *bytes, size_t size, size_t count, void *user)
{
    struct reading *r = user;
    if (r->body)
        wr_buf_append(r->body, (weir_span){bytes, size * count});
    return size * count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    static const char name[] = "date:";
    struct reading *r = user;
    size_t len = size * count;
    char value[64];

    if (len > sizeof(name) && !strncasecmp(bytes, name, strlen(name))) {
        weir_span text = wr_span_trim((weir_span){bytes + strlen(name), len - strlen(name)});
        (void)snprintf(value, sizeof(value), "%.*s", (int)text.len, text.ptr);
        r->answer->date_s = (int64_t)curl_getdate(value, NULL);
    }
    return len;
}

static void perform_request(CURL *curl, struct wr_http_answer *answer)
{
    CURLcode code = curl_easy_perform(curl);
    curl_off_t connect_us = 0, tls_us = 0;
    long status = 0;

    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &connect_us);
    (void)curl_easy_getinfo(curl, CURLINFO_APPCONNECT_TIME_T, &tls_us);
    answer->has_connected = connect_us > 0;
    answer->connect_ms = (uint32_t)((tls_us ? tls_us : connect_us) / 1000);
    answer->status = code && !status ? 0 : (int)status;
    if (code)
        answer->why = curl_easy_strerror(code);
}

static void get_url(CURL *curl, const char *url, uint32_t ms_max, struct wr_buf *body,
                    struct wr_http_answer *answer)
{
    struct reading r = {body, answer};

    *answer = (struct wr_http_answer){.date_s = -1, .why = "out of memory"};
    if (!curl)
        return;
    answer->why = "";
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ms_max);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &r);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, &r);
    perform_request(curl, answer);
    curl_easy_cleanup(curl);
}

void wr_http_get_local(const char *url, uint32_t ms_max, struct wr_buf *body,
                       struct wr_http_answer *answer)
{
    CURL *curl = curl_easy_init();

    if (curl)
        (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    get_url(curl, url, ms_max, body, answer);
}

void wr_http_get(const char *url, const char *proxy, const char *ca_file, uint32_t ms_max,
                 struct wr_http_answer *answer)
{
    CURL *curl = curl_easy_init();
    const char *chosen = wr_fetch_proxy(proxy, url);

    if (curl && chosen) {
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, chosen);
        (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    }
    if (!ca_file)
        ca_file = wr_ca_file_find();
    if (curl && ca_file)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    get_url(curl, url, ms_max, NULL, answer);
}
