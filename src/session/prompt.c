/* Puts a system prompt together from sections: an agent's files, its memory, the moment of the run.
 *
 * Sections that change from run to run (the clock, the directory) are kept apart from the others,
 * so that the part before them stays the same and the provider's cache holds. Where the whole is
 * over its budget, sections that need not stay give way from the end, each to a line that says
 * where to read it. */
#include "session/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "models/lookup.h"
#include "policy/meter.h"
#include "session/disk.h"

enum { MS_A_MINUTE = 60 * 1000, MINUTES_A_DAY = 24 * 60 };

static const char *const phase_names[] = {
#define X(name, text) text,
    WEIR_PHASE_MAP(X)
#undef X
};

const char *weir_phase_name(weir_phase phase)
{
    return phase_names[phase];
}

weir_status weir_prompt_new(struct weir_prompt **prompt)
{
    *prompt = calloc(1, sizeof(**prompt));
    if (!*prompt)
        return WEIR_NOMEM;
    wr_arena_init(&(*prompt)->arena, WR_ARENA_BYTES_MAX);
    return WEIR_OK;
}

void weir_prompt_free(struct weir_prompt *prompt)
{
    if (!prompt)
        return;
    wr_arena_release(&prompt->arena);
    free(prompt);
}

static const char *keep(struct weir_prompt *prompt, const char *text)
{
    return text ? wr_arena_copy(&prompt->arena, (weir_span){text, strlen(text) + 1}).ptr : NULL;
}

weir_status wr_prompt_note_trouble(struct weir_prompt *prompt, const char *text)
{
    if (prompt->troubles_count == WR_PROMPT_TROUBLES_MAX)
        return WEIR_OK;
    const char *kept = keep(prompt, text);
    if (!kept)
        return wr_arena_status(&prompt->arena);
    prompt->troubles[prompt->troubles_count++] = kept;
    return WEIR_OK;
}

const char *weir_prompt_trouble(const struct weir_prompt *prompt, size_t index)
{
    return index < prompt->troubles_count ? prompt->troubles[index] : NULL;
}

weir_status weir_prompt_add(struct weir_prompt *prompt, const struct weir_section *section,
                            struct weir_err *err)
{
    struct weir_section *added = &prompt->sections[prompt->sections_count];

    if (wr_text_is_blank(section->text))
        return WEIR_OK;
    if (prompt->sections_count == WR_PROMPT_SECTIONS_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a prompt has at most %d sections",
                       WR_PROMPT_SECTIONS_MAX);
    *added = *section;
    added->name = keep(prompt, section->name);
    added->source = keep(prompt, section->source);
    added->text = wr_arena_copy(&prompt->arena, wr_span_trim(section->text));
    added->tokens = 0;
    added->is_left_out = false;
    weir_status status = wr_arena_status(&prompt->arena);
    if (!status)
        prompt->sections_count++;
    return status;
}

/* ---- an agent's directory ---- */

static const struct file {
    const char *path;
    struct weir_section section;
} files[] = {
    {"AGENT.md",
     {.name = "identity", .phase = WEIR_PHASE_CONSTRAINT, .priority = 100, .is_sticky = true}},
    {"CONTRACT.md",
     {.name = "contract", .phase = WEIR_PHASE_CONSTRAINT, .priority = 90, .is_sticky = true}},
    {"HINTS.md", {.name = "hints", .phase = WEIR_PHASE_TASK, .priority = 80}},
    {"MEMORY.md", {.name = "memory", .phase = WEIR_PHASE_MEMORY, .priority = 50}},
};

static weir_status add_file(struct weir_prompt *prompt, const char *dir, const struct file *file,
                            struct weir_err *err)
{
    struct weir_section section = file->section;
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct weir_err what = {0};
    struct wr_buf text;

    weir_status status = wr_disk_join(path, dir, file->path, err);
    if (status)
        return status;
    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    status = wr_disk_read(path, &text, &what);
    section.text = wr_buf_view(&text);
    section.source = path;
    if (!status)
        status = weir_prompt_add(prompt, &section, err);
    else if (status == WEIR_NOTFOUND)
        status = WEIR_OK;
    else if (status != WEIR_NOMEM)
        status = wr_prompt_note_trouble(prompt, what.text);
    wr_buf_release(&text);
    return status;
}

weir_status weir_prompt_add_dir(struct weir_prompt *prompt, const char *dir, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < WR_COUNT_OF(files) && !status; i++)
        status = add_file(prompt, dir, &files[i], err);
    return status ? status : wr_skills_add(prompt, dir, err);
}

/* ---- the run ---- */

/* Year, month and day of a day since 1970, by the rules of the calendar alone. */
static void write_day(struct wr_buf *out, int64_t day)
{
    int64_t shifted = day + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153, mday = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    year += era * 400 + (month <= 2);
    wr_buf_printf(out, "%04lld-%02lld-%02lld", (long long)year, (long long)month, (long long)mday);
}

static void write_clock(struct wr_buf *out, int64_t now_ms)
{
    int64_t minutes = now_ms / MS_A_MINUTE, day = minutes / MINUTES_A_DAY;
    wr_buf_text(out, "clock: ");
    write_day(out, day);
    wr_buf_printf(out, "T%02lld:%02lldZ", (long long)(minutes % MINUTES_A_DAY / 60),
                  (long long)(minutes % 60));
}

static weir_status add_made(struct weir_prompt *prompt, struct weir_section section,
                            struct wr_buf *text, struct weir_err *err)
{
    weir_status status = wr_buf_status(text);
    section.text = wr_buf_view(text);
    if (!status)
        status = weir_prompt_add(prompt, &section, err);
    wr_buf_reset(text);
    return status;
}

weir_status weir_prompt_add_runtime(struct weir_prompt *prompt, const struct weir_runtime *runtime,
                                    struct weir_err *err)
{
    const struct weir_section environment = {
        .name = "environment", .phase = WEIR_PHASE_CONSTRAINT, .priority = 80, .is_sticky = true};
    const struct weir_section clock = {.name = "clock",
                                       .phase = WEIR_PHASE_CONSTRAINT,
                                       .priority = 70,
                                       .is_sticky = true,
                                       .is_volatile = true};
    const struct weir_section footprint = {.name = "footprint",
                                           .phase = WEIR_PHASE_TASK,
                                           .priority = 90,
                                           .is_sticky = true,
                                           .is_volatile = true};
    struct wr_buf text;

    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    if (runtime->os)
        wr_buf_printf(&text, "os: %s\n", runtime->os);
    if (runtime->shell)
        wr_buf_printf(&text, "shell: %s\n", runtime->shell);
    if (runtime->cwd)
        wr_buf_printf(&text, "working directory: %s\n", runtime->cwd);
    weir_status status = add_made(prompt, environment, &text, err);
    if (!status && runtime->now_ms > 0) {
        write_clock(&text, runtime->now_ms);
        status = add_made(prompt, clock, &text, err);
    }
    if (!status && runtime->footprint.len) {
        wr_buf_text(&text, "recent actions:\n");
        wr_buf_append(&text, runtime->footprint);
        status = add_made(prompt, footprint, &text, err);
    }
    wr_buf_release(&text);
    return status;
}

/* ---- putting it together ---- */

/* Stable: what was added first comes first among equals. */
static void sort_sections(struct weir_prompt *prompt)
{
    for (size_t i = 1; i < prompt->sections_count; i++) {
        struct weir_section moved = prompt->sections[i];
        size_t at = i;
        for (; at > 0; at--) {
            const struct weir_section *before = &prompt->sections[at - 1];
            if (before->phase < moved.phase ||
                (before->phase == moved.phase && before->priority >= moved.priority))
                break;
            prompt->sections[at] = *before;
        }
        prompt->sections[at] = moved;
    }
}

static uint64_t total_tokens(const struct weir_prompt *prompt)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < prompt->sections_count; i++)
        tokens += prompt->sections[i].tokens;
    return tokens;
}

static weir_status leave_out(struct weir_prompt *prompt, struct weir_section *section,
                             struct wr_meter *meter)
{
    struct wr_buf notice;

    wr_buf_init(&notice, WR_PROMPT_FILE_BYTES_MAX);
    wr_buf_printf(&notice, "[%s left out: ~%llu tokens", section->name,
                  (unsigned long long)section->tokens);
    if (section->source)
        wr_buf_printf(&notice, "; read %s", section->source);
    wr_buf_text(&notice, "]");
    weir_status status = wr_text_keep(&prompt->arena, &notice, &section->text);
    section->is_left_out = true;
    section->tokens = status ? 0 : wr_meter_count(meter, section->text);
    return status;
}

static weir_status leave_out_optional(struct weir_prompt *prompt, struct wr_meter *meter,
                                      uint64_t tokens_max)
{
    weir_status status = WEIR_OK;
    for (size_t i = prompt->sections_count;
         i-- > 0 && !status && total_tokens(prompt) > tokens_max;) {
        struct weir_section *section = &prompt->sections[i];
        if (!section->is_sticky && !section->is_field && !section->is_left_out)
            status = leave_out(prompt, section, meter);
    }
    return status;
}

static weir_status join_sections(struct weir_prompt *prompt, bool is_volatile, weir_span *text)
{
    struct wr_buf joined;

    wr_buf_init(&joined, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < prompt->sections_count; i++) {
        const struct weir_section *section = &prompt->sections[i];
        if (section->is_field || section->is_volatile != is_volatile)
            continue;
        if (joined.len)
            wr_buf_text(&joined, is_volatile ? "\n" : "\n\n");
        else if (is_volatile)
            wr_buf_text(&joined, "<context>\n");
        wr_buf_append(&joined, section->text);
    }
    if (joined.len && is_volatile)
        wr_buf_text(&joined, "\n</context>");
    return wr_text_keep(&prompt->arena, &joined, text);
}

weir_status weir_prompt_build(struct weir_prompt *prompt, const char *model, uint64_t tokens_max,
                              struct weir_err *err)
{
    struct wr_models *models = NULL;
    struct wr_meter *meter = NULL;
    weir_status status = wr_models_new(&models, NULL, err);

    if (!status)
        status = wr_meter_new(&meter);
    if (!status)
        status = wr_meter_use_model(
            meter, wr_models_lookup(models, wr_span_of(model ? model : "")).model, err);
    sort_sections(prompt);
    for (size_t i = 0; i < prompt->sections_count && !status; i++)
        prompt->sections[i].tokens = wr_meter_count(meter, prompt->sections[i].text);
    if (!status && tokens_max)
        status = leave_out_optional(prompt, meter, tokens_max);
    if (!status)
        status = join_sections(prompt, false, &prompt->system);
    if (!status)
        status = join_sections(prompt, true, &prompt->context);
    wr_meter_free(meter);
    wr_models_free(models);
    return status;
}

size_t weir_prompt_sections(const struct weir_prompt *prompt)
{
    return prompt->sections_count;
}

const struct weir_section *weir_prompt_section(const struct weir_prompt *prompt, size_t index)
{
    return index < prompt->sections_count ? &prompt->sections[index] : NULL;
}

weir_span weir_prompt_system(const struct weir_prompt *prompt)
{
    return prompt->system;
}

weir_span weir_prompt_context(const struct weir_prompt *prompt)
{
    return prompt->context;
}
