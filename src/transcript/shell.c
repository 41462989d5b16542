/* What a command line does to files: one walk over its tokens, without running anything.
 *
 * The text is read as a stack of frames: the command line, and the scripts inside it (`bash -c`).
 * Each frame has a list of tokens (shell_lex.c) and the command that is being collected:
 *
 *   walk_token() -- word, redirection --> collected
 *                -- operator ----------> finish_command() --> run_plan() --> effects
 *                                            \--> push_frame() for `bash -c`, whose end comes back
 *                                                 to the same operator with nothing collected
 *
 * What a single command means is its plan (shell_plan.c). Here the plans are put together, because
 * only here the directory, the pipe and the redirections are known. Effects go straight into the
 * output. Those of the open pipeline are the ones from `pipe_first` on, so that a later stage can
 * change them (`cat f | head`: a read of fewer lines) or hide them (`cat f > g` shows nothing).
 *
 * What is not certain is never guessed. Behind `cd $x` the directory is unknown, and so it is
 * behind a branch that may not have been taken; relative paths are then not literal. Where bash
 * would refuse the text, or a cap was reached, is_complete is false and the effects found so far
 * stand.
 */
#include "transcript/shell.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/effect.h"
#include "transcript/path.h"
#include "transcript/shell_plan.h"

struct frame {
    struct wr_shell_tokens tokens;
    size_t at;
    /* The command being collected. Its words are moved together where they stand in the tokens. */
    struct wr_shell_token *words;
    size_t words_count;
    struct wr_shell_token redirects[WR_SHELL_REDIRECTS_MAX];
    size_t redirects_count;
    size_t groups_first;
    bool is_listed;     /* `{}` stands for a name from a list */
    bool skips_pattern; /* between `in` or `;;` and the `)` of a case pattern */
    /* what to go back to */
    weir_span cwd;
    bool cwd_known;
    size_t pipe_first;
};

struct group {
    char kind; /* '(' '{' or the first letter of if, loop, case */
    size_t first_effect;
    weir_span cwd;
    bool cwd_known;
};

struct reader {
    struct wr_shell *shell;
    struct wr_arena *arena;
    size_t effects_cap;
    struct frame frames[WR_SHELL_SCRIPTS_MAX + 1];
    size_t frames_count;
    struct group groups[WR_SHELL_GROUPS_MAX];
    size_t groups_count;
    weir_span cwd;
    bool cwd_known;
    size_t pipe_first; /* first effect of the pipeline that is open */
    size_t stage;      /* commands before this one in the pipeline */
    bool after_or;
    bool pipe_repeats; /* the pipeline shows what a loop put out: each effect may be many */
    struct wr_shell_token listed; /* where names that are not written come from */
    bool script_is_listed;        /* the next frame's `{}` is such a name */
    weir_status status;
};

static struct frame *top_frame(struct reader *reader)
{
    return &reader->frames[reader->frames_count - 1];
}

/* --- effects --- */

static void add_effect(struct reader *reader, struct wr_effect effect)
{
    struct wr_shell *shell = reader->shell;
    if (shell->effects_count == WR_SHELL_EFFECTS_MAX) {
        shell->is_complete = false;
        return;
    }
    if (!WR_ARENA_ROOM(reader->arena, shell->effects, shell->effects_count, reader->effects_cap,
                       8)) {
        reader->status = wr_arena_status(reader->arena);
        return;
    }
    shell->effects[shell->effects_count++] = effect;
}

static bool is_shown(const struct wr_effect *effect)
{
    return effect->kind == WR_EFFECT_READ || effect->kind == WR_EFFECT_SEARCH ||
           effect->kind == WR_EFFECT_LIST || effect->kind == WR_EFFECT_DIFF;
}

/* What the pipeline has shown so far goes nowhere. */
static void hide_shown(struct reader *reader)
{
    struct wr_shell *shell = reader->shell;
    size_t to = reader->pipe_first;
    for (size_t i = reader->pipe_first; i < shell->effects_count; i++)
        if (!is_shown(&shell->effects[i]))
            shell->effects[to++] = shell->effects[i];
    shell->effects_count = to;
}

static bool pipeline_has_run(const struct reader *reader)
{
    for (size_t i = reader->pipe_first; i < reader->shell->effects_count; i++)
        if (reader->shell->effects[i].kind == WR_EFFECT_RUN)
            return true;
    return false;
}

/* --- paths --- */

static bool is_device(weir_span path)
{
    return wr_span_is(path, "/dev/null") || wr_span_is(path, "/dev/stdout") ||
           wr_span_is(path, "/dev/stderr") || wr_span_is(path, "/dev/stdin") ||
           wr_span_is(path, "/dev/tty") || wr_span_starts(path, WR_LIT("/dev/fd/"));
}

/* Sets the effect's path to `word` as seen from the working directory, and `dir` in it. */
static void set_path(struct reader *reader, struct wr_effect *effect,
                     const struct wr_shell_token *word, const struct wr_shell_plan *plan)
{
    bool moved = plan && plan->dir.len;
    bool from_root = plan && plan->from_root;
    bool absolute = wr_path_is_absolute(word->text);
    bool known = reader->cwd_known && !(moved && !plan->dir_literal);
    bool dir_absolute = moved && plan->dir_literal && wr_path_is_absolute(plan->dir);

    effect->path = word->text;
    effect->literal = word->literal && (absolute || known || dir_absolute || from_root);
    if (!effect->literal)
        return;
    weir_span base = from_root ? (weir_span){"", 0} : reader->cwd;
    moved &= !from_root;
    if (moved)
        base = wr_path_join(reader->arena, base, plan->dir);
    effect->path = wr_path_join(reader->arena, base, word->text);
    if (!effect->path.ptr || (moved && !base.ptr))
        reader->status = wr_arena_status(reader->arena);
}

static struct wr_effect effect_of(const struct wr_shell_plan *plan)
{
    return (struct wr_effect){.kind = plan->effect,
                              .program = plan->program,
                              .query = plan->query,
                              .rev = plan->rev,
                              .filtered = plan->filtered,
                              .literal = true};
}

/* One effect for each range of a read; one for anything else. */
static void add_file(struct reader *reader, const struct wr_shell_plan *plan,
                     const struct wr_shell_token *file)
{
    struct wr_effect effect = effect_of(plan);
    bool to_process = wr_span_starts(file->text, WR_LIT(">("));
    if (is_device(file->text) || wr_span_is(file->text, "-") || to_process)
        return;
    set_path(reader, &effect, file, plan);
    size_t ranges = plan->effect == WR_EFFECT_READ ? plan->ranges_count : 0;
    for (size_t i = 0; i < ranges; i++) {
        effect.start_line = plan->ranges[i].start;
        effect.end_line = plan->ranges[i].end;
        add_effect(reader, effect);
    }
    if (!ranges)
        add_effect(reader, effect);
}

/* --- pipes --- */

static void forget_range(struct wr_effect *effect)
{
    effect->start_line = effect->end_line = 0;
    effect->filtered = true;
}

/* A later stage takes lines of a read by their numbers. Its first range changes the effect itself,
 * further ranges add effects. */
static void slice_read(struct reader *reader, size_t index, const struct wr_shell_plan *plan)
{
    struct wr_effect whole = reader->shell->effects[index];
    for (size_t i = 0; i < plan->ranges_count; i++) {
        struct wr_effect part = whole;
        struct wr_lines lines = {whole.start_line, whole.end_line, whole.if_long};
        lines = wr_lines_slice(lines, plan->ranges[i]);
        part.start_line = lines.start;
        part.end_line = lines.end;
        part.if_long = lines.if_long;
        part.filtered |= plan->filtered;
        if (i)
            add_effect(reader, part);
        else
            reader->shell->effects[index] = part;
    }
}

static size_t count_reads(const struct reader *reader)
{
    size_t reads = 0;
    for (size_t i = reader->pipe_first; i < reader->shell->effects_count; i++)
        reads += reader->shell->effects[i].kind == WR_EFFECT_READ;
    return reads;
}

static bool is_whole_plan(const struct wr_shell_plan *plan)
{
    return plan->ranges_count == 1 && plan->ranges[0].start == 1 && plan->ranges[0].end == -1;
}

static void filter_effect(struct reader *reader, size_t index, const struct wr_shell_plan *plan,
                          bool alone)
{
    struct wr_effect *effect = &reader->shell->effects[index];
    if (effect->kind != WR_EFFECT_READ) {
        effect->filtered |= !(is_whole_plan(plan) && !plan->filtered);
        if (effect->kind == WR_EFFECT_LIST && plan->effect == WR_EFFECT_SEARCH &&
            !effect->query.len)
            effect->query = plan->query;
    } else if (plan->effect == WR_EFFECT_SEARCH) {
        effect->kind = WR_EFFECT_SEARCH;
        effect->query = plan->query;
        forget_range(effect);
    } else if (plan->effect == WR_EFFECT_LIST) {
        effect->kind = WR_EFFECT_LIST;
        forget_range(effect);
    } else if (is_whole_plan(plan)) {
        effect->filtered |= plan->filtered;
    } else if (alone && plan->ranges_count) {
        slice_read(reader, index, plan);
    } else {
        forget_range(effect);
    }
}

/* The command reads what the pipeline has shown, and shows some of it. */
static void filter_shown(struct reader *reader, const struct wr_shell_plan *plan)
{
    size_t count = reader->shell->effects_count;
    bool alone = count_reads(reader) == 1 && !reader->pipe_repeats;
    for (size_t i = reader->pipe_first; i < count; i++)
        if (is_shown(&reader->shell->effects[i]))
            filter_effect(reader, i, plan, alone);
}

/* --- one command --- */

static const struct wr_shell_token *find_input(const struct frame *frame)
{
    for (size_t i = frame->redirects_count; i > 0; i--) {
        const struct wr_shell_token *redirect = &frame->redirects[i - 1];
        bool input = redirect->redirect == WR_SHELL_IN || redirect->redirect == WR_SHELL_HEREDOC ||
                     redirect->redirect == WR_SHELL_HERETEXT;
        if (input && redirect->fd == 0)
            return redirect;
    }
    return NULL;
}

static void run_program(struct reader *reader, const struct wr_shell_plan *plan)
{
    hide_shown(reader);
    if (!pipeline_has_run(reader))
        add_effect(reader, (struct wr_effect){
                               .kind = WR_EFFECT_RUN, .program = plan->program, .literal = true});
    for (size_t i = 0; plan->saves && i < plan->files_count; i++)
        add_file(reader, plan, &plan->files[i]);
}

static void run_files(struct reader *reader, const struct wr_shell_plan *plan)
{
    const struct wr_shell_token *input = find_input(top_frame(reader));
    static const struct wr_shell_token here = {.literal = true, .text = {".", 1}};
    bool only_stdin = plan->files_count == 1 && wr_span_is(plan->files[0].text, "-");

    if (plan->whole_tree) {
        struct wr_effect effect = effect_of(plan);
        hide_shown(reader);
        effect.whole_tree = true;
        add_effect(reader, effect);
    } else if (plan->files_count && !only_stdin) {
        hide_shown(reader);
        for (size_t i = 0; i < plan->files_count; i++)
            add_file(reader, plan, &plan->files[i]);
    } else if (plan->from_stdin && input) {
        hide_shown(reader);
        if (input->redirect == WR_SHELL_IN)
            add_file(reader, plan, input);
    } else if (plan->from_stdin && reader->stage) {
        filter_shown(reader, plan);
    } else if (plan->here) {
        hide_shown(reader);
        add_file(reader, plan, &here);
    } else if (plan->effect == WR_EFFECT_DIFF) {
        hide_shown(reader);
        add_effect(reader, effect_of(plan));
    } else if (!plan->from_stdin) {
        run_program(reader, plan); /* `rm` alone: it finds its files, or fails, by itself */
    }
}

static void run_patch(struct reader *reader, const struct wr_shell_plan *plan)
{
    const struct wr_shell_token *input = find_input(top_frame(reader));
    bool inline_text = input && input->redirect != WR_SHELL_IN;
    weir_span text = plan->script.len ? plan->script
                     : inline_text    ? input->text
                                      : (weir_span){"", 0};
    struct wr_patch patch;
    struct wr_patch_file file;
    bool any = false;

    hide_shown(reader);
    wr_patch_init(&patch, text);
    while (wr_patch_next(&patch, &file)) {
        struct wr_effect effect = {.kind = file.kind, .program = plan->program};
        struct wr_shell_token word = {.literal = true, .text = file.path};
        set_path(reader, &effect, &word, plan);
        add_effect(reader, effect);
        any = true;
    }
    if (!any)
        add_effect(reader, (struct wr_effect){.kind = WR_EFFECT_EDIT,
                                              .program = plan->program,
                                              .literal = true,
                                              .whole_tree = true});
}

static void run_cd(struct reader *reader, const struct wr_shell_plan *plan, bool piped)
{
    struct wr_effect target = {0};
    if (piped || reader->stage)
        return; /* in a shell of its own */
    if (!plan->files_count || reader->after_or) {
        reader->cwd_known = false;
        return;
    }
    set_path(reader, &target, &plan->files[0], NULL);
    reader->cwd_known = target.literal;
    reader->cwd = target.literal ? target.path : (weir_span){"", 0};
}

static void push_frame(struct reader *reader, weir_span script)
{
    if (reader->frames_count > WR_SHELL_SCRIPTS_MAX) {
        reader->shell->is_complete = false;
        return;
    }
    struct frame *frame = &reader->frames[reader->frames_count];
    *frame = (struct frame){.cwd = reader->cwd,
                            .cwd_known = reader->cwd_known,
                            .pipe_first = reader->shell->effects_count,
                            .groups_first = reader->groups_count};
    frame->is_listed = reader->script_is_listed;
    reader->script_is_listed = false;
    reader->status = wr_shell_lex(&frame->tokens, reader->arena, script);
    if (reader->status)
        return;
    reader->shell->is_complete &= !frame->tokens.incomplete;
    reader->frames_count++;
    reader->stage = 0;
    reader->pipe_first = reader->shell->effects_count;
}

static void run_script(struct reader *reader, const struct wr_shell_plan *plan)
{
    const struct wr_shell_token *input = find_input(top_frame(reader));
    weir_span script = plan->script;
    if (plan->from_stdin && input && input->redirect == WR_SHELL_HEREDOC)
        script = input->text;
    if (!script.len) {
        run_program(reader, plan);
        return;
    }
    hide_shown(reader);
    push_frame(reader, script);
}

static bool has_placeholder(weir_span text)
{
    return wr_span_has(text, WR_LIT("{}"));
}

/* Names that come from a list: the word `{}`, or one more word at the end. */
static void add_listed(struct reader *reader, struct wr_shell_plan *plan)
{
    bool placed = false;
    for (size_t i = 0; i < plan->files_count; i++) {
        if (!has_placeholder(plan->files[i].text))
            continue;
        if (wr_span_is(plan->files[i].text, "{}"))
            plan->files[i] = reader->listed;
        plan->files[i].literal = false;
        placed = true;
    }
    if (!placed && plan->kind == WR_SHELL_PLAN_FILES && !plan->whole_tree)
        plan->files[plan->files_count++] = reader->listed;
}

/* Where the names of xargs or find -exec come from. */
static struct wr_shell_token listed_source(struct reader *reader, const struct wr_shell_plan *plan)
{
    struct wr_effect effect = {.path = {".", 1}};
    struct wr_shell_token word = {.literal = true, .text = {".", 1}};
    if (plan->exec_lists_files) {
        if (plan->files_count)
            word = plan->files[0];
        set_path(reader, &effect, &word, NULL);
    } else {
        effect.path = (weir_span){"", 0};
        for (size_t i = reader->shell->effects_count; i > reader->pipe_first; i--)
            if (is_shown(&reader->shell->effects[i - 1]))
                effect.path = reader->shell->effects[i - 1].path;
    }
    return (struct wr_shell_token){.text = effect.path, .literal = false};
}

static void run_plan(struct reader *reader, struct wr_shell_plan *plan, bool piped)
{
    static const struct wr_shell_plan tee_passes = {
        .effect = WR_EFFECT_READ, .ranges = {{1, -1, false}}, .ranges_count = 1};
    switch (plan->kind) {
    case WR_SHELL_PLAN_NOTHING:
        hide_shown(reader);
        break;
    case WR_SHELL_PLAN_FILES:
        run_files(reader, plan);
        break;
    case WR_SHELL_PLAN_RUN:
        run_program(reader, plan);
        break;
    case WR_SHELL_PLAN_CD:
        run_cd(reader, plan, piped);
        break;
    case WR_SHELL_PLAN_SCRIPT:
        run_script(reader, plan);
        break;
    case WR_SHELL_PLAN_PATCH:
        run_patch(reader, plan);
        break;
    case WR_SHELL_PLAN_TEE:
        filter_shown(reader, &tee_passes);
        for (size_t i = 0; i < plan->files_count; i++)
            add_file(reader, plan, &plan->files[i]);
        break;
    case WR_SHELL_PLAN_EXEC:
        break; /* looked through by run_words() */
    }
}

/* Runs the command in `words`, through xargs and find -exec in front of it. */
static void run_words(struct reader *reader, const struct wr_shell_token *words, size_t count,
                      bool piped)
{
    struct wr_shell_plan plan;
    bool listed = false;

    reader->status = wr_shell_plan(&plan, reader->arena, words, count);
    for (int depth = 0; !reader->status && plan.kind == WR_SHELL_PLAN_EXEC; depth++) {
        if (depth == WR_SHELL_SCRIPTS_MAX) {
            reader->shell->is_complete = false;
            plan.kind = WR_SHELL_PLAN_RUN;
            break;
        }
        const struct wr_shell_token *exec = plan.exec;
        reader->listed = listed_source(reader, &plan);
        listed = true;
        hide_shown(reader);
        reader->status = wr_shell_plan(&plan, reader->arena, exec, plan.exec_count);
    }
    if (reader->status)
        return;
    if (listed)
        add_listed(reader, &plan);
    reader->script_is_listed = listed || top_frame(reader)->is_listed;
    run_plan(reader, &plan, piped);
}

static void write_redirect(struct reader *reader, const struct wr_shell_token *redirect)
{
    bool output = redirect->redirect == WR_SHELL_OUT || redirect->redirect == WR_SHELL_APPEND;
    if (!output || !redirect->text.len)
        return;
    bool stdout_too = redirect->fd == 1 || redirect->fd == -1;
    if (stdout_too && !wr_span_is(redirect->text, "/dev/stderr") &&
        !wr_span_is(redirect->text, "/dev/stdout") && !wr_span_is(redirect->text, "/dev/tty"))
        hide_shown(reader);
    if (is_device(redirect->text))
        return;
    struct wr_effect effect = {.kind = redirect->redirect == WR_SHELL_OUT ? WR_EFFECT_WRITE
                                                                          : WR_EFFECT_EDIT,
                               .program = WR_LIT(">")};
    set_path(reader, &effect, redirect, NULL);
    add_effect(reader, effect);
}

/* Ends the command that was collected: its redirections are the last to act. */
static void end_command(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    for (size_t i = 0; i < frame->redirects_count; i++)
        write_redirect(reader, &frame->redirects[i]);
    frame->words_count = frame->redirects_count = 0;
}

static bool is_assignment(const struct wr_shell_token *word)
{
    for (size_t i = 0; i < word->text.len; i++) {
        char c = word->text.ptr[i];
        bool name = wr_is_word(c) && (i || !wr_is_digit(c));
        if (c == '=' || (c == '+' && i + 1 < word->text.len && word->text.ptr[i + 1] == '='))
            return i > 0;
        if (!name)
            return false;
    }
    return false;
}

static void finish_command(struct reader *reader, bool piped)
{
    struct frame *frame = top_frame(reader);
    size_t skip = 0, frames = reader->frames_count;
    while (skip < frame->words_count && is_assignment(&frame->words[skip]))
        skip++;
    if (skip < frame->words_count)
        run_words(reader, frame->words + skip, frame->words_count - skip, piped);
    frame->words_count = 0;
    if (!reader->status && reader->frames_count == frames)
        end_command(reader);
}

/* --- groups and keywords --- */

static void open_group(struct reader *reader, char kind)
{
    if (reader->stage)
        hide_shown(reader); /* `ls | while read f`: what is shown is the loop's */
    if (reader->groups_count == WR_SHELL_GROUPS_MAX) {
        reader->shell->is_complete = false;
        return;
    }
    reader->groups[reader->groups_count++] =
        (struct group){.kind = kind,
                       .first_effect = reader->shell->effects_count,
                       .cwd = reader->cwd,
                       .cwd_known = reader->cwd_known};
    reader->pipe_repeats = false;
    reader->stage = 0;
    reader->pipe_first = reader->shell->effects_count;
}

static void close_group(struct reader *reader, char kind)
{
    bool open = reader->groups_count > top_frame(reader)->groups_first &&
                reader->groups[reader->groups_count - 1].kind == kind;
    if (!open) {
        reader->shell->is_complete = false;
        return;
    }
    struct group group = reader->groups[--reader->groups_count];
    bool moved = !wr_span_eq(group.cwd, reader->cwd) || group.cwd_known != reader->cwd_known;
    if (kind == '(') {
        reader->cwd = group.cwd;
        reader->cwd_known = group.cwd_known;
    } else if (moved && kind != '{') {
        reader->cwd_known = false; /* a branch that may not have been taken */
    }
    reader->pipe_first = group.first_effect;
    reader->stage = 0;
    reader->pipe_repeats = kind == 'l';
}

/* Skips to the token at which the list of a `for`, or the head of a `case`, ends. */
static void skip_until(struct frame *frame, const char *word)
{
    for (; frame->at < frame->tokens.count; frame->at++) {
        const struct wr_shell_token *token = &frame->tokens.items[frame->at];
        bool found = word ? token->kind == WR_SHELL_WORD && wr_span_is(token->text, word)
                          : token->kind == WR_SHELL_END;
        if (found) {
            frame->at++;
            return;
        }
    }
}

static bool is_one_of(weir_span word, const char *const *words)
{
    for (; *words; words++)
        if (wr_span_is(word, *words))
            return true;
    return false;
}

/* A word where a command could begin. True where it is a keyword, and has been dealt with. */
static bool take_keyword(struct reader *reader, struct frame *frame, weir_span word)
{
    static const char *const passed[] = {"then", "else", "elif", "do", "!", NULL};
    static const char *const lists[] = {"for", "select", NULL};
    static const char *const loops[] = {"while", "until", NULL};

    frame->at++;
    if (is_one_of(word, passed)) {
        return true;
    } else if (wr_span_is(word, "function")) {
        frame->at++; /* its name */
    } else if (wr_span_is(word, "if")) {
        open_group(reader, 'i');
    } else if (is_one_of(word, loops)) {
        open_group(reader, 'l');
    } else if (is_one_of(word, lists)) {
        open_group(reader, 'l');
        skip_until(frame, NULL);
    } else if (wr_span_is(word, "case")) {
        open_group(reader, 'c');
        skip_until(frame, "in");
        frame->skips_pattern = true;
    } else if (wr_span_is(word, "{")) {
        open_group(reader, '{');
    } else if (wr_span_is(word, "}")) {
        close_group(reader, '{');
    } else if (wr_span_is(word, "fi")) {
        close_group(reader, 'i');
    } else if (wr_span_is(word, "done")) {
        close_group(reader, 'l');
    } else if (wr_span_is(word, "esac")) {
        close_group(reader, 'c');
    } else if (wr_span_is(word, "[[")) {
        skip_until(frame, "]]");
    } else {
        frame->at--;
        return false;
    }
    return true;
}

/* --- the walk --- */

static void take_word(struct reader *reader, struct frame *frame,
                      const struct wr_shell_token *token)
{
    bool could_begin = !frame->words_count && !token->quoted;
    if (could_begin && take_keyword(reader, frame, token->text))
        return;
    if (!frame->words_count)
        frame->words = &frame->tokens.items[frame->at];
    frame->words[frame->words_count] = *token;
    if (frame->is_listed && has_placeholder(token->text))
        frame->words[frame->words_count].literal = false;
    frame->words_count++;
    frame->at++;
}

/* `name() {` and `name=(a b)`: nothing of it is run here. */
static bool take_definition(struct frame *frame, bool *complete)
{
    if (!frame->words_count)
        return false;
    weir_span last = frame->words[frame->words_count - 1].text;
    bool array = wr_span_ends(last, WR_LIT("="));
    bool function = frame->words_count == 1 && frame->at + 1 < frame->tokens.count &&
                    frame->tokens.items[frame->at + 1].kind == WR_SHELL_CLOSE;
    if (!array && !function) {
        /* Before a group only `time` may stand; anything else bash refuses. */
        *complete &= frame->words_count == 1 && wr_span_is(last, "time");
        frame->words_count = 0;
        return false;
    }
    while (frame->at < frame->tokens.count && frame->tokens.items[frame->at].kind != WR_SHELL_CLOSE)
        frame->at++;
    *complete &= frame->at < frame->tokens.count;
    frame->at++;
    if (!array)
        frame->words_count = 0;
    return true;
}

static void end_pipeline(struct reader *reader, bool or)
{
    reader->stage = 0;
    reader->pipe_first = reader->shell->effects_count;
    reader->pipe_repeats = false;
    reader->after_or = or ;
}

/* An operator with nothing collected before it. */
static void take_operator(struct reader *reader, struct frame *frame, enum wr_shell_token_kind kind)
{
    frame->at++;
    switch (kind) {
    case WR_SHELL_PIPE:
        reader->stage++;
        break;
    case WR_SHELL_OPEN:
        open_group(reader, '(');
        break;
    case WR_SHELL_CLOSE:
        close_group(reader, '(');
        break;
    case WR_SHELL_CASE_END:
        frame->skips_pattern = true;
        end_pipeline(reader, false);
        break;
    default:
        end_pipeline(reader, kind == WR_SHELL_OR);
    }
}

/* A pattern of `case` ends at its `)`; `esac` may stand where one could begin. */
static void skip_pattern(struct reader *reader, struct frame *frame,
                         const struct wr_shell_token *token)
{
    frame->at++;
    if (token->kind == WR_SHELL_WORD && wr_span_is(token->text, "esac")) {
        frame->skips_pattern = false;
        close_group(reader, 'c');
    } else if (token->kind == WR_SHELL_CLOSE) {
        frame->skips_pattern = false;
    }
}

static void pop_frame(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    if (reader->groups_count > frame->groups_first) {
        reader->groups_count = frame->groups_first;
        reader->shell->is_complete = false;
    }
    reader->cwd = frame->cwd;
    reader->cwd_known = frame->cwd_known;
    reader->pipe_first = frame->pipe_first;
    reader->stage = 0;
    reader->frames_count--;
    if (reader->frames_count)
        end_command(reader);
}

static void walk_token(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    if (frame->at >= frame->tokens.count) {
        if (frame->words_count || frame->redirects_count)
            finish_command(reader, false);
        else
            pop_frame(reader);
        return;
    }
    const struct wr_shell_token *token = &frame->tokens.items[frame->at];
    if (frame->skips_pattern) {
        skip_pattern(reader, frame, token);
    } else if (token->kind == WR_SHELL_WORD) {
        take_word(reader, frame, token);
    } else if (token->kind == WR_SHELL_REDIRECT) {
        if (frame->redirects_count < WR_SHELL_REDIRECTS_MAX)
            frame->redirects[frame->redirects_count++] = *token;
        else
            reader->shell->is_complete = false;
        frame->at++;
    } else if (token->kind == WR_SHELL_OPEN &&
               take_definition(frame, &reader->shell->is_complete)) {
        return;
    } else if (frame->words_count || frame->redirects_count) {
        finish_command(reader, token->kind == WR_SHELL_PIPE);
    } else {
        take_operator(reader, frame, token->kind);
    }
}

weir_status wr_shell_parse(struct wr_shell *shell, struct wr_arena *arena, weir_span command,
                           weir_span workdir)
{
    struct reader reader = {.shell = shell, .arena = arena, .cwd = workdir, .cwd_known = true};

    *shell = (struct wr_shell){.is_complete = true};
    if (command.len > WR_SHELL_TEXT_BYTES_MAX) {
        shell->is_complete = false;
        add_effect(&reader, (struct wr_effect){.kind = WR_EFFECT_RUN, .literal = true});
        return reader.status;
    }
    push_frame(&reader, command);
    while (reader.frames_count && !reader.status)
        walk_token(&reader);
    return reader.status;
}
