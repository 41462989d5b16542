#include "transcript/shell_plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- options --- */

bool wr_shell_in_list(const char *names, weir_span name)
{
    for (const char *at = names; name.len && *at;) {
        size_t len = strcspn(at, " ");
        if (len == name.len && !memcmp(at, name.ptr, len))
            return true;
        at += len + strspn(at + len, " ");
    }
    return false;
}

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
    weir_span name = wr_span_cut(word->text, 2, word->text.len);
    const char *equals = memchr(name.ptr, '=', name.len);
    args->at++;
    if (!equals) {
        arg->name = name;
        if (args->longs && wr_shell_in_list(args->longs, name))
            take_value(args, arg);
        return;
    }
    arg->name = wr_span_cut(name, 0, (size_t)(equals - name.ptr));
    arg->word = *word;
    arg->word.text = wr_span_cut(name, arg->name.len + 1, name.len);
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
    if (letter >= '0' && letter <= '9') {
        while (args->cluster < text.len && text.ptr[args->cluster] >= '0' &&
               text.ptr[args->cluster] <= '9')
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
        arg->word.text = wr_span_cut(text, args->cluster, text.len);
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

weir_span wr_shell_last_name(weir_span path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/')
            return wr_span_cut(path, i, path.len);
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

/* --- programs that need no more than a row --- */

enum {
    FILTERED = 1, /* shows the lines in another shape */
    STDIN = 2,    /* reads the pipe where no file is named */
    HERE = 4,     /* means the working directory where no file is named */
    NO_FILES = 8, /* its operands are not files */
};

struct simple {
    const char *name;
    enum wr_effect_kind effect;
    unsigned flags;
    const char *shorts, *longs; /* that take a value */
    unsigned operands_skip;     /* that are not files, at the front */
};

static const struct simple simples[] = {
    {"cat", WR_EFFECT_READ, STDIN, "", "", 0},
    {"nl", WR_EFFECT_READ, STDIN, "bdfhilnsvw",
     " body-numbering number-format number-width number-separator ", 0},
    {"less", WR_EFFECT_READ, STDIN, "", "", 0},
    {"more", WR_EFFECT_READ, STDIN, "n", "", 0},
    {"tac", WR_EFFECT_READ, STDIN | FILTERED, "s", "", 0},
    {"rev", WR_EFFECT_READ, STDIN | FILTERED, "", "", 0},
    {"zcat", WR_EFFECT_READ, STDIN | FILTERED, "", "", 0},
    {"gunzip", WR_EFFECT_READ, STDIN | FILTERED, "", "", 0},
    {"sort", WR_EFFECT_READ, STDIN | FILTERED, "ktST", " key field-separator ", 0},
    {"uniq", WR_EFFECT_READ, STDIN | FILTERED, "fsw", "", 0},
    {"cut", WR_EFFECT_READ, STDIN | FILTERED, "bcdf", " delimiter fields ", 0},
    {"tr", WR_EFFECT_READ, STDIN | FILTERED | NO_FILES, "", "", 0},
    {"column", WR_EFFECT_READ, STDIN | FILTERED, "cNosRTHWl", " separator output-separator ", 0},
    {"paste", WR_EFFECT_READ, STDIN | FILTERED, "d", " delimiters ", 0},
    {"fold", WR_EFFECT_READ, STDIN | FILTERED, "w", " width ", 0},
    {"fmt", WR_EFFECT_READ, STDIN | FILTERED, "w", "", 0},
    {"expand", WR_EFFECT_READ, STDIN | FILTERED, "t", "", 0},
    {"iconv", WR_EFFECT_READ, STDIN | FILTERED, "fto", "", 0},
    {"yq", WR_EFFECT_READ, STDIN | FILTERED, "fpoI", " indent input-format output-format ", 1},
    {"xmllint", WR_EFFECT_READ, STDIN | FILTERED, "", " xpath schema encode ", 0},
    {"xxd", WR_EFFECT_READ, STDIN | FILTERED, "closg", "", 0},
    {"hexdump", WR_EFFECT_READ, STDIN | FILTERED, "efns", "", 0},
    {"od", WR_EFFECT_READ, STDIN | FILTERED, "AjNtwS", "", 0},
    {"strings", WR_EFFECT_READ, STDIN | FILTERED, "nte", "", 0},
    {"base64", WR_EFFECT_READ, STDIN | FILTERED, "w", " wrap ", 0},
    {"col", WR_EFFECT_READ, STDIN | FILTERED | NO_FILES, "", "", 0},
    {"ansi2txt", WR_EFFECT_READ, STDIN | FILTERED | NO_FILES, "", "", 0},
    {"ls", WR_EFFECT_LIST, HERE, "ITw", " ignore hide width time-style ", 0},
    {"ll", WR_EFFECT_LIST, HERE, "", "", 0},
    {"dir", WR_EFFECT_LIST, HERE, "", "", 0},
    {"exa", WR_EFFECT_LIST, HERE, "LIst", " level ignore-glob sort time ", 0},
    {"eza", WR_EFFECT_LIST, HERE, "LIst", " level ignore-glob sort time ", 0},
    {"tree", WR_EFFECT_LIST, HERE, "LIPoHT", " filelimit charset timefmt ", 0},
    {"du", WR_EFFECT_LIST, HERE, "dBtX", " max-depth exclude block-size threshold ", 0},
    {"wc", WR_EFFECT_LIST, STDIN, "", " files0-from ", 0},
    {"stat", WR_EFFECT_LIST, 0, "cf", " format printf ", 0},
    {"file", WR_EFFECT_LIST, 0, "efmP", "", 0},
    {"diff", WR_EFFECT_DIFF, 0, "UCxXIFW", " exclude label unified width ", 0},
    {"colordiff", WR_EFFECT_DIFF, STDIN, "UCxXI", "", 0},
    {"rm", WR_EFFECT_WRITE, 0, "", "", 0},
    {"unlink", WR_EFFECT_WRITE, 0, "", "", 0},
    {"shred", WR_EFFECT_WRITE, 0, "ns", "", 0},
    {"touch", WR_EFFECT_WRITE, 0, "drt", " date reference ", 0},
    {"truncate", WR_EFFECT_WRITE, 0, "sr", " size reference ", 0},
    {"mv", WR_EFFECT_WRITE, 0, "tS", " target-directory suffix ", 0},
    {"dos2unix", WR_EFFECT_EDIT, 0, "", "", 0},
};

/* Shell built-ins and the like that show no file and change none. */
static const char nothings[] =
    "echo printf true false : test [ pwd export unset set shopt exit return break continue "
    "local declare typeset readonly read sleep wait trap alias unalias umask shift let "
    "getopts hash clear exec ]] fi done esac } ";

static void plan_simple(struct wr_shell_plan *plan, struct wr_shell_args *args,
                        const struct simple *row)
{
    struct wr_shell_arg arg;
    size_t skip = row->operands_skip;

    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = row->effect;
    plan->filtered = row->flags & FILTERED;
    plan->from_stdin = row->flags & STDIN;
    plan->here = row->flags & HERE;
    args->shorts = row->shorts;
    args->longs = row->longs;
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand || (row->flags & NO_FILES))
            continue;
        if (skip)
            skip--;
        else
            wr_shell_plan_file(plan, arg.word);
    }
    if (row->effect == WR_EFFECT_READ && !plan->filtered)
        wr_shell_plan_range(plan, 1, -1);
}

/* jq's first operand is its program; some of its options take two words. */
static void plan_jq(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_program = false;

    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_READ;
    plan->filtered = plan->from_stdin = true;
    args->shorts = "fL";
    args->longs = " indent from-file arg argjson slurpfile rawfile ";
    while (wr_shell_next_arg(args, &arg)) {
        if (wr_shell_in_list("arg argjson slurpfile rawfile", arg.name))
            args->at++;
        has_program |= arg.letter == 'f' || wr_shell_is_long(&arg, "from-file");
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
    bool always_here = !wr_shell_in_list("grep egrep fgrep zgrep bzgrep", plan->program);

    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_SEARCH;
    plan->from_stdin = true;
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.letter == 'e' || wr_shell_is_long(&arg, "regexp")) {
            if (!has_query)
                plan->query = arg.word.text;
            has_query = true;
        } else if (arg.letter == 'f' || wr_shell_is_long(&arg, "file")) {
            has_query = true;
        } else if (arg.letter == 'r' || arg.letter == 'R' || wr_shell_is_long(&arg, "recursive") ||
                   wr_shell_is_long(&arg, "dereference-recursive")) {
            recursive = true;
        } else if (wr_shell_is_long(&arg, "files") || wr_shell_is_long(&arg, "type-list")) {
            lists = has_query = true;
        } else if (arg.is_operand && !has_query) {
            plan->query = arg.word.text;
            has_query = true;
        } else if (arg.is_operand) {
            wr_shell_plan_file(plan, arg.word);
        }
    }
    plan->here = recursive || always_here;
    if (lists) {
        plan->effect = WR_EFFECT_LIST;
        plan->from_stdin = false;
    }
}

static void plan_gnu_grep(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    args->shorts = "ABCmefdD";
    args->longs = " regexp file include exclude exclude-dir exclude-from max-count after-context "
                  "before-context "
                  "context label directories devices binary-files ";
    plan_grep(plan, args);
}

static void plan_ripgrep(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    args->shorts = "ABCmMefgtTjrEd";
    args->longs =
        " regexp file glob iglob type type-not type-add type-clear after-context before-context "
        "context "
        "max-count max-columns max-depth maxdepth max-filesize threads replace encoding sort sortr "
        "color "
        "colors context-separator field-match-separator field-context-separator path-separator pre "
        "pre-glob "
        "engine ignore-file dfa-size-limit regex-size-limit hostname-bin hyperlink-format ";
    plan_grep(plan, args);
}

static void plan_ag(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    args->shorts = "ABCmGpW";
    args->longs = " after before context depth ignore ignore-dir file-search-regex max-count "
                  "path-to-ignore pager "
                  "type ignore-file output workers width ";
    plan_grep(plan, args);
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
    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_LIST;
    plan->here = true;
    while (args->at < args->count &&
           wr_shell_in_list("-L -H -P -O1 -O2 -O3", args->words[args->at].text))
        args->at++;
    while (args->at < args->count && is_find_path(args->words[args->at].text))
        wr_shell_plan_file(plan, args->words[args->at++]);
    while (args->at < args->count) {
        weir_span word = args->words[args->at++].text;
        bool value = args->at < args->count;
        if (value && !plan->query.len &&
            wr_shell_in_list("-name -iname -path -ipath -wholename -regex -iregex", word))
            plan->query = args->words[args->at++].text;
        else if (wr_shell_in_list("-exec -execdir -ok -okdir", word) &&
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

    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = WR_EFFECT_LIST;
    plan->here = true;
    args->shorts = "etdEScjo";
    args->longs = " extension type max-depth min-depth exact-depth exclude size changed-within "
                  "changed-before color "
                  "threads owner max-results base-directory ";
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.letter == 'x' || arg.letter == 'X' || wr_shell_is_long(&arg, "exec") ||
            wr_shell_is_long(&arg, "exec-batch")) {
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
    static const char shorts[] = "InPLdsaE";
    args->shorts = shorts;
    args->rests = "il";
    args->longs = " max-args max-procs max-lines delimiter arg-file max-chars ";
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
    plan->from_stdin = true;
    args->shorts = "oO";
    args->longs = " rcfile init-file ";
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

static void plan_python(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    bool json_tool = args->count > 2 && wr_span_is(args->words[1].text, "-m") &&
                     wr_span_is(args->words[2].text, "json.tool");
    if (!json_tool)
        return;
    static const struct simple row = {"json.tool", WR_EFFECT_READ, STDIN | FILTERED,
                                      "",          " indent ",     0};
    args->at = 3;
    plan_simple(plan, args, &row);
}

static void plan_cd(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool back = wr_shell_in_list("popd", plan->program);
    plan->kind = WR_SHELL_PLAN_CD;
    while (wr_shell_next_arg(args, &arg))
        if (arg.is_operand && !wr_span_is(arg.word.text, "-") && !back && !plan->files_count)
            wr_shell_plan_file(plan, arg.word);
    if (args->count == 1 && wr_shell_in_list("cd", plan->program))
        wr_shell_plan_file(plan, (struct wr_shell_token){.text = WR_LIT("~"), .literal = true});
}

static void plan_eval(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    if (args->count == 2) {
        plan->kind = WR_SHELL_PLAN_SCRIPT;
        plan->script = args->words[1].text;
    }
}

static void plan_command_of(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    static const struct {
        const char *programs;
        void (*make)(struct wr_shell_plan *, struct wr_shell_args *);
    } makers[] = {
        {"head", wr_shell_plan_head},
        {"tail", wr_shell_plan_tail},
        {"sed gsed", wr_shell_plan_sed},
        {"awk gawk mawk nawk", wr_shell_plan_awk},
        {"perl", wr_shell_plan_perl},
        {"bat batcat", wr_shell_plan_bat},
        {"git", wr_shell_plan_git},
        {"grep egrep fgrep zgrep bzgrep ggrep", plan_gnu_grep},
        {"rg ripgrep rga", plan_ripgrep},
        {"ag ack ack-grep ugrep", plan_ag},
        {"find gfind", plan_find},
        {"fd fdfind", plan_fd},
        {"xargs gxargs parallel", plan_xargs},
        {"jq", plan_jq},
        {"tee sponge", wr_shell_plan_tee},
        {"dd", wr_shell_plan_dd},
        {"patch", wr_shell_plan_patch},
        {"apply_patch applypatch", wr_shell_plan_apply_patch},
        {"bash sh zsh dash ksh ash", plan_interpreter},
        {"python python3", plan_python},
        {"cd pushd popd chdir", plan_cd},
        {"eval", plan_eval},
        {"curl wget", wr_shell_plan_download},
        {"ruff biome cargo go dotnet mix", wr_shell_plan_subcommand_formatter},
    };
    for (size_t i = 0; i < COUNT(makers); i++)
        if (wr_shell_in_list(makers[i].programs, plan->program)) {
            makers[i].make(plan, args);
            return;
        }
    for (size_t i = 0; i < COUNT(simples); i++)
        if (wr_span_is(plan->program, simples[i].name)) {
            plan_simple(plan, args, &simples[i]);
            return;
        }
    if (wr_shell_plan_formatter(plan, args))
        return;
    if (wr_shell_in_list(nothings, plan->program))
        plan->kind = WR_SHELL_PLAN_NOTHING;
}

/* --- wrappers --- */

struct wrapper {
    const char *name;
    const char *second; /* a word that must follow; NULL: none */
    const char *shorts;
    const char *longs;
    unsigned operands_skip;
};

static const struct wrapper wrappers[] = {
    {"sudo", NULL, "ugpCDRThrU", " user group chdir host prompt ", 0},
    {"doas", NULL, "uC", "", 0},
    {"env", NULL, "uCS", " unset chdir ", 0},
    {"timeout", NULL, "sk", " signal kill-after ", 1},
    {"gtimeout", NULL, "sk", " signal kill-after ", 1},
    {"time", NULL, "fo", " format output ", 0},
    {"nice", NULL, "n", " adjustment ", 0},
    {"ionice", NULL, "cnp", "", 0},
    {"nohup", NULL, "", "", 0},
    {"stdbuf", NULL, "ioe", " input output error ", 0},
    {"unbuffer", NULL, "", "", 0},
    {"setsid", NULL, "", "", 0},
    {"chronic", NULL, "", "", 0},
    {"exec", NULL, "a", "", 0},
    {"builtin", NULL, "", "", 0},
    {"command", NULL, "", "", 0},
    {"noglob", NULL, "", "", 0},
    {"npx", NULL, "pc", " package ", 0},
    {"bunx", NULL, "", "", 0},
    {"uvx", NULL, "", " from with ", 0},
    {"uv", "run", "", " with extra group ", 0},
    {"poetry", "run", "", "", 0},
    {"pipenv", "run", "", "", 0},
    {"bundle", "exec", "", "", 0},
    {"pnpm", "exec", "", "", 0},
    {"yarn", "exec", "", "", 0},
};

static bool is_assignment(const struct wr_shell_token *word)
{
    weir_span text = word->text;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '=')
            return i > 0;
        bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                    (i && c >= '0' && c <= '9');
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
        text = wr_span_cut(text, 1, text.len);
    return text.len && text.ptr[0] == '/' ? wr_shell_last_name(text) : text;
}

/* The place of the first word behind a wrapper and its options; 0 where it wraps nothing. */
static size_t unwrap(const struct wrapper *wrapper, const struct wr_shell_token *words,
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
    for (size_t i = 0; i < COUNT(wrappers); i++) {
        if (!wr_span_is(name, wrappers[i].name))
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
                    wr_shell_in_list("-v -V", words[1].text);
        size_t skip = asks ? 0 : unwrap(wrapper, words, count);
        if (!skip)
            break;
        words += skip;
        count -= skip;
    }
    plan->program = program_name(&words[0]);
    plan->files = wr_arena_alloc(arena, (count + 1) * sizeof(*plan->files));
    if (!plan->files)
        return wr_arena_status(arena);
    struct wr_shell_args args = {.words = words, .count = count, .at = 1};
    if (!words[0].literal)
        return WEIR_OK;
    if (wr_shell_in_list("cp ln install", plan->program))
        return wr_shell_plan_copy(plan, arena, &args);
    plan_command_of(plan, &args);
    return WEIR_OK;
}
