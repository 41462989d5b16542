/* `weir prompt`: the prompt that `weir agent` sends from a folder, section by section. */
#include "cli/open.h"

#include <unistd.h>

#include "agent/agent_prompt.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/table.h"
#include "base/text.h"

struct prompt_options {
    const char *dir, *model;
    uint64_t tokens_max;
    bool as_json, as_text;
};

#define VALUES struct prompt_options

static const struct wr_option options[] = {
    {"dir", WR_DIR(dir),
     "where AGENT.md, CONTRACT.md, HINTS.md, MEMORY.md and skills/ are (default: here)"},
    {"model", WR_TEXT("M", model), "whose tokens are counted", .list = wr_list_models},
    {"max-tokens", WR_NUMBER("N", tokens_max, 1, 0),
     "leave out sections that are not sticky until the prompt has at most this"},
    {"text", WR_FLAG(as_text), "the prompt itself, as it would be sent"},
    {"json", WR_FLAG(as_json),
     "{\"tokens\",\"sections\":[{\"name\",\"phase\",\"priority\",\"sticky\",...}],\"text\","
     "\"troubles\"}"},
};

static uint64_t total_tokens(const struct weir_prompt *prompt)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++)
        tokens += weir_prompt_section(prompt, i)->is_left_out
                      ? 0
                      : weir_prompt_section(prompt, i)->tokens;
    return tokens;
}

static void write_section(struct wr_json_writer *w, const struct weir_section *section)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "name", section->name);
    wr_json_member_word(w, "phase", weir_phase_name(section->phase));
    wr_json_member_i64(w, "priority", section->priority);
    wr_json_member_bool(w, "sticky", section->is_sticky);
    wr_json_member_i64(w, "tokens", (int64_t)section->tokens);
    wr_json_member_bool(w, "volatile", section->is_volatile);
    wr_json_member_bool(w, "left_out", section->is_left_out);
    wr_json_member_word(w, "source", section->source);
    wr_json_write_object_end(w);
}

static void write_sections(struct wr_buf *out, const struct weir_prompt *prompt)
{
    struct wr_json_writer w;
    const char *trouble;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_i64(&w, "tokens", (int64_t)total_tokens(prompt));
    wr_json_member_array(&w, "sections");
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++)
        write_section(&w, weir_prompt_section(prompt, i));
    wr_json_write_array_end(&w);
    wr_json_member_text(&w, "text", weir_prompt_system(prompt));
    wr_json_member_text(&w, "context", weir_prompt_context(prompt));
    wr_json_member_array(&w, "troubles");
    for (size_t i = 0; (trouble = weir_prompt_trouble(prompt, i)) != NULL; i++)
        wr_json_write_text(&w, wr_span_of(trouble));
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static const struct wr_table_column columns[] = {
    {"phase", .rank = 0},
    {"section", .cut_min = 11},
    {"priority", .is_right = true, .rank = 1},
    {"tokens", .is_right = true},
    {"what", .wraps = true},
};

static void write_table(struct wr_buf *out, const struct weir_prompt *prompt)
{
    struct wr_table table;
    struct wr_arena arena;
    struct wr_buf what;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&what, WR_OUTPUT_BYTES_MAX);
    wr_table_init(&table, columns, WR_COUNT_OF(columns), &arena);
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *s = weir_prompt_section(prompt, i);
        wr_table_cell(&table, wr_span_of(weir_phase_name(s->phase)));
        wr_table_cell(&table, wr_span_of(s->name));
        wr_table_format(&table, "%d", s->priority);
        wr_table_format(&table, "%s", WR_GROUPED(s->tokens));
        wr_buf_reset(&what);
        wr_buf_printf(&what, "%s%s%s%s%s", s->is_sticky ? "sticky " : "",
                      s->is_left_out ? "left out " : "", s->is_field ? "beside the text " : "",
                      s->is_volatile ? "with the newest message " : "", s->source ? s->source : "");
        wr_table_cell(&table, wr_buf_view(&what));
    }
    wr_table_cell(&table, WR_LIT("total"));
    wr_table_cell(&table, WR_LIT(" "));
    wr_table_cell(&table, WR_LIT(" "));
    wr_table_format(&table, "%s", WR_GROUPED(total_tokens(prompt)));
    wr_table_cell(&table, WR_LIT(" "));
    wr_table_print(&table, wr_cli_columns_told(), out);
    wr_buf_release(&what);
    wr_arena_release(&arena);
}

static void remark_size(const struct weir_prompt *prompt, uint64_t tokens_max)
{
    uint64_t tokens = total_tokens(prompt);
    if (tokens_max && tokens > tokens_max)
        fprintf(stderr,
                "weir prompt: what is sticky alone has %llu tokens, %llu more than --max-tokens\n",
                (unsigned long long)tokens, (unsigned long long)(tokens - tokens_max));
}

/* Whether `dir` says anything of an agent; the troubles of its files are an answer too. */
static weir_status look_into(const char *dir, bool *is_agent, struct weir_err *err)
{
    struct weir_prompt *prompt = NULL;
    weir_status status = weir_prompt_new(&prompt);

    if (!status)
        status = weir_prompt_add_dir(prompt, dir, err);
    if (!status)
        status = weir_prompt_build(prompt, NULL, 0, err);
    *is_agent = !status && (weir_prompt_sections(prompt) || weir_prompt_trouble(prompt, 0));
    weir_prompt_free(prompt);
    return status;
}

/* As `weir agent` has it, run in this folder. */
static weir_status make_prompt(struct weir_prompt *prompt, const struct prompt_options *o,
                               struct weir_err *err)
{
    char root[4096];
    weir_status status =
        wr_agent_prompt_add(prompt, getcwd(root, sizeof(root)), o->dir, wr_clock_ms(), err);
    if (!status)
        status = wr_agent_prompt_add_tools(prompt, err);
    return status ? status : weir_prompt_build(prompt, o->model, o->tokens_max, err);
}

static int print_prompt(const struct prompt_options *o, const struct weir_prompt *prompt)
{
    struct wr_buf out;
    const char *trouble;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (o->as_json) {
        write_sections(&out, prompt);
    } else if (o->as_text) {
        wr_buf_append(&out, weir_prompt_system(prompt));
        wr_buf_byte(&out, '\n');
    } else {
        write_table(&out, prompt);
    }
    int code = WR_EXIT_OK;
    if (wr_buf_status(&out))
        code = wr_cli_fail("a file is not UTF-8, or there is no memory");
    else if (!wr_cli_write(wr_buf_view(&out)))
        code = WR_EXIT_USAGE;
    /* What cannot be read does not stop the rest, but is a failed check. */
    for (size_t i = 0; (trouble = weir_prompt_trouble(prompt, i)) != NULL; i++) {
        fprintf(stderr, "weir prompt: %s\n", trouble);
        code = code == WR_EXIT_OK ? WR_EXIT_CHECK : code;
    }
    wr_buf_release(&out);
    return code;
}

static int run_prompt(void *values, const struct wr_words *words)
{
    const struct prompt_options *o = values;
    struct weir_prompt *prompt = NULL;
    struct weir_err err = {0};
    bool is_agent = false;
    int code;

    (void)words;
    weir_status status = look_into(o->dir, &is_agent, &err);
    if (!status)
        status = weir_prompt_new(&prompt);
    if (!status)
        status = make_prompt(prompt, o, &err);
    if (status)
        code = wr_cli_fail_status(status, &err);
    else if (!is_agent)
        code = wr_cli_fail("%s has no AGENT.md, CONTRACT.md, HINTS.md, MEMORY.md or skills/; name "
                           "an agent's directory with --dir",
                           o->dir);
    else
        code = print_prompt(o, prompt);
    if (code != WR_EXIT_USAGE)
        remark_size(prompt, o->tokens_max);
    weir_prompt_free(prompt);
    return code;
}

const struct wr_command wr_cmd_prompt = {
    .name = "prompt",
    .purpose = "the system prompt of an agent's directory, section by section",
    .usage = "[OPTIONS]",
    .about = "The prompt that `weir agent` sends from here: its sections in order, with phase, "
             "priority, size, which of them are never shortened, the tools that go beside the "
             "text, and what goes with the newest message (the clock; in a session also what was "
             "done last).",
    WR_OPTIONS(options),
    .defaults = &(const struct prompt_options){.dir = "."},
    .exits = "Exit 1: a file of the prompt cannot be read; the rest is shown.",
    .example = "weir prompt --dir ~/agent --model claude-sonnet-5-5",
    .run = run_prompt,
};
