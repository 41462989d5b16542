#include "cli/ledger_open.h"

#include <string.h>

#include "base/clock.h"
#include "base/span.h"
#include "cli/store_dir.h"

enum { PATH_BYTES_MAX = 4096, SECOND_MS = 1000 };

struct wr_ledger *wr_cli_ledger(const char *command, const char *dir)
{
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger = NULL;
    struct weir_err err = {0};
    struct wr_buf path;
    weir_trouble trouble;

    wr_buf_init(&path, PATH_BYTES_MAX);
    if (dir || wr_cli_store_path(command, &path)) {
        dir = dir ? dir : path.bytes;
        if (wr_ledger_open(dir, &options, &ledger, &trouble, &err))
            wr_cli_fail(command, "store %s: %s%s", dir, err.text, wr_cli_store_advice(trouble));
    }
    wr_buf_release(&path);
    return ledger;
}

struct wr_models *wr_cli_models(const char *command, const char *config)
{
    struct wr_models_source source = {.overrides_shared = true};
    struct wr_models *models = NULL;
    struct wr_buf yaml = {0};
    struct weir_err err = {0};

    if (!config || wr_cli_read(command, config, &yaml)) {
        source.overrides = wr_buf_view(&yaml);
        if (wr_models_new(&models, &source, &err))
            wr_cli_fail(command, "%s: %s", config ? config : "models", err.text);
    }
    wr_buf_release(&yaml);
    return models;
}

void wr_cli_put_money(struct wr_buf *out, int64_t micro_usd)
{
    uint64_t amount = micro_usd < 0 ? (uint64_t)-micro_usd : (uint64_t)micro_usd;
    const char *sign = micro_usd < 0 ? "-" : "";
    if (amount >= 999950) /* whole cents, and what would be rounded up to a dollar */
        wr_buf_printf(out, "%s$%llu.%02llu", sign, (unsigned long long)((amount + 5000) / 1000000),
                      (unsigned long long)((amount + 5000) / 10000 % 100));
    else
        wr_buf_printf(out, "%s$0.%04llu", sign, (unsigned long long)((amount + 50) / 100));
}

void wr_cli_put_ago(struct wr_buf *out, int64_t time_ms)
{
    int64_t seconds = (wr_clock_ms() - time_ms) / SECOND_MS;
    if (seconds < 0)
        seconds = 0;
    if (seconds < 120)
        wr_buf_printf(out, "%lld s", (long long)seconds);
    else if (seconds < 2 * 3600)
        wr_buf_printf(out, "%lld min", (long long)seconds / 60);
    else if (seconds < 48 * 3600)
        wr_buf_printf(out, "%lld h", (long long)seconds / 3600);
    else
        wr_buf_printf(out, "%lld days", (long long)seconds / 86400);
}

bool wr_cli_since(const char *command, const char *text, int64_t *since_ms)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    enum { NUMBER_MAX = 1000 * 1000 * 1000 };
    weir_span word = wr_span_of(text);
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && word.len > 1; i++) {
        weir_span digits = wr_span_cut(word, 0, word.len - 1);
        if (word.ptr[word.len - 1] != units[i].unit || !wr_span_u64(digits, &number) ||
            number > NUMBER_MAX)
            continue;
        *since_ms = wr_clock_ms() - (int64_t)number * units[i].seconds * SECOND_MS;
        return true;
    }
    if (wr_span_u64(word, &number) && number <= 4ULL * NUMBER_MAX) {
        *since_ms = (int64_t)number * SECOND_MS;
        return true;
    }
    wr_cli_fail(command,
                "--since takes how long ago (90m, 24h, 7d) or seconds since 1970, not '%s'", text);
    return false;
}
