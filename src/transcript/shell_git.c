/* git: which of its commands show a file, a difference or a list, and which change the work tree.
 *
 * Commands are rows as in shell_plan.c. Those with a maker take words that may be versions or
 * paths: git looks both up; here the spelling alone decides (looks_like_path).
 */
#include "base/ascii.h"
#include "transcript/shell_plan.h"

static bool is_hex(weir_span word)
{
    if (word.len < 7 || word.len > 40)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (!wr_is_lower_hex(word.ptr[i]))
            return false;
    return true;
}

/* Whether a word that may be a version or a path is a path. Git looks both up; by the spelling
 * alone, a path has a dot in its last name, a slash at its end, or begins like one. */
static bool looks_like_path(weir_span word)
{
    if (!word.len)
        return false;
    if (word.ptr[0] == '/' || word.ptr[0] == '.' || word.ptr[0] == ':')
        return true;
    if (is_hex(word) || wr_span_has(word, WR_LIT("..")) || memchr(word.ptr, '~', word.len) ||
        memchr(word.ptr, '^', word.len))
        return false;
    if (wr_front_of(word, "HEAD|@|origin/|upstream/|refs/|stash@{|FETCH|ORIG_|MERGE_"))
        return false;
    if (word.len > 1 && word.ptr[0] == 'v' && wr_is_digit(word.ptr[1]))
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

static void plan_diff(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
    while (wr_shell_next_arg(args, &arg))
        if (arg.is_operand)
            add_operand(plan, &operands, &arg);
}

/* `REV:path` names a file as it was; else a commit is shown, as a difference. */
static void plan_show(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
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
        file.text = wr_span_from(arg.word.text, at + 1);
        plan->rev = wr_span_cut(arg.word.text, 0, at);
        plan->effect = !file.text.len || file.text.ptr[file.text.len - 1] == '/' ? WR_EFFECT_LIST
                                                                                 : WR_EFFECT_READ;
        plan->from_root = !wr_front_of(file.text, "./|../");
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
        wr_span_u64(wr_span_from(text, at + 1 + plus), &end) && end < INT32_MAX)
        wr_shell_plan_range(plan, (int64_t)start, (int64_t)(plus ? start + end - 1 : end));
}

static void plan_blame(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    struct wr_shell_token last = {0};
    bool ranged = false;
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
    while (wr_shell_next_arg(args, &arg)) {
        bool query = arg.letter == 'e' || (arg.is_operand && !has_query && !args->operands_only);
        if (query) {
            if (!plan->query.len)
                plan->query = arg.word.text;
            has_query = true;
        } else if (arg.is_operand) {
            bool version = !args->operands_only && !looks_like_path(arg.word.text) &&
                           (is_hex(arg.word.text) || wr_front_of(arg.word.text, "HEAD|origin/"));
            if (version)
                plan->rev = arg.word.text;
            else
                wr_shell_plan_file(plan, arg.word);
        }
    }
}

static void plan_checkout(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct operands operands = {.args = args, .has_dashes = has_dashes(args)};
    struct wr_shell_arg arg;
    bool creates = false;
    while (wr_shell_next_arg(args, &arg)) {
        creates |= wr_shell_is(&arg, "b|orphan");
        if (arg.is_operand)
            add_operand(plan, &operands, &arg);
    }
    plan->rev = (weir_span){"", 0};
    if (plan->files_count)
        return;
    if (creates && !operands.versions)
        plan->kind = WR_SHELL_PLAN_RUN; /* a new name for what is checked out already */
    else
        wr_shell_plan_tree(plan);
}

static void plan_switch(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool creates = false;
    size_t operands = 0;
    while (wr_shell_next_arg(args, &arg)) {
        creates |= wr_shell_is(&arg, "c|create|orphan");
        operands += arg.is_operand;
    }
    if (!creates || operands)
        wr_shell_plan_tree(plan);
}

static void plan_stash(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool push = true;
    bool first = true;
    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand)
            continue;
        if (first && !args->operands_only) {
            push = wr_is_any_of(arg.word.text, "push|save");
            if (!push && !wr_is_any_of(arg.word.text, "pop|apply"))
                return; /* list, show, drop: no file changes */
        } else if (args->operands_only && push) {
            wr_shell_plan_file(plan, arg.word);
        }
        first = false;
    }
    plan->kind = WR_SHELL_PLAN_FILES;
    if (!plan->files_count)
        wr_shell_plan_tree(plan);
}

static void plan_apply(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool from_file = false, changes = true;
    while (wr_shell_next_arg(args, &arg)) {
        from_file |= arg.is_operand && !wr_span_is(arg.word.text, "-");
        changes &= !wr_shell_is(&arg, "check|stat|numstat|summary|cached");
    }
    if (!changes)
        return;
    if (from_file)
        wr_shell_plan_tree(plan);
    else
        plan->kind = WR_SHELL_PLAN_PATCH;
}

enum { HERE = WR_SHELL_HERE, TREE = WR_SHELL_TREE, NO_FILES = WR_SHELL_NO_FILES };
enum {
    READ = WR_EFFECT_READ,
    LIST = WR_EFFECT_LIST,
    DIFF = WR_EFFECT_DIFF,
    SEARCH = WR_EFFECT_SEARCH,
    WRITE = WR_EFFECT_WRITE,
    EDIT = WR_EFFECT_EDIT,
};

/* Programs by the names that they have in effects. */
static const struct wr_shell_row commands[] = {
    {"git diff|git difftool", plan_diff, DIFF, .shorts = "USGOl",
     .longs = "unified|stat-width|diff-algorithm|word-diff-regex|output|inter-hunk-context"},
    {"git show", plan_show, DIFF, .shorts = "Un", .longs = "format|pretty|date|unified|encoding"},
    {"git cat-file", plan_cat_file, DIFF, .shorts = "Un",
     .longs = "format|pretty|date|unified|encoding"},
    {"git blame|git annotate", plan_blame, READ, .shorts = "LS", .longs = "contents|date"},
    {"git grep", plan_git_grep, SEARCH, .flags = HERE, .shorts = "ABCmef",
     .longs = "max-depth|threads|after-context|before-context|context|max-count"},
    {"git ls-files", NULL, LIST, .flags = HERE, .shorts = "xX", .longs = "exclude|exclude-from"},
    {"git ls-tree", NULL, LIST, .flags = HERE | WR_SHELL_REV_FIRST},
    {"git checkout", plan_checkout, WRITE, .shorts = "bB", .longs = "orphan|conflict"},
    {"git switch", plan_switch, EDIT, .flags = WR_SHELL_RUNS, .shorts = "cC",
     .longs = "create|force-create|orphan"},
    {"git restore", NULL, WRITE, .flags = WR_SHELL_EITHER, .shorts = "s",
     .longs = "source|conflict", .only_with = "W|worktree", .never_with = "S|staged"},
    {"git reset", NULL, EDIT, .flags = NO_FILES | TREE, .only_with = "hard|merge|keep"},
    {"git stash", plan_stash, WRITE, .flags = WR_SHELL_RUNS, .shorts = "m", .longs = "message"},
    {"git apply", plan_apply, EDIT, .flags = WR_SHELL_RUNS, .shorts = "pC",
     .longs = "directory|exclude|include|whitespace|build-fake-ancestor"},
    {"git clean", NULL, WRITE, .flags = TREE, .shorts = "e", .never_with = "n|dry-run"},
    {"git rm|git mv", NULL, WRITE, .never_with = "n|dry-run|cached"},
    {"git merge|git pull|git rebase|git am|git revert|git cherry-pick", NULL, EDIT,
     .flags = NO_FILES | TREE},
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
        } else if (wr_is_any_of(word, "-c|--git-dir|--work-tree|--namespace|--exec-path")) {
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
    weir_span command = args->words[args->at++].text, name;
    for (size_t i = 0; i < WR_COUNT_OF(commands); i++)
        for (const char *names = commands[i].names; wr_list_next(&names, &name);)
            if (wr_span_eq(wr_span_from(name, sizeof("git ") - 1), command)) {
                plan->program = name;
                wr_shell_plan_row(plan, args, &commands[i]);
                return;
            }
}
