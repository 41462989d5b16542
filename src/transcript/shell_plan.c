/* What one simple command means: which of its words are files, and what it does to them.
 *
 * What is known of programs is a table, `programs`: their names, what they do to the files they are
 * given, and the options that take a value, without which a value would be taken for a file. A
 * program whose words need more than that has a maker of its own, here, in shell_slice.c (lines by
 * number) or in shell_git.c. To add a program, add a row, and labelled lines to
 * tests/data/shell_commands.tsv.
 *
 *   wr_shell_plan       look through wrappers (sudo, env, timeout) to the program itself
 *   plan_program        its row; a program without one is a RUN
 *   wr_shell_next_arg   options and operands, permuted as getopt permutes them
 */
#include "transcript/shell_plan.h"

#include "base/ascii.h"
#include "transcript/path.h"

/* --- options --- */

static void take_value(struct wr_shell_args *args, struct wr_shell_arg *arg)
{
    if (args->at < args->count) {
        arg->word = args->words[args->at++];
        arg->has_value = true;
    }
}

static void take_long(struct wr_shell_args *args, struct wr_shell_arg *arg,
                      const struct wr_shell_token *word)
{
    weir_span name = wr_span_from(word->text, 2);
    const char *equals = memchr(name.ptr, '=', name.len);
    args->at++;
    if (!equals) {
        arg->name = name;
        if (args->longs && wr_is_any_of(name, args->longs))
            take_value(args, arg);
        return;
    }
    arg->name = wr_span_cut(name, 0, (size_t)(equals - name.ptr));
    arg->word = *word;
    arg->word.text = wr_span_from(name, arg->name.len + 1);
    arg->has_value = true;
}

/* One option of a word such as `-rnA5`, at `args->cluster`. */
static void take_short(struct wr_shell_args *args, struct wr_shell_arg *arg,
                       const struct wr_shell_token *word)
{
    weir_span text = word->text;
    size_t at = args->cluster++;
    char letter = text.ptr[at];
    arg->letter = letter;
    if (wr_is_digit(letter)) {
        while (args->cluster < text.len && wr_is_digit(text.ptr[args->cluster]))
            args->cluster++;
        arg->letter = '#';
        arg->word = *word;
        arg->word.text = wr_span_cut(text, at, args->cluster);
        arg->has_value = true;
    }
    bool value = args->shorts && strchr(args->shorts, letter) && letter;
    bool rest = args->rests && strchr(args->rests, letter) && letter;
    if ((value && args->cluster < text.len) || rest) {
        arg->word = *word;
        arg->word.text = wr_span_from(text, args->cluster);
        arg->has_value = true;
        args->cluster = text.len;
    }
    if (args->cluster < text.len)
        return;
    args->cluster = 0;
    args->at++;
    if (value && !arg->has_value)
        take_value(args, arg);
}

bool wr_shell_next_arg(struct wr_shell_args *args, struct wr_shell_arg *arg)
{
    *arg = (struct wr_shell_arg){0};
    if (args->at >= args->count)
        return false;
    const struct wr_shell_token *word = &args->words[args->at];
    weir_span text = word->text;

    if (args->cluster) {
        take_short(args, arg, word);
    } else if (args->operands_only || text.len < 2 || text.ptr[0] != '-') {
        arg->is_operand = true;
        arg->word = *word;
        args->at++;
    } else if (wr_span_is(text, "--")) {
        args->operands_only = true;
        args->at++;
        return wr_shell_next_arg(args, arg); /* at most once: operands_only is now set */
    } else if (text.ptr[1] == '-') {
        take_long(args, arg, word);
    } else {
        args->cluster = 1;
        take_short(args, arg, word);
    }
    return true;
}

/* --- building a plan --- */

static weir_span last_name(weir_span path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/')
            return wr_span_from(path, i);
    return path;
}

void wr_shell_plan_file(struct wr_shell_plan *plan, struct wr_shell_token file)
{
    plan->files[plan->files_count++] = file;
}

void wr_shell_plan_range(struct wr_shell_plan *plan, int64_t start, int64_t end)
{
    if (end && plan->ranges_count < WR_SHELL_RANGES_MAX)
        plan->ranges[plan->ranges_count++] = (struct wr_lines){start ? start : 1, end, false};
    else
        plan->filtered = true; /* `NR<=0`: nothing, or more ranges than we keep */
}

void wr_shell_plan_tree(struct wr_shell_plan *plan)
{
    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_EDIT;
    plan->files_count = 0;
    plan->whole_tree = true;
}

/* --- a command by its row --- */

static void walk_args(struct wr_shell_plan *plan, struct wr_shell_args *args,
                      const struct wr_shell_row *row)
{
    struct wr_shell_arg arg;
    bool either = row->flags & WR_SHELL_EITHER, asked = false;
    bool acts = !row->only_with || either, first = true;
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand) {
            bool sets = row->only_with && wr_shell_is(&arg, row->only_with);
            asked |= sets;
            acts = sets || (acts && !(row->never_with && wr_shell_is(&arg, row->never_with)));
            continue;
        }
        if (first && (row->flags & WR_SHELL_REV_FIRST))
            plan->rev = arg.word.text;
        else if (!(row->flags & WR_SHELL_NO_FILES) && !(first && (row->flags & WR_SHELL_SKIPS)))
            wr_shell_plan_file(plan, arg.word);
        first = false;
    }
    if (!acts && !(either && asked))
        plan->kind = WR_SHELL_PLAN_RUN;
    else if ((row->flags & WR_SHELL_TREE) && !plan->files_count)
        wr_shell_plan_tree(plan);
    for (size_t i = 0; (row->flags & WR_SHELL_GLOBS) && i < plan->files_count; i++)
        plan->files[i].literal &= !memchr(plan->files[i].text.ptr, '*', plan->files[i].text.len);
    if (row->effect == WR_EFFECT_READ && !plan->filtered)
        wr_shell_plan_range(plan, 1, -1);
}

void wr_shell_plan_row(struct wr_shell_plan *plan, struct wr_shell_args *args,
                       const struct wr_shell_row *row)
{
    plan->kind = row->flags & WR_SHELL_RUNS ? WR_SHELL_PLAN_RUN : WR_SHELL_PLAN_FILES;
    plan->effect = (enum wr_effect_kind)row->effect;
    plan->filtered = row->flags & WR_SHELL_FILTERED;
    plan->from_stdin = row->flags & WR_SHELL_STDIN;
    plan->here = row->flags & WR_SHELL_HERE;
    args->shorts = row->shorts;
    args->rests = row->rests;
    args->longs = row->longs;
    if (row->make)
        row->make(plan, args);
    else
        walk_args(plan, args, row);
}

/* --- reading --- */

/* jq's first operand is its program; some of its options take two words. */
static void plan_jq(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_program = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (wr_is_any_of(arg.name, "arg|argjson|slurpfile|rawfile"))
            args->at++;
        has_program |= wr_shell_is(&arg, "f|from-file");
        if (arg.is_operand && has_program)
            wr_shell_plan_file(plan, arg.word);
        has_program |= arg.is_operand;
    }
}

/* --- searching --- */

static void plan_grep(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_query = false, recursive = false, lists = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (wr_shell_is(&arg, "e|regexp")) {
            if (!has_query)
                plan->query = arg.word.text;
            has_query = true;
        } else if (wr_shell_is(&arg, "f|file")) {
            has_query = true;
        } else if (wr_shell_is(&arg, "r|R|recursive|dereference-recursive")) {
            recursive = true;
        } else if (wr_shell_is(&arg, "files|type-list")) {
            lists = has_query = true;
        } else if (arg.is_operand && !has_query) {
            plan->query = arg.word.text;
            has_query = true;
        } else if (arg.is_operand) {
            wr_shell_plan_file(plan, arg.word);
        }
    }
    plan->here |= recursive;
    if (lists) {
        plan->effect = WR_EFFECT_LIST;
        plan->from_stdin = false;
    }
}

/* --- find, fd, xargs --- */

static bool is_find_path(weir_span word)
{
    return word.len && word.ptr[0] != '-' && word.ptr[0] != '(' && word.ptr[0] != '!' &&
           word.ptr[0] != ')';
}

/* Takes the command of `-exec`, up to `;` or `+`. */
static void plan_find_exec(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    size_t from = args->at;
    while (args->at < args->count && !wr_span_is(args->words[args->at].text, ";") &&
           !wr_span_is(args->words[args->at].text, "+"))
        args->at++;
    plan->exec = &args->words[from];
    plan->exec_count = args->at - from;
    if (plan->exec_count) {
        plan->kind = WR_SHELL_PLAN_EXEC;
        plan->exec_lists_files = true;
    }
}

static void plan_find(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    while (args->at < args->count &&
           wr_is_any_of(args->words[args->at].text, "-L|-H|-P|-O1|-O2|-O3"))
        args->at++;
    while (args->at < args->count && is_find_path(args->words[args->at].text))
        wr_shell_plan_file(plan, args->words[args->at++]);
    while (args->at < args->count) {
        weir_span word = args->words[args->at++].text;
        bool value = args->at < args->count;
        if (value && !plan->query.len &&
            wr_is_any_of(word, "-name|-iname|-path|-ipath|-wholename|-regex|-iregex"))
            plan->query = args->words[args->at++].text;
        else if (wr_is_any_of(word, "-exec|-execdir|-ok|-okdir") &&
                 plan->kind == WR_SHELL_PLAN_FILES)
            plan_find_exec(plan, args);
        else if (wr_span_is(word, "-delete"))
            plan->effect = WR_EFFECT_WRITE;
    }
}

static void plan_fd(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_query = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (wr_shell_is(&arg, "x|X|exec|exec-batch")) {
            plan_find_exec(plan, args);
            return;
        }
        if (arg.is_operand && has_query)
            wr_shell_plan_file(plan, arg.word);
        else if (arg.is_operand)
            plan->query = arg.word.text;
        has_query |= arg.is_operand;
    }
}

static void plan_xargs(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    plan->kind = WR_SHELL_PLAN_NOTHING;
    while (args->at < args->count) {
        size_t before = args->at;
        struct wr_shell_arg arg;
        wr_shell_next_arg(args, &arg);
        if (!arg.is_operand)
            continue;
        plan->kind = WR_SHELL_PLAN_EXEC;
        plan->exec = &args->words[before];
        plan->exec_count = args->count - before;
        return;
    }
}

/* --- scripts inside words --- */

static void plan_interpreter(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_command = false;
    plan->kind = WR_SHELL_PLAN_SCRIPT; /* from standard input, unless something is named */
    while (wr_shell_next_arg(args, &arg)) {
        has_command |= arg.letter == 'c';
        if (!arg.is_operand)
            continue;
        plan->from_stdin = false;
        plan->script = arg.word.text;
        if (!has_command)
            plan->kind = WR_SHELL_PLAN_RUN; /* bash script.sh */
        return;
    }
}

/* `python -m json.tool` is a filter. */
static void plan_python(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    static const struct wr_shell_row tool = {
        .effect = WR_EFFECT_READ, .flags = WR_SHELL_STDIN | WR_SHELL_FILTERED, .longs = "indent"};
    if (args->count < 3 || !wr_span_is(args->words[1].text, "-m") ||
        !wr_span_is(args->words[2].text, "json.tool"))
        return;
    args->at = 3;
    wr_shell_plan_row(plan, args, &tool);
}

static void plan_cd(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool back = wr_span_is(plan->program, "popd");
    plan->kind = WR_SHELL_PLAN_CD;
    while (wr_shell_next_arg(args, &arg))
        if (arg.is_operand && !wr_span_is(arg.word.text, "-") && !back && !plan->files_count)
            wr_shell_plan_file(plan, arg.word);
    if (args->count == 1 && wr_span_is(plan->program, "cd"))
        wr_shell_plan_file(plan, (struct wr_shell_token){.text = WR_LIT("~"), .literal = true});
}

static void plan_eval(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    if (args->count == 2) {
        plan->kind = WR_SHELL_PLAN_SCRIPT;
        plan->script = args->words[1].text;
    }
}

/* --- writing --- */

/* Files that are copied or linked into the directory `dir` are named in it. */
static weir_status name_in_directory(struct wr_shell_plan *plan, struct wr_arena *arena,
                                     struct wr_shell_token dir)
{
    for (size_t i = 0; i < plan->files_count; i++) {
        struct wr_shell_token *file = &plan->files[i];
        file->text = wr_path_join(arena, dir.text, last_name(file->text));
        if (!file->text.ptr)
            return wr_arena_status(arena);
        file->literal &= dir.literal;
    }
    return WEIR_OK;
}

/* cp and ln write their last operand, or a file of each name in it. */
static void plan_copy(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    struct wr_shell_token dir = {0};

    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (wr_shell_is(&arg, "t|target-directory"))
            dir = arg.word;
    }
    if (dir.text.len) {
        args->status = name_in_directory(plan, args->arena, dir);
        return;
    }
    if (plan->files_count < 2) {
        plan->kind = WR_SHELL_PLAN_RUN;
        return;
    }
    struct wr_shell_token last = plan->files[plan->files_count - 1];
    bool into =
        plan->files_count > 2 || wr_is_any_of(last.text, ".|..") || wr_end_of(last.text, "/|/.");
    if (!into) {
        plan->files[0] = last;
        plan->files_count = 1;
        return;
    }
    plan->files_count--;
    args->status = name_in_directory(plan, args->arena, last);
}

static void plan_tee(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    plan->kind = WR_SHELL_PLAN_TEE;
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (wr_shell_is(&arg, "a|append"))
            plan->effect = WR_EFFECT_EDIT;
    }
}

static void plan_dd(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    for (size_t i = 1; i < args->count; i++) {
        struct wr_shell_token word = args->words[i];
        if (!wr_span_starts(word.text, WR_LIT("of=")))
            continue;
        word.text = wr_span_from(word.text, 3);
        wr_shell_plan_file(plan, word);
        plan->kind = WR_SHELL_PLAN_FILES;
    }
}

/* `patch [options] [file [patchfile]]`. */
static void plan_patch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool dry = false;
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand && !plan->files_count)
            wr_shell_plan_file(plan, arg.word);
        dry |= wr_shell_is(&arg, "dry-run");
    }
    plan->kind = dry                 ? WR_SHELL_PLAN_RUN
                 : plan->files_count ? WR_SHELL_PLAN_FILES
                                     : WR_SHELL_PLAN_PATCH;
}

static void plan_apply_patch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    plan->kind = WR_SHELL_PLAN_PATCH;
    if (args->count > 1)
        plan->script = args->words[1].text;
}

/* Options of formatters that only say what would change. */
#define CHECKS "check|check-only|diff|list-different"

/* Formatters that are a command of a larger program. */
static void plan_subcommand_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    static const struct wr_shell_row fixes = {.effect = WR_EFFECT_EDIT,
                                              .flags = WR_SHELL_GLOBS,
                                              .longs = "config|select|ignore|line-length",
                                              .only_with = "fix|write|w",
                                              .never_with = CHECKS};
    static const struct wr_shell_row formats = {.effect = WR_EFFECT_EDIT,
                                                .flags = WR_SHELL_GLOBS,
                                                .longs = "config|line-length",
                                                .never_with = CHECKS};
    weir_span command = args->count > 1 ? args->words[1].text : (weir_span){"", 0};
    bool whole_tree = wr_is_any_of(plan->program, "cargo|go|dotnet|mix");

    if (whole_tree && !wr_is_any_of(command, "fmt|fix|format"))
        return;
    args->at = 2;
    wr_shell_plan_row(plan, args, wr_is_any_of(command, "format|fmt") ? &formats : &fixes);
    plan->whole_tree = whole_tree && plan->kind == WR_SHELL_PLAN_FILES;
}

/* curl -o F, wget -O F. */
static void plan_download(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    const char *output = wr_span_is(plan->program, "wget") ? "O|output-document" : "o|output";
    while (wr_shell_next_arg(args, &arg))
        if (arg.has_value && wr_shell_is(&arg, output))
            wr_shell_plan_file(plan, arg.word);
    plan->saves = true;
}

/* --- the table --- */

enum {
    FILTERED = WR_SHELL_FILTERED,
    STDIN = WR_SHELL_STDIN,
    HERE = WR_SHELL_HERE,
    NO_FILES = WR_SHELL_NO_FILES,
    SKIPS = WR_SHELL_SKIPS,
    GLOBS = WR_SHELL_GLOBS,
    RUNS = WR_SHELL_RUNS,
    READ = WR_EFFECT_READ,
    LIST = WR_EFFECT_LIST,
    DIFF = WR_EFFECT_DIFF,
    SEARCH = WR_EFFECT_SEARCH,
    WRITE = WR_EFFECT_WRITE,
    EDIT = WR_EFFECT_EDIT,
    RUN = WR_EFFECT_RUN,
};

static const struct wr_shell_row programs[] = {
    /* that show what is in files */
    {"cat|less", NULL, READ, .flags = STDIN},
    {"nl", NULL, READ, .flags = STDIN, .shorts = "bdfhilnsvw",
     .longs = "body-numbering|number-format|number-width|number-separator"},
    {"more", NULL, READ, .flags = STDIN, .shorts = "n"},
    {"tac", NULL, READ, .flags = STDIN | FILTERED, .shorts = "s"},
    {"rev|zcat|gunzip", NULL, READ, .flags = STDIN | FILTERED},
    {"sort", NULL, READ, .flags = STDIN | FILTERED, .shorts = "ktST",
     .longs = "key|field-separator"},
    {"uniq", NULL, READ, .flags = STDIN | FILTERED, .shorts = "fsw"},
    {"cut", NULL, READ, .flags = STDIN | FILTERED, .shorts = "bcdf", .longs = "delimiter|fields"},
    {"tr|col|ansi2txt", NULL, READ, .flags = STDIN | FILTERED | NO_FILES},
    {"column", NULL, READ, .flags = STDIN | FILTERED, .shorts = "cNosRTHWl",
     .longs = "separator|output-separator"},
    {"paste", NULL, READ, .flags = STDIN | FILTERED, .shorts = "d", .longs = "delimiters"},
    {"fold", NULL, READ, .flags = STDIN | FILTERED, .shorts = "w", .longs = "width"},
    {"fmt", NULL, READ, .flags = STDIN | FILTERED, .shorts = "w"},
    {"expand", NULL, READ, .flags = STDIN | FILTERED, .shorts = "t"},
    {"iconv", NULL, READ, .flags = STDIN | FILTERED, .shorts = "fto"},
    {"yq", NULL, READ, .flags = STDIN | FILTERED | SKIPS, .shorts = "fpoI",
     .longs = "indent|input-format|output-format"},
    {"xmllint", NULL, READ, .flags = STDIN | FILTERED, .longs = "xpath|schema|encode"},
    {"xxd", NULL, READ, .flags = STDIN | FILTERED, .shorts = "closg"},
    {"hexdump", NULL, READ, .flags = STDIN | FILTERED, .shorts = "efns"},
    {"od", NULL, READ, .flags = STDIN | FILTERED, .shorts = "AjNtwS"},
    {"strings", NULL, READ, .flags = STDIN | FILTERED, .shorts = "nte"},
    {"base64", NULL, READ, .flags = STDIN | FILTERED, .shorts = "w", .longs = "wrap"},
    {"ls", NULL, LIST, .flags = HERE, .shorts = "ITw", .longs = "ignore|hide|width|time-style"},
    {"ll|dir", NULL, LIST, .flags = HERE},
    {"exa|eza", NULL, LIST, .flags = HERE, .shorts = "LIst",
     .longs = "level|ignore-glob|sort|time"},
    {"tree", NULL, LIST, .flags = HERE, .shorts = "LIPoHT", .longs = "filelimit|charset|timefmt"},
    {"du", NULL, LIST, .flags = HERE, .shorts = "dBtX",
     .longs = "max-depth|exclude|block-size|threshold"},
    {"wc", NULL, LIST, .flags = STDIN, .longs = "files0-from"},
    {"stat", NULL, LIST, .shorts = "cf", .longs = "format|printf"},
    {"file", NULL, LIST, .shorts = "efmP"},
    {"diff", NULL, DIFF, .shorts = "UCxXIFW", .longs = "exclude|label|unified|width"},
    {"colordiff", NULL, DIFF, .flags = STDIN, .shorts = "UCxXI"},
    {"head", wr_shell_plan_head, READ, .flags = STDIN, .shorts = "nc", .longs = "lines|bytes"},
    {"tail", wr_shell_plan_tail, READ, .flags = STDIN, .shorts = "ncs",
     .longs = "lines|bytes|pid|sleep-interval"},
    {"sed|gsed", wr_shell_plan_sed, READ, .flags = STDIN, .shorts = "efl", .rests = "i",
     .longs = "expression|file|line-length"},
    {"awk|gawk|mawk|nawk", wr_shell_plan_awk, READ, .flags = STDIN, .shorts = "vFfi",
     .longs = "assign|field-separator|file|include"},
    {"perl", wr_shell_plan_perl, READ, .flags = STDIN | RUNS, .shorts = "eEIMm", .rests = "iFC"},
    {"bat|batcat", wr_shell_plan_bat, READ, .flags = STDIN, .shorts = "rlHm",
     .longs = "line-range|language|style|theme|paging|color|wrap|tabs|map-syntax|file-name|"
              "highlight-line|terminal-width|decorations|italic-text|pager"},
    {"jq", plan_jq, READ, .flags = STDIN | FILTERED, .shorts = "fL",
     .longs = "indent|from-file|arg|argjson|slurpfile|rawfile"},
    {"python|python3", plan_python, RUN, .flags = RUNS},
    /* that search */
    {"grep|egrep|fgrep|zgrep|bzgrep", plan_grep, SEARCH, .flags = STDIN, .shorts = "ABCmefdD",
     .longs = "regexp|file|include|exclude|exclude-dir|exclude-from|max-count|after-context|"
              "before-context|context|label|directories|devices|binary-files"},
    {"ggrep", plan_grep, SEARCH, .flags = STDIN | HERE, .shorts = "ABCmefdD",
     .longs = "regexp|file|include|exclude|exclude-dir|exclude-from|max-count|after-context|"
              "before-context|context|label|directories|devices|binary-files"},
    {"rg|ripgrep|rga", plan_grep, SEARCH, .flags = STDIN | HERE, .shorts = "ABCmMefgtTjrEd",
     .longs = "regexp|file|glob|iglob|type|type-not|type-add|type-clear|after-context|"
              "before-context|context|max-count|max-columns|max-depth|maxdepth|max-filesize|"
              "threads|replace|encoding|sort|sortr|color|colors|context-separator|"
              "field-match-separator|field-context-separator|path-separator|pre|pre-glob|engine|"
              "ignore-file|dfa-size-limit|regex-size-limit|hostname-bin|hyperlink-format"},
    {"ag|ack|ack-grep|ugrep", plan_grep, SEARCH, .flags = STDIN | HERE, .shorts = "ABCmGpW",
     .longs = "after|before|context|depth|ignore|ignore-dir|file-search-regex|max-count|"
              "path-to-ignore|pager|type|ignore-file|output|workers|width"},
    {"find|gfind", plan_find, LIST, .flags = HERE},
    {"fd|fdfind", plan_fd, LIST, .flags = HERE, .shorts = "etdEScjo",
     .longs = "extension|type|max-depth|min-depth|exact-depth|exclude|size|changed-within|"
              "changed-before|color|threads|owner|max-results|base-directory"},
    /* that run others, or move */
    {"xargs|gxargs|parallel", plan_xargs, RUN, .shorts = "InPLdsaE", .rests = "il",
     .longs = "max-args|max-procs|max-lines|delimiter|arg-file|max-chars"},
    {"bash|sh|zsh|dash|ksh|ash", plan_interpreter, RUN, .flags = STDIN, .shorts = "oO",
     .longs = "rcfile|init-file"},
    {"eval", plan_eval, RUN, .flags = RUNS},
    {"cd|pushd|popd|chdir", plan_cd, RUN, .flags = 0},
    {"git", wr_shell_plan_git, RUN, .flags = RUNS},
    /* that change files */
    {"rm|unlink", NULL, WRITE, .flags = 0},
    {"shred", NULL, WRITE, .shorts = "ns"},
    {"touch", NULL, WRITE, .shorts = "drt", .longs = "date|reference"},
    {"truncate", NULL, WRITE, .shorts = "sr", .longs = "size|reference"},
    {"mv", NULL, WRITE, .shorts = "tS", .longs = "target-directory|suffix"},
    {"dos2unix", NULL, EDIT, .flags = 0},
    {"cp|ln|install", plan_copy, WRITE, .shorts = "tSmog",
     .longs = "target-directory|suffix|mode|owner|group"},
    {"tee|sponge", plan_tee, WRITE, .flags = 0},
    {"dd", plan_dd, WRITE, .flags = RUNS},
    {"patch", plan_patch, EDIT, .shorts = "pidoDFrzBY",
     .longs = "strip|input|directory|output|fuzz|reject-file|suffix"},
    {"apply_patch|applypatch", plan_apply_patch, EDIT, .flags = 0},
    {"wget", plan_download, WRITE, .flags = RUNS, .shorts = "OoPaUTtw",
     .longs = "output-document|output-file|directory-prefix|header|user-agent"},
    {"curl", plan_download, WRITE, .flags = RUNS, .shorts = "oHdXuAFbceTKxmrw",
     .longs = "output|header|data|data-raw|data-binary|request|user|user-agent|form|cookie|"
              "max-time|retry|write-out|url|connect-timeout|cacert|cert|key|proxy|resolve"},
    /* that rewrite files in place */
    {"ruff|biome|cargo|go|dotnet|mix", plan_subcommand_formatter, EDIT, .flags = RUNS},
    {"gofmt", NULL, EDIT, .flags = GLOBS, .shorts = "r", .only_with = "w", .never_with = CHECKS},
    {"goimports|gofumpt", NULL, EDIT, .flags = GLOBS, .only_with = "w", .never_with = CHECKS},
    {"shfmt", NULL, EDIT, .flags = GLOBS, .shorts = "iln", .only_with = "w", .never_with = CHECKS},
    {"clang-format", NULL, EDIT, .flags = GLOBS, .only_with = "i", .never_with = CHECKS},
    {"autopep8|yapf", NULL, EDIT, .flags = GLOBS, .only_with = "i|in-place", .never_with = CHECKS},
    {"prettier", NULL, EDIT, .flags = GLOBS, .longs = "config|parser|ignore-path|plugin",
     .only_with = "w|write", .never_with = CHECKS},
    {"eslint", NULL, EDIT, .flags = GLOBS, .shorts = "c", .longs = "ext|config|rule|format",
     .only_with = "fix", .never_with = CHECKS},
    {"black", NULL, EDIT, .flags = GLOBS, .shorts = "ltC",
     .longs = "line-length|config|target-version", .never_with = CHECKS},
    {"isort", NULL, EDIT, .flags = GLOBS, .shorts = "ls", .longs = "profile|settings-path",
     .never_with = CHECKS},
    {"rustfmt", NULL, EDIT, .flags = GLOBS, .longs = "edition|config-path|config",
     .never_with = CHECKS},
    {"stylua", NULL, EDIT, .flags = GLOBS, .never_with = CHECKS},
};

/* Shell built-ins and the like that show no file and change none. */
static const char nothings[] =
    "echo|printf|true|false|:|test|[|pwd|export|unset|set|shopt|exit|return|break|continue|local|"
    "declare|typeset|readonly|read|sleep|wait|trap|alias|unalias|umask|shift|let|getopts|hash|"
    "clear|exec|]]|fi|done|esac|}";

static void plan_program(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    for (size_t i = 0; i < WR_COUNT_OF(programs); i++)
        if (wr_is_any_of(plan->program, programs[i].names)) {
            wr_shell_plan_row(plan, args, &programs[i]);
            return;
        }
    if (wr_is_any_of(plan->program, nothings))
        plan->kind = WR_SHELL_PLAN_NOTHING;
}

/* --- wrappers --- */

struct wrapper {
    const char *names;  /* a list */
    const char *second; /* a word that must follow; NULL: none */
    const char *shorts;
    const char *longs;
    unsigned operands_skip;
};

static const struct wrapper wrappers[] = {
    {"sudo", NULL, "ugpCDRThrU", "user|group|chdir|host|prompt", 0},
    {"doas", NULL, "uC", "", 0},
    {"env", NULL, "uCS", "unset|chdir", 0},
    {"timeout|gtimeout", NULL, "sk", "signal|kill-after", 1},
    {"time", NULL, "fo", "format|output", 0},
    {"nice", NULL, "n", "adjustment", 0},
    {"ionice", NULL, "cnp", "", 0},
    {"nohup|unbuffer|setsid|chronic|builtin|command|noglob|bunx", NULL, "", "", 0},
    {"stdbuf", NULL, "ioe", "input|output|error", 0},
    {"exec", NULL, "a", "", 0},
    {"npx", NULL, "pc", "package", 0},
    {"uvx", NULL, "", "from|with", 0},
    {"uv", "run", "", "with|extra|group", 0},
    {"poetry|pipenv", "run", "", "", 0},
    {"bundle|pnpm|yarn", "exec", "", "", 0},
};

static bool is_assignment(const struct wr_shell_token *word)
{
    weir_span text = word->text;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '=')
            return i > 0;
        bool name = wr_is_word(c) && (i || !wr_is_digit(c));
        if (!name)
            return false;
    }
    return false;
}

/* /usr/bin/grep is grep; ./grep is somebody's own. */
static weir_span program_name(const struct wr_shell_token *word)
{
    weir_span text = word->text;
    if (text.len > 1 && text.ptr[0] == '\\')
        text = wr_span_from(text, 1);
    return text.len && text.ptr[0] == '/' ? last_name(text) : text;
}

/* The place of the first word behind a wrapper and its options; 0 where it wraps nothing. */
static size_t skip_wrapper(const struct wrapper *wrapper, const struct wr_shell_token *words,
                           size_t count)
{
    struct wr_shell_args args = {.words = words,
                                 .count = count,
                                 .at = wrapper->second ? 2 : 1,
                                 .shorts = wrapper->shorts,
                                 .longs = wrapper->longs};
    size_t skip = wrapper->operands_skip;
    while (args.at < count) {
        size_t before = args.at;
        bool in_cluster = args.cluster != 0;
        struct wr_shell_arg arg;
        if (!wr_shell_next_arg(&args, &arg))
            break;
        if (in_cluster || !arg.is_operand || is_assignment(&arg.word))
            continue;
        if (!skip--)
            return wr_span_is(words[before].text, "--") ? before + 1 : before;
    }
    return 0;
}

static const struct wrapper *find_wrapper(const struct wr_shell_token *words, size_t count)
{
    weir_span name = program_name(&words[0]);
    for (size_t i = 0; i < WR_COUNT_OF(wrappers); i++) {
        if (!wr_is_any_of(name, wrappers[i].names))
            continue;
        if (!wrappers[i].second || (count > 1 && wr_span_is(words[1].text, wrappers[i].second)))
            return &wrappers[i];
    }
    return NULL;
}

weir_status wr_shell_plan(struct wr_shell_plan *plan, struct wr_arena *arena,
                          const struct wr_shell_token *words, size_t count)
{
    const struct wrapper *wrapper;
    *plan = (struct wr_shell_plan){.kind = WR_SHELL_PLAN_RUN};
    while ((wrapper = find_wrapper(words, count))) {
        bool asks = wr_span_is(program_name(&words[0]), "command") && count > 1 &&
                    wr_is_any_of(words[1].text, "-v|-V");
        size_t skip = asks ? 0 : skip_wrapper(wrapper, words, count);
        if (!skip)
            break;
        words += skip;
        count -= skip;
    }
    plan->program = program_name(&words[0]);
    plan->files = wr_arena_alloc(arena, (count + 1) * sizeof(*plan->files));
    if (!plan->files)
        return wr_arena_status(arena);
    struct wr_shell_args args = {.words = words, .count = count, .at = 1, .arena = arena};
    if (words[0].literal)
        plan_program(plan, &args);
    return args.status;
}
