/* `weir token`: access tokens for the users of a gateway (docs/gateway.md). */

#include "base/base64.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/open.h"
#include "proxy/config.h"

enum { RANDOM_BYTES = 32, TOKEN_BYTES_MIN = 16 };

struct token_options {
    const char *team, *config;
    uint64_t days;
};

#define VALUES struct token_options

static const struct wr_option options[] = {
    {"team", WR_TEXT("NAME", team), "new: the user's team, for the lines that are printed"},
    {"days", WR_NUMBER("N", days, 1, 36500),
     "new, hash: how long the token is good; else for ever"},
    {"config", WR_FILE(config), "list: the weir.yaml whose users are listed"},
};

/* "-_" in the place of "+/", and no "=": it stands in paths and headers. */
static bool make_token(struct wr_buf *out)
{
    char bytes[RANDOM_BYTES];

    if (!wr_os_random(bytes, sizeof(bytes)))
        return false;
    wr_buf_text(out, "weir-");
    size_t from = out->len;
    wr_base64_encode((weir_span){bytes, sizeof(bytes)}, out);
    for (size_t i = from; i < out->len; i++)
        out->bytes[i] = out->bytes[i] == '+' ? '-' : out->bytes[i] == '/' ? '_' : out->bytes[i];
    while (!wr_buf_status(out) && out->bytes[out->len - 1] == '=')
        out->len--;
    return !wr_buf_status(out);
}

static bool put_entry(struct wr_buf *out, weir_span token, uint64_t days)
{
    char hex[WR_SHA256_HEX_BYTES + 1], until[WR_DATE_BYTES];

    if (wr_user_token_hash(token, hex))
        return false;
    wr_buf_printf(out, "      - {sha256: %s", hex);
    if (days) {
        wr_date_write(wr_clock_ms() + (int64_t)days * WR_DAY_MS, until);
        wr_buf_printf(out, ", expires: %s", until);
    }
    wr_buf_text(out, "}\n");
    return true;
}

static int print_new(const char *name, const struct token_options *o)
{
    struct wr_buf token, out;

    if (!wr_user_name_is(wr_span_of(name)) || (o->team && !wr_user_name_is(wr_span_of(o->team))))
        return wr_cli_fail("a user or team has a name of up to %d letters, digits, `.`, `_` and "
                           "`-`, a letter or digit first",
                           WR_PROXY_USER_NAME_BYTES_MAX);
    wr_buf_init(&token, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    bool ok = make_token(&token);
    wr_buf_append(&out, wr_buf_view(&token));
    wr_buf_text(&out, "\n\n# The token above is shown this once: give it to its user. weir.yaml "
                      "holds its hash\n# (then SIGHUP, or `weir serve --check-config`):\nusers:\n");
    wr_buf_printf(&out, "  %s:\n", name);
    if (o->team)
        wr_buf_printf(&out, "    team: %s\n", o->team);
    wr_buf_text(&out, "    tokens:\n");
    ok = ok && put_entry(&out, wr_buf_view(&token), o->days);
    wr_buf_release(&token);
    if (ok)
        return wr_cli_end(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    return wr_cli_fail("no token could be made: %s", weir_status_text(WEIR_NOMEM));
}

/* Of a token that somebody has: from stdin, so that it is in no list of processes. */
static int print_hash(const struct token_options *o)
{
    struct wr_buf text, out;

    if (!wr_cli_read("-", &text))
        return WR_EXIT_USAGE;
    weir_span token = wr_span_trim(wr_buf_view(&text));
    bool is_token = token.len >= TOKEN_BYTES_MIN && !memchr(token.ptr, '/', token.len) &&
                    !memchr(token.ptr, '\n', token.len);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    bool ok = is_token && put_entry(&out, token, o->days);
    wr_buf_release(&text);
    if (ok)
        return wr_cli_end(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    return wr_cli_fail("stdin holds no token: that is one line of at least %d characters, "
                       "without '/'",
                       TOKEN_BYTES_MIN);
}

static void put_user(struct wr_buf *out, const struct wr_users *users, const struct wr_user *user)
{
    size_t good = 0, expired = 0;
    int64_t now_ms = wr_clock_ms(), last_ms = 0;
    char until[WR_DATE_BYTES] = "";

    for (size_t i = 0; i < users->tokens_count; i++) {
        const struct wr_user_token *token = &users->tokens[i];
        if (token->user != user)
            continue;
        bool is_good = wr_user_token_is_good(token, now_ms);
        good += is_good;
        expired += !is_good;
        int64_t end_ms = token->expires_ms ? token->expires_ms : INT64_MAX;
        if (is_good && end_ms > last_ms)
            last_ms = end_ms;
    }
    wr_buf_printf(out, "%s%s%s: %zu token%s", user->name, user->team[0] ? ", team " : "",
                  user->team, good, good == 1 ? "" : "s");
    if (good && last_ms < INT64_MAX) {
        wr_date_write(last_ms, until);
        wr_buf_printf(out, ", the last good until %s", until);
    }
    if (expired)
        wr_buf_printf(out, ", %zu expired", expired);
    wr_buf_byte(out, '\n');
}

static int print_list(const struct token_options *o)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    struct wr_buf yaml = {0}, out;
    int code = WR_EXIT_USAGE;

    if (!o->config)
        code = wr_cli_fail("list: --config names the weir.yaml");
    else if (!config)
        code = wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    else if (wr_cli_read(o->config, &yaml)) {
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        if (wr_config_read(config, wr_buf_view(&yaml), &err)) {
            code = wr_cli_fail_in(o->config, err.text);
            wr_buf_release(&out);
        } else {
            for (size_t i = 0; i < config->users.count; i++)
                put_user(&out, &config->users, &config->users.items[i]);
            if (!config->users.count)
                wr_buf_text(&out, "no users; `weir token new NAME` makes a token for one\n");
            code = wr_cli_end(&out, WR_EXIT_OK);
        }
    }
    wr_buf_release(&yaml);
    wr_config_free(config);
    return code;
}

static int run_token(void *values, const struct wr_words *words)
{
    const struct token_options *o = values;
    const char *what = words->count ? words->items[0] : "";

    if (!strcmp(what, "new") && words->count == 2)
        return print_new(words->items[1], o);
    if (!strcmp(what, "hash") && words->count == 1)
        return print_hash(o);
    if (!strcmp(what, "list") && words->count == 1)
        return print_list(o);
    if (!strcmp(what, "new"))
        return wr_cli_fail("name whom it is for: `weir token new NAME`");
    struct wr_near near = wr_near_to(wr_span_of(what));
    wr_words_each("new hash list", NULL, wr_near_offer, &near);
    return wr_cli_fail(
        "there is no 'weir token %s' with these words%s `weir token new NAME`, `weir "
        "token hash` or `weir token list`",
        what, near.text);
}

const struct wr_command wr_cmd_token = {
    .name = "token",
    .purpose = "access tokens for the users of a gateway",
    .usage = "new NAME | hash | list [OPTIONS]",
    .about = "new makes a token: it is printed once, with the lines of weir.yaml that hold its "
             "SHA-256. hash reads a token of your own from stdin and prints its line. list shows "
             "who is named in a weir.yaml. To rotate, add the new line, reload (SIGHUP), and take "
             "the old one out when nobody uses it; to revoke, take it out and reload.",
    WR_OPTIONS(options),
    .words_min = 1,
    .words_max = 2,
    .wants = "`weir token new NAME`, `weir token hash` or `weir token list`",
    .words = "new hash list",
    .example = "weir token new anna --team search --days 90",
    .run = run_token,
};
