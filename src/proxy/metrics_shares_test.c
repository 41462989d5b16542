#include "proxy/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/span.h"

static struct wr_record record_of(const char *user, const char *model)
{
    struct wr_record r;
    wr_record_init(&r);
    r.user = wr_span_of(user);
    r.team = WR_LIT("search");
    r.upstream = WR_LIT("openai");
    r.agent = WR_LIT("codex");
    (void)snprintf(r.model, sizeof(r.model), "%s", model);
    r.status = 200;
    r.is_usage_known = true;
    r.usage.input_tokens = 1000;
    r.usage.output_tokens = 10;
    r.micro_usd = 1500001;
    return r;
}

/* Line by line: with strict checks of strings, strstr() would read to the end each time. */
static size_t count_lines(const char *text, const char *with)
{
    size_t count = 0, bytes = strlen(with);

    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        count += !strncmp(at, with, bytes);
    }
    return count;
}

static const char *text_of(const struct wr_shares *shares, struct wr_buf *out)
{
    wr_buf_init(out, 64 * 1024 * 1024);
    wr_shares_write(shares, out);
    wr_buf_byte(out, '\0');
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    return out->bytes;
}

static void equal_names_are_one_place(void **state)
{
    struct wr_shares *shares = calloc(1, sizeof(*shares));
    struct wr_record anna = record_of("anna", "gpt-5"), bob = record_of("bob", "gpt-5");
    struct wr_buf out;

    (void)state;
    bob.micro_usd = -1;
    bob.status = 500;
    wr_shares_count(shares, &anna);
    wr_shares_count(shares, &anna);
    wr_shares_count(shares, &bob);
    const char *text = text_of(shares, &out);
#define ANNA "{user=\"anna\",team=\"search\",model=\"gpt-5\",upstream=\"openai\",agent=\"codex\""
    assert_non_null(strstr(text, "weir_traffic_requests_total" ANNA "} 2\n"));
    assert_non_null(strstr(text, "weir_traffic_cost_usd_total" ANNA "} 3.000002\n"));
    assert_non_null(strstr(text, "weir_traffic_tokens_total" ANNA ",kind=\"input\"} 2000\n"));
    assert_non_null(strstr(text, "weir_traffic_failed_total" ANNA "} 0\n"));
    assert_null(strstr(text, "weir_traffic_unpriced_total" ANNA));
    assert_int_equal(count_lines(text, "weir_traffic_unpriced_total{user=\"bob\""), 1);
    assert_int_equal(count_lines(text, "weir_traffic_requests_total{"), 2);
    wr_buf_release(&out);
    free(shares);
}

static void names_of_clients_cannot_break_or_fill_the_page(void **state)
{
    struct wr_shares *shares = calloc(1, sizeof(*shares));
    struct wr_record r = record_of("anna", "a\"b\\c\n\xC3\xA9");
    struct wr_buf out;
    uint64_t sum = 0;

    (void)state;
    wr_shares_count(shares, &r);
    const char *text = text_of(shares, &out);
    assert_non_null(strstr(text, "model=\"a_b_c___\""));
    wr_buf_release(&out);
    enum { MANY = WR_PROXY_SHARES_MAX * 3 };
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(r.model, sizeof(r.model), "model-%d", i);
        wr_shares_count(shares, &r);
    }
    for (size_t i = 0; i < WR_PROXY_SHARES_MAX; i++)
        sum += shares->items[i].requests;
    assert_int_equal(sum, MANY + 1);
    text = text_of(shares, &out);
    assert_int_equal(count_lines(text, "weir_traffic_requests_total{user=\"other\""), 1);
    assert_true(count_lines(text, "weir_traffic_requests_total{") <= WR_PROXY_SHARES_MAX);
    wr_buf_release(&out);
    free(shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_are_one_place),
        cmocka_unit_test(names_of_clients_cannot_break_or_fill_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
