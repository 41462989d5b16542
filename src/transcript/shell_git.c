/* git: which of its commands show a file, a difference or a list, and which change the work tree.
 */
#include "transcript/shell_plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_hex(weir_span word)
{
    if (word.len < 7 || word.len > 40)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (!((word.ptr[i] >= '0' && word.ptr[i] <= '9') ||
              (word.ptr[i] >= 'a' && word.ptr[i] <= 'f')))
            return false;
    return true;
}

/* Whether a word that may be a version or a path is a path. Git looks both up; by the spelling
 * alone, a path has a dot in its last name, a slash at its end, or begins like one. */
static bool looks_like_path(weir_span word)
{
    static const char *const version_starts[] = {
        "HEAD", "@", "origin/", "upstream/", "refs/", "stash@{", "FETCH", "ORIG_", "MERGE_"};
    if (!word.len)
        return false;
    if (word.ptr[0] == '/' || word.ptr[0] == '.' || word.ptr[0] == ':')
        return true;
    if (is_hex(word) || wr_span_find(word, WR_LIT(".."), 0) != SIZE_MAX ||
        memchr(word.ptr, '~', word.len) || memchr(word.ptr, '^', word.len))
        return false;
    for (size_t i = 0; i < COUNT(version_starts); i++)
        if (wr_span_starts(word, wr_span_of(version_starts[i])))
            return false;
    if (word.len > 1 && word.ptr[0] == 'v' && word.ptr[1] >= '0' && word.ptr[1] <= '9')
        return false;
    if (word.ptr[word.len - 1] == '/')
        return true;
    size_t last = word.len;
    while (last && word.ptr[last - 1] != '/')
        last--;
    return memchr(word.ptr + last, '.', word.len - last) != NULL;
}

/* Operands before `--` may be versions; those behind it are paths. */
struct operands {
    struct wr_shell_args *args;
    size_t versions;
    bool has_dashes; /* `--` stands somewhere in the command */
};

static bool has_dashes(const struct wr_shell_args *args)
{
    for (size_t i = args->at; i < args->count; i++)
        if (wr_span_is(args->words[i].text, "--"))
            return true;
    return false;
}

static void add_operand(struct wr_shell_plan *plan, struct operands *operands,
                        const struct wr_shell_arg *arg)
{
    bool behind = operands->args->operands_only;
    bool path = behind || (!operands->has_dashes && looks_like_path(arg->word.text));
    if (path) {
        wr_shell_plan_file(plan, arg->word);
        return;
    }
    if (!operands->versions++)
        plan->rev = arg->word.text;
}

static void plan_files(struct wr_shell_plan *plan, enum wr_effect_kind effect)
{
    plan->kind = WR_SHELL_PLAN_FILES;
    plan->effect = effect;
}

static void plan_tree(struct wr_shell_plan *plan)
{
    plan_files(plan, WR_EFFECT_EDIT);
    plan->files_count = 0;
    plan->whole_tree = true;
}

static void plan_diff(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
    plan_files(plan, WR_EFFECT_DIFF);
    args->shorts = "USGOl";
    args->longs = " unified stat-width diff-algorithm word-diff-regex output inter-hunk-context ";
    while (wr_shell_next_arg(args, &arg))
        if (arg.is_operand)
            add_operand(plan, &operands, &arg);
}

/* `REV:path` names a file as it was; else a commit is shown, as a difference. */
static void plan_show(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
    plan_files(plan, WR_EFFECT_DIFF);
    args->shorts = "Un";
    args->longs = " format pretty date unified encoding ";
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand)
            continue;
        const char *colon = memchr(arg.word.text.ptr, ':', arg.word.text.len);
        if (!colon || args->operands_only || colon == arg.word.text.ptr) {
            add_operand(plan, &operands, &arg);
            continue;
        }
        size_t at = (size_t)(colon - arg.word.text.ptr);
        struct wr_shell_token file = arg.word;
        file.text = wr_span_cut(arg.word.text, at + 1, arg.word.text.len);
        plan->rev = wr_span_cut(arg.word.text, 0, at);
        plan->effect = !file.text.len || file.text.ptr[file.text.len - 1] == '/' ? WR_EFFECT_LIST
                                                                                 : WR_EFFECT_READ;
        plan->from_root =
            !wr_span_starts(file.text, WR_LIT("./")) && !wr_span_starts(file.text, WR_LIT("../"));
        if (plan->effect == WR_EFFECT_READ && !plan->ranges_count)
            wr_shell_plan_range(plan, 1, -1);
        wr_shell_plan_file(plan, file);
    }
}

static void plan_cat_file(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    plan_show(plan, args);
    if (plan->effect == WR_EFFECT_DIFF)
        plan->kind = WR_SHELL_PLAN_RUN;
}

/* `-L 10,20`, `-L 10,+5`. */
static void plan_blame_range(struct wr_shell_plan *plan, weir_span text)
{
    const char *comma = memchr(text.ptr, ',', text.len);
    uint64_t start, end;
    if (!comma)
        return;
    size_t at = (size_t)(comma - text.ptr);
    bool plus = at + 1 < text.len && text.ptr[at + 1] == '+';
    if (wr_span_u64(wr_span_cut(text, 0, at), &start) && start < INT32_MAX &&
        wr_span_u64(wr_span_cut(text, at + 1 + plus, text.len), &end) && end < INT32_MAX)
        wr_shell_plan_range(plan, (int64_t)start, (int64_t)(plus ? start + end - 1 : end));
}

static void plan_blame(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    struct wr_shell_token last = {0};
    bool ranged = false;
    plan_files(plan, WR_EFFECT_READ);
    args->shorts = "LS";
    args->longs = " contents date ";
    while (wr_shell_next_arg(args, &arg)) {
        if (arg.letter == 'L') {
            ranged = true;
            plan_blame_range(plan, arg.word.text);
        } else if (arg.is_operand) {
            if (last.text.len)
                plan->rev = last.text;
            last = arg.word;
        }
    }
    if (last.text.len)
        wr_shell_plan_file(plan, last);
    if (!ranged)
        wr_shell_plan_range(plan, 1, -1);
}

static void plan_git_grep(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_query = false;
    plan_files(plan, WR_EFFECT_SEARCH);
    plan->here = true;
    args->shorts = "ABCmef";
    args->longs = " max-depth threads after-context before-context context max-count ";
    while (wr_shell_next_arg(args, &arg)) {
        bool query = arg.letter == 'e' || (arg.is_operand && !has_query && !args->operands_only);
        if (query) {
            if (!plan->query.len)
                plan->query = arg.word.text;
            has_query = true;
        } else if (arg.is_operand) {
            bool version =
                !args->operands_only && !looks_like_path(arg.word.text) &&
                (is_hex(arg.word.text) || wr_span_starts(arg.word.text, WR_LIT("HEAD")) ||
                 wr_span_starts(arg.word.text, WR_LIT("origin/")));
            if (version)
                plan->rev = arg.word.text;
            else
                wr_shell_plan_file(plan, arg.word);
        }
    }
}

static void plan_ls_files(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    plan_files(plan, WR_EFFECT_LIST);
    plan->here = true;
    args->shorts = "xX";
    args->longs = " exclude exclude-from ";
    while (wr_shell_next_arg(args, &arg))
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
}

static void plan_ls_tree(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_tree = false;
    plan_files(plan, WR_EFFECT_LIST);
    plan->here = true;
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand)
            continue;
        if (has_tree)
            wr_shell_plan_file(plan, arg.word);
        else
            plan->rev = arg.word.text;
        has_tree = true;
    }
}

static void plan_checkout(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
    bool creates = false;
    plan_files(plan, WR_EFFECT_WRITE);
    args->shorts = "bB";
    args->longs = " orphan conflict ";
    while (wr_shell_next_arg(args, &arg)) {
        creates |= arg.letter == 'b' || wr_shell_is_long(&arg, "orphan");
        if (arg.is_operand)
            add_operand(plan, &operands, &arg);
    }
    plan->rev = (weir_span){"", 0};
    if (plan->files_count)
        return;
    if (creates && !operands.versions)
        plan->kind = WR_SHELL_PLAN_RUN; /* a new name for what is checked out already */
    else
        plan_tree(plan);
}

static void plan_switch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool creates = false;
    size_t operands = 0;
    args->shorts = "cC";
    args->longs = " create force-create orphan ";
    while (wr_shell_next_arg(args, &arg)) {
        creates |= arg.letter == 'c' || wr_shell_is_long(&arg, "create") ||
                   wr_shell_is_long(&arg, "orphan");
        operands += arg.is_operand;
    }
    if (!creates || operands)
        plan_tree(plan);
}

static void plan_restore(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool staged = false, worktree = false;
    plan_files(plan, WR_EFFECT_WRITE);
    args->shorts = "s";
    args->longs = " source conflict ";
    while (wr_shell_next_arg(args, &arg)) {
        staged |= arg.letter == 'S' || wr_shell_is_long(&arg, "staged");
        worktree |= arg.letter == 'W' || wr_shell_is_long(&arg, "worktree");
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
    }
    if (staged && !worktree)
        plan->kind = WR_SHELL_PLAN_RUN; /* the index alone */
}

static void plan_reset(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    while (wr_shell_next_arg(args, &arg))
        if (wr_shell_is_long(&arg, "hard") || wr_shell_is_long(&arg, "merge") ||
            wr_shell_is_long(&arg, "keep"))
            plan_tree(plan);
}

static void plan_stash(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool push = true;
    bool first = true;
    args->shorts = "m";
    args->longs = " message ";
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand)
            continue;
        if (first && !args->operands_only) {
            push = wr_span_is(arg.word.text, "push") || wr_span_is(arg.word.text, "save");
            bool changes =
                push || wr_span_is(arg.word.text, "pop") || wr_span_is(arg.word.text, "apply");
            if (!changes)
                return; /* list, show, drop: no file changes */
        } else if (args->operands_only && push) {
            wr_shell_plan_file(plan, arg.word);
        }
        first = false;
    }
    if (plan->files_count)
        plan_files(plan, WR_EFFECT_WRITE);
    else
        plan_tree(plan);
}

static void plan_apply(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool from_file = false, changes = true;
    args->shorts = "pC";
    args->longs = " directory exclude include whitespace build-fake-ancestor ";
    while (wr_shell_next_arg(args, &arg)) {
        from_file |= arg.is_operand && !wr_span_is(arg.word.text, "-");
        if (wr_shell_is_long(&arg, "check") || wr_shell_is_long(&arg, "stat") ||
            wr_shell_is_long(&arg, "numstat") || wr_shell_is_long(&arg, "summary") ||
            wr_shell_is_long(&arg, "cached"))
            changes = false;
    }
    if (!changes)
        return;
    if (from_file)
        plan_tree(plan);
    else
        plan->kind = WR_SHELL_PLAN_PATCH;
}

static void plan_clean(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool dry = false;
    args->shorts = "e";
    while (wr_shell_next_arg(args, &arg)) {
        dry |= arg.letter == 'n' || wr_shell_is_long(&arg, "dry-run");
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
    }
    if (dry)
        return;
    if (plan->files_count)
        plan_files(plan, WR_EFFECT_WRITE);
    else
        plan_tree(plan);
}

static void plan_rm_mv(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool cached = false;
    plan_files(plan, WR_EFFECT_WRITE);
    while (wr_shell_next_arg(args, &arg)) {
        cached |= wr_shell_is_long(&arg, "cached") || wr_shell_is_long(&arg, "dry-run") ||
                  arg.letter == 'n';
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
    }
    if (cached)
        plan->kind = WR_SHELL_PLAN_RUN;
}

static void plan_moves_tree(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    (void)args;
    plan_tree(plan);
}

static const struct {
    const char *name; /* as effects name the program */
    void (*make)(struct wr_shell_plan *, struct wr_shell_args *);
} commands[] = {
    {"git diff", plan_diff},         {"git show", plan_show},
    {"git cat-file", plan_cat_file}, {"git difftool", plan_diff},
    {"git blame", plan_blame},       {"git annotate", plan_blame},
    {"git grep", plan_git_grep},     {"git ls-files", plan_ls_files},
    {"git ls-tree", plan_ls_tree},   {"git checkout", plan_checkout},
    {"git switch", plan_switch},     {"git restore", plan_restore},
    {"git reset", plan_reset},       {"git stash", plan_stash},
    {"git apply", plan_apply},       {"git clean", plan_clean},
    {"git rm", plan_rm_mv},          {"git mv", plan_rm_mv},
    {"git merge", plan_moves_tree},  {"git pull", plan_moves_tree},
    {"git rebase", plan_moves_tree}, {"git am", plan_moves_tree},
    {"git revert", plan_moves_tree}, {"git cherry-pick", plan_moves_tree},
};

/* Options before the command; stops at the command itself. */
static void take_globals(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    while (args->at < args->count) {
        weir_span word = args->words[args->at].text;
        if (!word.len || word.ptr[0] != '-')
            return;
        args->at++;
        if (args->at >= args->count)
            return;
        if (wr_span_is(word, "-C")) {
            plan->dir = args->words[args->at].text;
            plan->dir_literal = args->words[args->at].literal;
            args->at++;
        } else if (wr_span_is(word, "-c") || wr_span_is(word, "--git-dir") ||
                   wr_span_is(word, "--work-tree") || wr_span_is(word, "--namespace") ||
                   wr_span_is(word, "--exec-path")) {
            args->at++;
        }
    }
}

void wr_shell_plan_git(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    plan->kind = WR_SHELL_PLAN_RUN;
    take_globals(plan, args);
    if (args->at >= args->count)
        return;
    weir_span command = args->words[args->at++].text;
    for (size_t i = 0; i < COUNT(commands); i++)
        if (wr_span_is(command, commands[i].name + 4)) {
            plan->program = wr_span_of(commands[i].name);
            commands[i].make(plan, args);
            return;
        }
}
