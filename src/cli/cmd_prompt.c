#include "cli/cmd.h"

#include <unistd.h>

#include "agent/agent_prompt.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "cli/store_dir.h"
#include "json/write.h"

static const char help[] =
    "usage: weir prompt [--dir DIR] [--model M] [--max-tokens N] [--text] [--json]\n"
    "\n"
    "The prompt that `weir agent` sends from here: its sections in order, with phase, priority, "
    "size,\n"
    "which of them are never shortened, the tools that go beside the text, and what goes with the\n"
    "newest message (the clock; in a session also what was done last).\n"
    "\n"
    "  --dir DIR        where AGENT.md, CONTRACT.md, HINTS.md, MEMORY.md and skills/ are (default: "
    "here)\n"
    "  --model M        whose tokens are counted\n"
    "  --max-tokens N   leave out sections that are not sticky until the prompt has at most this\n"
    "  --text           the prompt itself, as it would be sent\n"
    "  --json           "
    "{\"tokens\",\"sections\":[{\"name\",\"phase\",\"priority\",\"sticky\",...}],"
    "\"text\",\"troubles\"}\n"
    "\n"
    "example: weir prompt --dir ~/agent --model claude-sonnet-5-5\n";

struct prompt_options {
    const char *dir, *model, *tokens_max;
    bool as_json, as_text;
};

static uint64_t total(const struct weir_prompt *prompt)
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
    wr_json_write_key(w, "name");
    wr_json_write_text(w, wr_span_of(section->name));
    wr_json_write_key(w, "phase");
    wr_json_write_text(w, wr_span_of(weir_phase_name(section->phase)));
    wr_json_write_key(w, "priority");
    wr_json_write_i64(w, section->priority);
    wr_json_write_key(w, "sticky");
    wr_json_write_bool(w, section->is_sticky);
    wr_json_write_key(w, "tokens");
    wr_json_write_i64(w, (int64_t)section->tokens);
    wr_json_write_key(w, "volatile");
    wr_json_write_bool(w, section->is_volatile);
    wr_json_write_key(w, "left_out");
    wr_json_write_bool(w, section->is_left_out);
    wr_json_write_key(w, "source");
    if (section->source)
        wr_json_write_text(w, wr_span_of(section->source));
    else
        wr_json_write_null(w);
    wr_json_write_object_end(w);
}

static void write_json(struct wr_buf *out, const struct weir_prompt *prompt)
{
    struct wr_json_writer w;
    const char *trouble;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "tokens");
    wr_json_write_i64(&w, (int64_t)total(prompt));
    wr_json_write_key(&w, "sections");
    wr_json_write_array(&w);
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++)
        write_section(&w, weir_prompt_section(prompt, i));
    wr_json_write_array_end(&w);
    wr_json_write_key(&w, "text");
    wr_json_write_text(&w, weir_prompt_system(prompt));
    wr_json_write_key(&w, "context");
    wr_json_write_text(&w, weir_prompt_context(prompt));
    wr_json_write_key(&w, "troubles");
    wr_json_write_array(&w);
    for (size_t i = 0; (trouble = weir_prompt_trouble(prompt, i)) != NULL; i++)
        wr_json_write_text(&w, wr_span_of(trouble));
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static void write_table(struct wr_buf *out, const struct weir_prompt *prompt)
{
    wr_buf_printf(out, "%-11s %-14s %8s %8s  %s\n", "phase", "section", "priority", "tokens", "");
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *s = weir_prompt_section(prompt, i);
        wr_buf_printf(out, "%-11s %-14s %8d %8s  %s%s%s%s%s\n", weir_phase_name(s->phase), s->name,
                      s->priority, wr_cli_number(s->tokens), s->is_sticky ? "sticky " : "",
                      s->is_left_out ? "left out " : "", s->is_field ? "beside the text " : "",
                      s->is_volatile ? "with the newest message " : "", s->source ? s->source : "");
    }
    wr_buf_printf(out, "%-11s %-14s %8s %8s\n", "total", "", "", wr_cli_number(total(prompt)));
}

static void remark_size(const struct weir_prompt *prompt, uint64_t tokens_max)
{
    uint64_t tokens = total(prompt);
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
static weir_status make(struct weir_prompt *prompt, const struct prompt_options *o,
                        uint64_t tokens_max, struct weir_err *err)
{
    char root[4096];
    weir_status status =
        wr_agent_prompt_add(prompt, getcwd(root, sizeof(root)), o->dir, wr_clock_ms(), err);
    if (!status)
        status = wr_agent_prompt_add_tools(prompt, err);
    return status ? status : weir_prompt_build(prompt, o->model, tokens_max, err);
}

static int print(const struct prompt_options *o, const struct weir_prompt *prompt)
{
    struct wr_buf out;
    const char *trouble;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (o->as_json) {
        write_json(&out, prompt);
    } else if (o->as_text) {
        wr_buf_append(&out, weir_prompt_system(prompt));
        wr_buf_byte(&out, '\n');
    } else {
        write_table(&out, prompt);
    }
    int code = WR_EXIT_OK;
    if (wr_buf_status(&out))
        code = wr_cli_fail("prompt", "a file is not UTF-8, or there is no memory");
    else if (!wr_cli_write("prompt", wr_buf_view(&out)))
        code = WR_EXIT_USAGE;
    /* What cannot be read does not stop the rest, but is a failed check. */
    for (size_t i = 0; (trouble = weir_prompt_trouble(prompt, i)) != NULL; i++) {
        fprintf(stderr, "weir prompt: %s\n", trouble);
        code = code == WR_EXIT_OK ? WR_EXIT_CHECK : code;
    }
    wr_buf_release(&out);
    return code;
}

int wr_cmd_prompt(int argc, char **argv)
{
    struct prompt_options o = {.dir = "."};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {{"dir", WR_OPT_TEXT, &o.dir},
                                     {"model", WR_OPT_TEXT, &o.model},
                                     {"max-tokens", WR_OPT_TEXT, &o.tokens_max},
                                     {"text", WR_OPT_FLAG, &o.as_text},
                                     {"json", WR_OPT_FLAG, &o.as_json}};
    struct weir_prompt *prompt = NULL;
    struct weir_err err = {0};
    uint64_t tokens_max = 0;
    bool done, is_agent = false;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count)
        return wr_cli_fail("prompt", "'%s' is not an option; `weir prompt --help` has an example",
                           rest.items[0]);
    if (o.tokens_max && (!wr_span_u64(wr_span_of(o.tokens_max), &tokens_max) || !tokens_max))
        return wr_cli_fail("prompt", "--max-tokens wants a number from 1, not '%s'", o.tokens_max);
    weir_status status = look_into(o.dir, &is_agent, &err);
    if (!status)
        status = weir_prompt_new(&prompt);
    if (!status)
        status = make(prompt, &o, tokens_max, &err);
    int code = WR_EXIT_OK;
    if (status)
        code = wr_cli_fail("prompt", "%s", err.text[0] ? err.text : weir_status_text(status));
    else if (!is_agent)
        code = wr_cli_fail("prompt",
                           "%s has no AGENT.md, CONTRACT.md, HINTS.md, MEMORY.md or skills/; name "
                           "an agent's directory with --dir",
                           o.dir);
    else
        code = print(&o, prompt);
    if (code != WR_EXIT_USAGE)
        remark_size(prompt, tokens_max);
    weir_prompt_free(prompt);
    return code;
}
