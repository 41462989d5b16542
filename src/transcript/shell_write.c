/* Programs that make, move, remove or rewrite files. */
#include "transcript/shell_plan.h"

#include "transcript/path.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- writing --- */

/* Files that are copied or linked into the directory `dir` are named in it. */
static weir_status name_in_directory(struct wr_shell_plan *plan, struct wr_arena *arena,
                                     struct wr_shell_token dir)
{
    for (size_t i = 0; i < plan->files_count; i++) {
        struct wr_shell_token *file = &plan->files[i];
        file->text = wr_path_join(arena, dir.text, wr_shell_last_name(file->text));
        if (!file->text.ptr)
            return wr_arena_status(arena);
        file->literal &= dir.literal;
    }
    return WEIR_OK;
}

/* cp and ln write their last operand, or a file of each name in it. */
weir_status wr_shell_plan_copy(struct wr_shell_plan *plan, struct wr_arena *arena,
                               struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    struct wr_shell_token dir = {0};

    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_WRITE;
    args->shorts = "tSmog";
    args->longs = " target-directory suffix mode owner group ";
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (arg.letter == 't' || wr_shell_is_long(&arg, "target-directory"))
            dir = arg.word;
    }
    if (dir.text.len)
        return name_in_directory(plan, arena, dir);
    if (plan->files_count < 2) {
        plan->kind = WR_SHELL_PLAN_RUN;
        return WEIR_OK;
    }
    struct wr_shell_token last = plan->files[plan->files_count - 1];
    bool into = plan->files_count > 2 || wr_span_is(last.text, ".") ||
                wr_span_ends(last.text, WR_LIT("/")) || wr_span_ends(last.text, WR_LIT("/.")) ||
                wr_span_is(last.text, "..");
    if (!into) {
        plan->files[0] = last;
        plan->files_count = 1;
        return WEIR_OK;
    }
    plan->files_count--;
    return name_in_directory(plan, arena, last);
}

void wr_shell_plan_tee(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    plan->kind = WR_SHELL_PLAN_TEE;
    plan->effect = WR_EFFECT_WRITE;
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (arg.letter == 'a' || wr_shell_is_long(&arg, "append"))
            plan->effect = WR_EFFECT_EDIT;
    }
}

void wr_shell_plan_dd(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    for (size_t i = 1; i < args->count; i++) {
        struct wr_shell_token word = args->words[i];
        if (!wr_span_starts(word.text, WR_LIT("of=")))
            continue;
        word.text = wr_span_cut(word.text, 3, word.text.len);
        wr_shell_plan_file(plan, word);
        plan->kind = WR_SHELL_PLAN_FILES;
        plan->effect = WR_EFFECT_WRITE;
    }
}

/* `patch [options] [file [patchfile]]`. */
void wr_shell_plan_patch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool dry = false;
    args->shorts = "pidoDFrzBY";
    args->longs = " strip input directory output fuzz reject-file suffix ";
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand && !plan->files_count)
            wr_shell_plan_file(plan, arg.word);
        dry |= wr_shell_is_long(&arg, "dry-run");
    }
    plan->kind = dry                 ? WR_SHELL_PLAN_RUN
                 : plan->files_count ? WR_SHELL_PLAN_FILES
                                     : WR_SHELL_PLAN_PATCH;
    plan->effect = WR_EFFECT_EDIT;
}

void wr_shell_plan_apply_patch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    plan->kind = WR_SHELL_PLAN_PATCH;
    if (args->count > 1)
        plan->script = args->words[1].text;
}

/* --- programs that rewrite files in place --- */

struct formatter {
    const char *name;
    const char *writes; /* an option that makes it write; empty: it does unless told to check */
    const char *shorts, *longs;
};

static const struct formatter formatters[] = {
    {"gofmt", "w", "r", ""},
    {"goimports", "w", "", ""},
    {"gofumpt", "w", "", ""},
    {"shfmt", "w", "iln", ""},
    {"clang-format", "i", "", ""},
    {"autopep8", "i in-place", "", ""},
    {"yapf", "i in-place", "", ""},
    {"prettier", "w write", "", " config parser ignore-path plugin "},
    {"eslint", "fix", "c", " ext config rule format "},
    {"black", "", "ltC", " line-length config target-version "},
    {"isort", "", "ls", " profile settings-path "},
    {"rustfmt", "", "", " edition config-path config "},
    {"stylua", "", "", ""},
};

static void plan_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args,
                           const struct formatter *row)
{
    struct wr_shell_arg arg;
    bool writes = !row->writes[0];
    args->shorts = row->shorts;
    args->longs = row->longs;
    while (wr_shell_next_arg(args, &arg)) {
        weir_span name = arg.letter ? (weir_span){&arg.letter, 1} : arg.name;
        if (arg.is_operand) {
            arg.word.literal &=
                !memchr(arg.word.text.ptr, '*', arg.word.text.len); /* its own globs */
            wr_shell_plan_file(plan, arg.word);
        } else if (wr_shell_in_list(row->writes, name)) {
            writes = true;
        } else if (wr_shell_in_list("check check-only diff list-different", name)) {
            writes = false;
        }
    }
    plan->kind = writes ? WR_SHELL_PLAN_FILES : WR_SHELL_PLAN_RUN;
    plan->effect = WR_EFFECT_EDIT;
}

bool wr_shell_plan_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    for (size_t i = 0; i < COUNT(formatters); i++)
        if (wr_span_is(plan->program, formatters[i].name)) {
            plan_formatter(plan, args, &formatters[i]);
            return true;
        }
    return false;
}

/* Formatters that are a command of a larger program. */
void wr_shell_plan_subcommand_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    static const struct formatter fixes = {"", "fix write w", "",
                                           " config select ignore line-length "};
    static const struct formatter formats = {"", "", "", " config line-length "};
    weir_span command = args->count > 1 ? args->words[1].text : (weir_span){"", 0};
    bool whole_tree = wr_shell_in_list("cargo go dotnet mix", plan->program);

    if (whole_tree && !wr_shell_in_list("fmt fix format", command))
        return;
    args->at = 2;
    plan_formatter(plan, args, wr_shell_in_list("format fmt", command) ? &formats : &fixes);
    plan->whole_tree = whole_tree && plan->kind == WR_SHELL_PLAN_FILES;
}

/* curl -o F, wget -O F. */
void wr_shell_plan_download(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool wget = wr_shell_in_list("wget", plan->program);
    args->shorts = wget ? "OoPaUTtw" : "oHdXuAFbceTKxmrw";
    args->longs = wget ? " output-document output-file directory-prefix header user-agent "
                       : " output header data data-raw data-binary request user user-agent form "
                         "cookie max-time retry "
                         "write-out url connect-timeout cacert cert key proxy resolve ";
    while (wr_shell_next_arg(args, &arg))
        if (arg.has_value && (arg.letter == (wget ? 'O' : 'o') ||
                              wr_shell_is_long(&arg, wget ? "output-document" : "output")))
            wr_shell_plan_file(plan, arg.word);
    plan->kind = WR_SHELL_PLAN_RUN;
    plan->effect = WR_EFFECT_WRITE;
    plan->saves = true;
}
