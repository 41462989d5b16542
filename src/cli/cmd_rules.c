/* `weir rules`: what people pin again and again, proposed as rules of weir.yaml.
 *
 * What was pinned in three sessions is no accident. Tools and paths count, a piece that was pinned
 * by its number for the path that it was listed with, and a pattern for everything that it fits.
 *
 * A rule is one line of weir.yaml, which is put in as text, before the other rules, because of
 * tools the first that fits decides: everything else of the file stays as it is, comments included.
 * The new text is read as `weir serve` would before it is written. */
#include "cli/open.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/steer.h"
#include "proxy/config.h"

enum { PINNED_OFTEN = 3 };

struct rules_options {
    const char *store, *tenant, *config, *accept;
};

#define VALUES struct rules_options

static const struct wr_option options[] = {
    {"accept", WR_TEXT("NAME", accept),
     "write the rule for this tool or path into the file of --config; path:NAME and tool:NAME say "
     "which is meant"},
    {"config", WR_FILE(config), "the weir.yaml to write into"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
};

struct proposal {
    struct wr_order pin;
    uint64_t sessions_count;
    size_t session; /* the newest of them, plus one */
};

struct pinned {
    struct wr_order pin;
    size_t session;
};

struct listing {
    struct wr_arena arena;
    weir_span *sessions;
    size_t sessions_count, sessions_cap;
    struct pinned *pins;
    size_t pins_count, pins_cap;
    struct proposal *items;
    size_t count, cap;
};

static weir_status on_session(void *user, const struct wr_ledger_session *session)
{
    struct listing *l = user;

    if (!session->session.len)
        return WEIR_OK;
    if (!WR_ARENA_ROOM(&l->arena, l->sessions, l->sessions_count, l->sessions_cap, 64))
        return wr_arena_status(&l->arena);
    l->sessions[l->sessions_count++] = wr_arena_copy(&l->arena, session->session);
    return wr_arena_status(&l->arena);
}

/* The text of a handle is of one session; the file that was meant may come in others. */
static bool is_rule(const struct wr_order *pin, struct wr_order *rule)
{
    *rule = *pin;
    rule->of = (weir_span){"", 0};
    if (pin->pin != WR_PIN_HANDLE)
        return true;
    rule->pin = WR_PIN_PATH;
    rule->name = pin->of;
    return pin->of.len > 0;
}

static bool fits_rule(const struct wr_order *rule, const struct wr_order *pin)
{
    if (rule->pin != pin->pin)
        return false;
    return rule->pin == WR_PIN_TOOL ? wr_pin_fits_tool(rule->name, pin->name)
                                    : wr_pin_fits_path(rule->name, pin->name);
}

static weir_status add_pin(struct listing *l, const struct wr_order *pin, size_t session)
{
    if (!WR_ARENA_ROOM(&l->arena, l->pins, l->pins_count, l->pins_cap, 64))
        return wr_arena_status(&l->arena);
    l->pins[l->pins_count++] = (struct pinned){*pin, session};
    for (size_t i = 0; i < l->count; i++)
        if (wr_order_is_same_pin(&l->items[i].pin, pin))
            return WEIR_OK;
    if (!WR_ARENA_ROOM(&l->arena, l->items, l->count, l->cap, 64))
        return wr_arena_status(&l->arena);
    l->items[l->count++] = (struct proposal){.pin = *pin};
    return WEIR_OK;
}

/* What is pinned in a session now: what was taken back is not wanted. */
static weir_status read_session(struct listing *l, struct weir_store *store, weir_span tenant,
                                size_t session)
{
    weir_span name = l->sessions[session], rest, line;
    struct wr_order pin, rule;
    struct wr_order_head head;
    struct wr_buf pins;
    weir_status status = wr_order_head_read(store, tenant, name, &head);

    if (status || !head.count)
        return status;
    wr_buf_init(&pins, WR_STORE_MARK_BYTES_MAX);
    status = wr_order_pins(store, tenant, name, head.count, &l->arena, &pins);
    rest = status ? (weir_span){"", 0} : wr_arena_copy(&l->arena, wr_buf_view(&pins));
    wr_buf_release(&pins);
    while (!status && rest.ptr && wr_span_line(&rest, &line))
        if (wr_order_read(line, &pin) && is_rule(&pin, &rule))
            status = add_pin(l, &rule, session);
    return status;
}

/* Pins stand in the order of their sessions, so that each session counts once. */
static void count_sessions(struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->pins_count; k++) {
            struct proposal *p = &l->items[i];
            if (p->session == l->pins[k].session + 1 || !fits_rule(&p->pin, &l->pins[k].pin))
                continue;
            p->session = l->pins[k].session + 1;
            p->sessions_count++;
        }
}

static weir_status read_proposals(struct listing *l, const struct rules_options *o,
                                  struct wr_ledger *ledger, struct weir_store *store,
                                  struct weir_err *err)
{
    struct wr_ledger_filter filter = {.tenant = wr_span_of(o->tenant)};
    weir_status status = wr_ledger_sessions(ledger, &filter, on_session, l, err);

    for (size_t i = 0; i < l->sessions_count && !status; i++)
        status = read_session(l, store, filter.tenant, i);
    count_sessions(l);
    return status;
}

static int print_proposals(const struct listing *l)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < l->count; i++) {
        const struct proposal *p = &l->items[i];
        if (p->sessions_count < PINNED_OFTEN)
            continue;
        wr_buf_printf(&out, "%-5s ", wr_pin_name(p->pin.pin));
        wr_text_excerpt(&out, p->pin.name, 80);
        wr_buf_printf(&out, "  pinned in %llu sessions\n", (unsigned long long)p->sessions_count);
    }
    wr_buf_text(&out, out.len ? "`weir rules --accept NAME --config weir.yaml` makes one a rule\n"
                              : "nothing was pinned in three sessions yet\n");
    return wr_cli_end(&out, WR_EXIT_OK);
}

/* ---- accepting ---- */

/* Where a line begins that says this at the top level of the file, and its end. */
static bool find_top_line(weir_span yaml, weir_span key, size_t *end)
{
    weir_span rest = yaml, line;

    while (wr_span_line(&rest, &line)) {
        weir_span value;
        if (!wr_span_starts(line, key))
            continue;
        value = wr_span_trim(wr_span_from(line, key.len));
        *end = (size_t)(rest.ptr - yaml.ptr);
        return !value.len || value.ptr[0] == '#'; /* a block follows, not a list in brackets */
    }
    *end = SIZE_MAX;
    return false;
}

static void write_rule(struct wr_buf *out, const struct wr_order *rule)
{
    wr_buf_printf(out, "{%s: \"", wr_pin_name(rule->pin));
    for (size_t i = 0; i < rule->name.len; i++) {
        if (strchr("\"\\", rule->name.ptr[i]))
            wr_buf_byte(out, '\\');
        wr_buf_byte(out, rule->name.ptr[i]);
    }
    wr_buf_text(out, "\", mode: off}");
}

static void write_item(struct wr_buf *out, const struct wr_order *rule, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        wr_buf_byte(out, ' ');
    wr_buf_text(out, "- ");
    write_rule(out, rule);
    wr_buf_byte(out, '\n');
}

/* False: the rules are written in a way that a line cannot be put into. */
static bool add_rule(weir_span yaml, const struct wr_order *rule, struct wr_buf *out)
{
    size_t at, indent = 0;
    bool has_block = find_top_line(yaml, WR_LIT("rollout:"), &at);

    if (at != SIZE_MAX && !has_block)
        return false;
    if (at == SIZE_MAX) {
        wr_buf_append(out, yaml);
        if (yaml.len && yaml.ptr[yaml.len - 1] != '\n')
            wr_buf_byte(out, '\n');
        wr_buf_text(out, "rollout:\n");
        write_item(out, rule, 2);
        return true;
    }
    weir_span rest = wr_span_from(yaml, at), line;
    while (wr_span_line(&rest, &line)) {
        weir_span words = wr_span_trim(line);
        if (!words.len || words.ptr[0] == '#')
            continue;
        indent = words.ptr[0] == '-' ? (size_t)(words.ptr - line.ptr) : 2;
        break;
    }
    wr_buf_append(out, wr_span_cut(yaml, 0, at));
    write_item(out, rule, indent);
    wr_buf_append(out, wr_span_from(yaml, at));
    return true;
}

static bool is_readable(const char *path, weir_span yaml)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    weir_status status = config ? wr_config_read(config, yaml, &err) : WEIR_NOMEM;

    wr_config_free(config);
    if (status)
        (void)wr_cli_fail_in(path, err.text[0] ? err.text : weir_status_text(status));
    return !status;
}

static bool is_tool_name(weir_span tool)
{
    for (size_t i = 0; i < tool.len; i++)
        if ((unsigned char)tool.ptr[i] <= ' ' || strchr("\"\\'{},[]#", tool.ptr[i]))
            return false;
    return tool.len > 0;
}

/* What is meant by --accept: it may say so; else a path has a slash or a dot in it, as tools have
 * none that are named without their server. False: it was said that it is nothing. */
static bool read_accepted(const char *word, struct wr_order *rule)
{
    weir_span name = wr_span_of(word);

    *rule = (struct wr_order){.kind = WR_ORDER_PIN, .pin = WR_PIN_TOOL, .name = name};
    if (wr_span_starts(name, WR_LIT("tool:"))) {
        rule->name = wr_span_from(name, 5);
    } else if (wr_span_starts(name, WR_LIT("path:"))) {
        rule->pin = WR_PIN_PATH;
        rule->name = wr_span_from(name, 5);
    } else if (strpbrk(word, "/.")) {
        rule->pin = WR_PIN_PATH;
    }
    if (rule->pin == WR_PIN_TOOL ? is_tool_name(rule->name) : rule->name.len > 0)
        return true;
    (void)wr_cli_fail("'%s' is no name of a tool, and no path; `weir rules` lists them", word);
    return false;
}

/* False: it was told on stderr. */
static bool rewrite_config(const char *path, const struct wr_order *rule, struct wr_buf *yaml,
                           struct wr_buf *out)
{
    struct wr_buf line;

    wr_buf_init(&line, WR_ORDER_BYTES_MAX * 2);
    write_rule(&line, rule);
    wr_buf_byte(&line, '\0');
    bool has_it = wr_span_find(wr_buf_view(yaml), wr_span_of(line.bytes), 0) != SIZE_MAX;
    bool is_added = !has_it && add_rule(wr_buf_view(yaml), rule, out);
    if (has_it)
        (void)wr_cli_fail("%s has that rule already", path);
    else if (!is_added)
        (void)wr_cli_fail(
            "%s: its rules are a list in brackets; put this line into it yourself: %s", path,
            line.bytes);
    wr_buf_release(&line);
    return is_added && is_readable(path, wr_buf_view(out)) &&
           wr_cli_write_file(path, wr_buf_view(out));
}

static int accept_rule(const struct rules_options *o)
{
    struct wr_buf yaml = {0}, out;
    struct wr_order rule;
    int code = WR_EXIT_USAGE;

    if (!o->config)
        return wr_cli_fail("--accept goes with --config FILE: the weir.yaml to write into");
    if (!read_accepted(o->accept, &rule))
        return WR_EXIT_USAGE;
    wr_buf_init(&yaml, WR_PROXY_CONFIG_BYTES_MAX);
    if (!access(o->config, F_OK) && !wr_cli_read(o->config, &yaml)) {
        wr_buf_release(&yaml);
        return WR_EXIT_USAGE;
    }
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (rewrite_config(o->config, &rule, &yaml, &out)) {
        code = WR_EXIT_OK;
        printf("%s: %s %.*s stays whole in sessions that begin from now on (`weir serve` reads it "
               "anew on SIGHUP)\n",
               o->config, wr_pin_name(rule.pin), (int)rule.name.len, rule.name.ptr);
    }
    wr_buf_release(&yaml);
    wr_buf_release(&out);
    return code;
}

static int run_rules(void *values, const struct wr_words *words)
{
    const struct rules_options *o = values;
    struct weir_store_options how = {.must_exist = true};
    struct listing l = {0};
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    (void)words;
    if (o->accept)
        return accept_rule(o);
    struct wr_ledger *ledger = wr_cli_ledger(o->store);
    struct weir_store *store = ledger ? wr_cli_store(o->store, &how) : NULL;
    wr_arena_init(&l.arena, WR_ARENA_BYTES_MAX);
    if (store) {
        weir_status status = read_proposals(&l, o, ledger, store, &err);
        code = status ? wr_cli_fail_status(status, &err) : print_proposals(&l);
    }
    wr_arena_release(&l.arena);
    weir_store_close(store);
    wr_ledger_close(ledger);
    return code;
}

const struct wr_command wr_cmd_rules = {
    .name = "rules",
    .purpose = "what is pinned again and again, as rules",
    .usage = "[OPTIONS]",
    .about =
        "Lists the tools and paths that are pinned in three sessions or more; a pattern counts "
        "for all that it fits. --accept makes one a rule of weir.yaml: what it names stays "
        "whole in every session that begins from then on, as if it were pinned there. The "
        "rest of the file, comments included, stays as it is.",
    WR_OPTIONS(options),
    .defaults = &(const struct rules_options){.tenant = WR_CLI_TENANT},
    .wants = "`weir pin` pins in one session",
    .example = "weir rules\nweir rules --accept Read --config weir.yaml\n"
               "weir rules --accept 'docs/*.md' --config weir.yaml",
    .run = run_rules,
};
