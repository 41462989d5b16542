/* policies-page -- the tables of docs/policies.md, from the presets and the stages' definitions.
 *
 * usage: policies-page FILE            writes the tables into FILE, between their markers
 *        policies-page --check FILE    fails when they are not what FILE has
 *
 * A marker is a line `<!-- policies-page: NAME -->`, and `<!-- policies-page: end -->` ends what
 * belongs to it. A program and not a script, because only the definitions know all that is shown:
 * ranges that are constants, words of a parameter, what may differ by tool.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "policy/policy.h"

enum { PAGE_BYTES_MAX = 4 << 20, DIGITS_MAX = 32 };

static const weir_span marker_front = {"<!-- policies-page: ", 20};
static const weir_span marker_end = {"<!-- policies-page: end -->\n", 28};

/* 20000 is 20,000. */
static void write_number(struct wr_buf *out, int64_t number)
{
    char digits[DIGITS_MAX];
    int len = snprintf(digits, sizeof(digits), "%" PRId64, number);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            wr_buf_byte(out, ',');
        wr_buf_byte(out, digits[i]);
    }
}

static void write_value(struct wr_buf *out, const struct wr_param_def *param, int64_t value)
{
    if (param->words)
        wr_buf_text(out, param->words[value]);
    else
        write_number(out, value);
}

/* ---- the presets ---- */

static void write_presets(struct wr_buf *out)
{
    wr_buf_text(out, "| preset | what it does | stages |\n|---|---|---|\n");
    for (uint32_t p = 0; p < wr_policy_count(); p++) {
        const struct wr_policy *policy = wr_policy_at(p);
        wr_buf_printf(out, "| `%s` | %s | ", policy->name, policy->what);
        for (uint32_t i = 0; i < policy->stages_count; i++)
            wr_buf_printf(out, "%s`%s`", i ? " → " : "", policy->stages[i].def->name);
        wr_buf_text(out, policy->stages_count ? " |\n" : "none |\n");
    }
    for (uint32_t p = 0; p < wr_policy_count(); p++)
        if (wr_policy_at(p)->alias)
            wr_buf_printf(out, "\n`%s` is also called `%s`.\n", wr_policy_at(p)->name,
                          wr_policy_at(p)->alias);
}

/* ---- the stages ---- */

static void write_stages(struct wr_buf *out)
{
    wr_buf_text(out, "| stage | what it does | rules for tools |\n|---|---|---|\n");
    for (uint32_t d = 0; d < wr_stage_def_count(); d++) {
        const struct wr_stage_def *def = wr_stage_def_at(d);
        wr_buf_printf(out, "| `%s` | %s | %s |\n", def->name, def->what,
                      def->tool_params   ? "exact, values"
                      : def->takes_tools ? "exact"
                                         : "");
    }
}

static void write_param(struct wr_buf *out, const struct wr_stage_def *def, uint32_t index)
{
    const struct wr_param_def *param = &def->params[index];
    wr_buf_printf(out, "| `%s` | `%s` | ", def->name, param->name);
    write_value(out, param, param->value);
    wr_buf_printf(out, " | %s | %s", def->tool_params >> index & 1 ? "yes" : "", param->what);
    for (int64_t i = 0; param->words && param->words[i]; i++)
        wr_buf_printf(out, "%s%s", i ? ", " : ": ", param->words[i]);
    wr_buf_text(out, " |\n");
}

static void write_params(struct wr_buf *out)
{
    wr_buf_text(out, "| stage | parameter | default | by tool | what it says |\n"
                     "|---|---|---|---|---|\n");
    for (uint32_t d = 0; d < wr_stage_def_count(); d++)
        for (uint32_t i = 0; i < wr_stage_def_at(d)->params_count; i++)
            write_param(out, wr_stage_def_at(d), i);
}

/* ---- the page ---- */

static const struct {
    const char *name;
    void (*write)(struct wr_buf *out);
} tables[] = {{"presets -->\n", write_presets},
              {"stages -->\n", write_stages},
              {"parameters -->\n", write_params}};

/* The page with its tables as they are now; how many of them it has. */
static size_t write_page(struct wr_buf *out, weir_span page)
{
    size_t at = 0, next, count = 0;

    while ((next = wr_span_find(page, marker_front, at)) != SIZE_MAX) {
        weir_span rest = wr_span_cut(page, next + marker_front.len, page.len);
        size_t end = wr_span_find(page, marker_end, next);
        for (size_t i = 0; i < WR_COUNT_OF(tables) && end != SIZE_MAX; i++) {
            weir_span name = wr_span_of(tables[i].name);
            if (!wr_span_starts(rest, name))
                continue;
            wr_buf_append(out, wr_span_cut(page, at, next + marker_front.len + name.len));
            tables[i].write(out);
            at = end;
            count++;
            break;
        }
        if (end == SIZE_MAX || at != end)
            return 0; /* a marker that is none of ours, or has no end */
        wr_buf_append(out, marker_end);
        at += marker_end.len;
    }
    wr_buf_append(out, wr_span_cut(page, at, page.len));
    return count;
}

static bool read_page(const char *path, struct wr_buf *page)
{
    char piece[4096];
    size_t got;
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
        wr_buf_append(page, (weir_span){piece, got});
    (void)fclose(file);
    return !wr_buf_status(page);
}

static bool save_page(const char *path, weir_span page)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(page.ptr, 1, page.len, file) == page.len;
    return file && !fclose(file) && is_written;
}

int main(int argc, char **argv)
{
    bool checks = argc == 3 && !strcmp(argv[1], "--check"), is_right = false;
    const char *path = argc > 1 ? argv[argc - 1] : "";
    struct wr_buf page, now;

    wr_buf_init(&page, PAGE_BYTES_MAX);
    wr_buf_init(&now, PAGE_BYTES_MAX);
    if (!read_page(path, &page) || write_page(&now, wr_buf_view(&page)) != WR_COUNT_OF(tables) ||
        wr_buf_status(&now))
        fprintf(stderr, "policies-page: %s: cannot be read, or has not the markers\n", path);
    else if (wr_span_eq(wr_buf_view(&page), wr_buf_view(&now)))
        is_right = true;
    else if (checks)
        printf("%s is not what data/policies.yaml and the stages say: run make format\n", path);
    else
        is_right = save_page(path, wr_buf_view(&now));
    wr_buf_release(&page);
    wr_buf_release(&now);
    return is_right ? 0 : 1;
}
