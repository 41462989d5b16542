/* What was done in a part of a conversation: which files were read and changed, what was run, what
 * failed and whether that was mended.
 *
 * A task is known by what it runs, not by how it was typed: `cd x && make 2>&1 | tail` and `make`
 * are one, or nothing would ever be "resolved". Whether it failed is asked of the exit code first
 * and of the signals of its output where a pipe hides that code. A failure keeps its messages and
 * the files it names, so that a later change of one of them can be told.
 *
 * Indexes by hash make this linear: a session of 10,000 calls is summarised more than once. They
 * are made anew for each range from the facts that are there, so that a past too long for one
 * transcript is read part by part with the same result. (It was once read by parts and the facts of
 * the parts merged, with a second set of rules that said almost the same.) */
#include "policy/summary_facts.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/signal.h"
#include "policy/stage.h"
#include "transcript/path.h"
#include "transcript/shell_lex.h"

static const weir_span nothing = {"", 0};

struct reader {
    struct wr_facts_reader shared;
    struct wr_index files, tasks, processes; /* processes: the task that runs under an id */
    uint32_t files_max;
};

/* One call and what came of it. */
struct event {
    uint32_t call;
    uint32_t result; /* NONE: not in the range */
    struct wr_call about;
    const struct wr_tool_handles *handles; /* NULL: none */
    weir_span text;                        /* of the result */
    struct wr_shell_tokens tokens;         /* of a command line */
};

/* Calls inside calls are read here, so what they name is not known when room is made. */
enum { WRAPPED_FILES_MAX = 8 };

/* A change of a file is compared with so many of the newest tasks. */
enum { EDITED_TASKS_MAX = 1024 };

bool wr_facts_include(const struct wr_facts_range *range, uint32_t segment)
{
    return segment >= range->first_segment && segment < range->end_segment &&
           (!range->is_included || range->is_included[segment]);
}

void wr_facts_index(struct wr_index *index, uint64_t hash, uint32_t item)
{
    uint32_t at = wr_index_first(index, hash);
    while (wr_index_item(index, at) != WR_INDEX_NONE)
        at = wr_index_next(index, at, hash);
    wr_index_put(index, at, hash, item);
}

static weir_status keep_line(struct reader *r, weir_span text, weir_span *kept)
{
    return wr_text_keep_line(r->shared.arena, text, WR_FACT_LINE_CHARS_MAX, kept);
}

/* Some agents say only in words what became of a call. */
static bool begins_with_one(weir_span text, const char *const *words)
{
    for (; *words; words++)
        if (wr_span_starts(text, wr_span_of(*words)))
            return true;
    return false;
}

static bool was_refused(weir_span text)
{
    static const char *const words[] = {"The user doesn't want to", NULL};
    return begins_with_one(text, words);
}

/* Not asked of a shell: its output is somebody else's words. */
static bool begins_as_failure(const struct wr_tool_handles *h, weir_span text)
{
    static const char *const words[] = {"Error: ", "<tool_use_error>",
                                        "apply_patch verification failed",
                                        "Your proposed edit has introduced", NULL};
    return !(h && h->is_shell) && begins_with_one(text, words);
}

/* ---- files ---- */

/* NULL: there is no room, or no memory, which the arena says. */
static struct wr_fact_file *find_file(struct reader *r, weir_span path)
{
    uint64_t hash = wr_hash64(path);
    uint32_t at, item;
    for (at = wr_index_first(&r->files, hash);
         (item = wr_index_item(&r->files, at)) != WR_INDEX_NONE;
         at = wr_index_next(&r->files, at, hash))
        if (wr_span_eq(r->shared.facts->files[item].path, path))
            return &r->shared.facts->files[item];
    if (r->shared.facts->files_count == r->files_max)
        return NULL;
    path = wr_arena_copy(r->shared.arena, path);
    if (!path.ptr)
        return NULL;
    wr_index_put(&r->files, at, hash, r->shared.facts->files_count);
    struct wr_fact_file *file = &r->shared.facts->files[r->shared.facts->files_count++];
    *file = (struct wr_fact_file){.path = path};
    return file;
}

static void add_range(struct wr_fact_file *file, const struct wr_effect *effect)
{
    struct wr_lines lines = {effect->start_line, effect->end_line, false};
    if (wr_effect_is_whole_file(effect))
        file->is_read_whole = true;
    if (file->is_read_whole || lines.start <= 0 || lines.end < lines.start)
        return;
    for (uint32_t i = 0; i < file->ranges_count; i++)
        if (file->ranges[i].start == lines.start && file->ranges[i].end == lines.end)
            return;
    if (file->ranges_count < WR_FACT_RANGES_MAX)
        file->ranges[file->ranges_count++] = lines;
}

/* Devices and standard streams are no files that somebody would go back to. */
static bool is_file(const struct wr_effect *effect)
{
    return effect->literal && effect->path.len && !wr_span_starts(effect->path, WR_LIT("/dev/")) &&
           !wr_span_is(effect->path, "-") && !wr_span_is(effect->path, ".") &&
           !wr_span_ends(effect->path, WR_LIT("/"));
}

static void note_edited(struct reader *r, weir_span path)
{
    uint32_t count = r->shared.facts->tasks_count;
    for (uint32_t i = count > EDITED_TASKS_MAX ? count - EDITED_TASKS_MAX : 0; i < count; i++) {
        struct wr_fact_task *task = &r->shared.facts->tasks[i];
        for (uint32_t p = 0; p < task->places_count && !task->is_edited_since; p++)
            task->is_edited_since =
                wr_path_compare(task->places[p], path, nothing) != WR_PATH_DIFFERENT;
    }
}

static void read_effect(struct reader *r, const struct event *event, const struct wr_effect *effect)
{
    struct wr_fact_file *file = is_file(effect) ? find_file(r, effect->path) : NULL;
    if (!file)
        return;
    file->last = r->shared.facts->segments_before + event->call;
    if (effect->kind == WR_EFFECT_READ) {
        file->reads_count++;
        add_range(file, effect);
    } else {
        file->changes_count++;
        note_edited(r, effect->path);
    }
}

static void read_files(struct reader *r, const struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    const struct wr_effect *write;

    for (size_t i = 0; i < h->effects_count; i++)
        if (h->effects[i].kind == WR_EFFECT_READ && !h->effects[i].rev.len && !h->is_error)
            read_effect(r, event, &h->effects[i]);
    if (was_refused(event->text) || begins_as_failure(h, event->text))
        return;
    for (size_t at = 0; (write = wr_tool_next_write(h, &at));)
        read_effect(r, event, write);
}

/* ---- what makes two calls the same task ---- */

static bool is_joint(enum wr_shell_token_kind kind)
{
    return kind == WR_SHELL_AND || kind == WR_SHELL_OR || kind == WR_SHELL_END;
}

/* The words of a command line that say what is run: no `cd`, no redirections but here-documents,
 * and of a pipe only its first command. */
static uint64_t hash_words(const struct wr_shell_tokens *tokens, uint64_t hash)
{
    bool begins = true, in_cd = false, in_pipe = false;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct wr_shell_token *token = &tokens->items[i];
        if (is_joint(token->kind)) {
            if (!in_cd)
                hash = wr_hash64_seeded(WR_LIT(";"), hash);
            begins = true;
            in_cd = in_pipe = false;
            continue;
        }
        bool is_heredoc = token->kind == WR_SHELL_REDIRECT && token->redirect >= WR_SHELL_HEREDOC &&
                          token->redirect <= WR_SHELL_HERETEXT;
        in_pipe |= token->kind == WR_SHELL_PIPE;
        in_cd |= begins && token->kind == WR_SHELL_WORD && wr_span_is(token->text, "cd");
        begins = false;
        if (!in_pipe && !in_cd && (token->kind == WR_SHELL_WORD || is_heredoc))
            hash = wr_hash64_seeded(token->text, hash);
    }
    return hash;
}

/* A command line that is too long or no command line has no tokens. */
static weir_status lex(struct reader *r, struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    if (!h || !h->is_shell || !h->command.len)
        return WEIR_OK;
    weir_status status = wr_shell_lex(&event->tokens, &r->shared.scratch, h->command);
    if (status || event->tokens.incomplete)
        event->tokens = (struct wr_shell_tokens){0};
    return wr_arena_status(&r->shared.scratch);
}

static wr_hash128 command_key(const struct event *event)
{
    if (!event->tokens.count)
        return wr_hash128_of(wr_span_trim(event->handles->command));
    return (wr_hash128){hash_words(&event->tokens, 1), hash_words(&event->tokens, 2)};
}

static bool changes_file(const struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    return h && !h->is_shell && h->path.len &&
           (h->kind == WR_EFFECT_EDIT || h->kind == WR_EFFECT_WRITE);
}

static wr_hash128 task_key(const struct event *event)
{
    weir_span name = event->about.capability, arguments = event->about.arguments;
    if (event->handles && event->handles->is_shell && event->handles->command.len)
        return command_key(event);
    if (changes_file(event)) {
        name = WR_LIT("change");
        arguments = event->handles->path;
    }
    return (wr_hash128){wr_hash64_seeded(arguments, wr_hash64_seeded(name, 1)),
                        wr_hash64_seeded(arguments, wr_hash64_seeded(name, 2))};
}

static struct wr_fact_task *get_task(struct reader *r, wr_hash128 key)
{
    uint32_t at, item;
    for (at = wr_index_first(&r->tasks, key.low);
         (item = wr_index_item(&r->tasks, at)) != WR_INDEX_NONE;
         at = wr_index_next(&r->tasks, at, key.low)) {
        const struct wr_fact_task *task = &r->shared.facts->tasks[item];
        if (task->key.low == key.low && task->key.high == key.high)
            return &r->shared.facts->tasks[item];
    }
    wr_index_put(&r->tasks, at, key.low, r->shared.facts->tasks_count);
    struct wr_fact_task *task = &r->shared.facts->tasks[r->shared.facts->tasks_count++];
    *task = (struct wr_fact_task){
        .key = key, .line = nothing, .totals = nothing, .process_id = nothing};
    return task;
}

/* ---- outcomes ---- */

static bool is_diagnostic(enum wr_signal_kind kind)
{
    return kind == WR_SIGNAL_CRITICAL || kind == WR_SIGNAL_ERROR || kind == WR_SIGNAL_FAILED_TEST;
}

/* A pipe or a list of commands shows only the exit code of its last command. */
static bool hides_exit_code(const struct wr_shell_tokens *tokens)
{
    for (size_t i = 0; i + 1 < tokens->count; i++)
        if (tokens->items[i].kind == WR_SHELL_PIPE || tokens->items[i].kind == WR_SHELL_OR ||
            tokens->items[i].kind == WR_SHELL_END)
            return true;
    return false;
}

static bool says_it_failed(const struct wr_signal_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->signals[i].kind == WR_SIGNAL_FAILED_TEST ||
            set->signals[i].kind == WR_SIGNAL_CRITICAL)
            return true;
    return false;
}

/* Whether the exit code is that of a search or a comparison, which say by 1 what they found; or of
 * a question whether a program is there (`command -v`). */
static bool ends_in_look(const struct wr_shell_tokens *tokens)
{
    static const char *const looks[] = {"grep", "egrep", "fgrep", "rg",      "diff", "cmp",
                                        "test", "[",     "which", "command", "type"};
    const struct wr_shell_token *first = NULL; /* word of the last command */
    bool begins = true;

    for (size_t i = 0; i < tokens->count; i++) {
        enum wr_shell_token_kind kind = tokens->items[i].kind;
        if (begins && kind == WR_SHELL_WORD)
            first = &tokens->items[i];
        begins = is_joint(kind) || kind == WR_SHELL_PIPE || (begins && kind != WR_SHELL_WORD);
    }
    for (size_t i = 0; first && i < WR_COUNT_OF(looks); i++)
        if (wr_span_is(first->text, looks[i]))
            return true;
    return false;
}

static enum wr_fact_outcome outcome_of(const struct reader *r, const struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    if (event->result == WR_SEGMENT_NONE || was_refused(event->text))
        return WR_FACT_UNKNOWN;
    if (h && h->is_running && !h->has_exit_code)
        return WR_FACT_RUNNING;
    if (h && h->has_exit_code && h->exit_code == 1 && ends_in_look(&event->tokens))
        return WR_FACT_UNKNOWN;
    bool has_failed =
        wr_result_has_failed(&r->shared.range->transcript->segments[event->result], h) ||
        begins_as_failure(h, event->text);
    return has_failed ? WR_FACT_FAILED : WR_FACT_SUCCEEDED;
}

/* The file of a place: what stands before its first colon that a digit follows. */
static weir_span path_of_place(weir_span place)
{
    for (size_t i = 1; i + 1 < place.len; i++)
        if (place.ptr[i] == ':' && wr_is_digit(place.ptr[i + 1]))
            return wr_span_cut(place, 0, i);
    return place;
}

static weir_status keep_places(struct reader *r, struct wr_fact_task *task,
                               const struct wr_signal_set *set)
{
    for (uint32_t i = 0; i < set->count && task->places_count < WR_FACT_PLACES_MAX; i++) {
        weir_span path = path_of_place(set->signals[i].text);
        bool is_new = set->signals[i].kind == WR_SIGNAL_LOCATION;
        for (uint32_t p = 0; p < task->places_count && is_new; p++)
            is_new = !wr_span_eq(task->places[p], path);
        if (!is_new)
            continue;
        path = wr_arena_copy(r->shared.arena, path);
        if (!path.ptr)
            return wr_arena_status(r->shared.arena);
        task->places[task->places_count++] = path;
    }
    return WEIR_OK;
}

static weir_status add_message(struct reader *r, struct wr_fact_task *task, weir_span text)
{
    weir_span *message = &task->messages[task->messages_count];
    weir_status status = keep_line(r, text, message);
    if (!status && message->len)
        task->messages_count++;
    return status;
}

/* Used where no line of the text is known as a diagnostic: the last line says most. */
static weir_span last_line(weir_span text)
{
    weir_span line, last = nothing;
    while (wr_span_line(&text, &line))
        if (!wr_text_is_blank(line))
            last = line;
    return last;
}

static weir_status keep_failure(struct reader *r, struct wr_fact_task *task,
                                const struct event *event, const struct wr_signal_set *set)
{
    weir_status status = WEIR_OK;
    task->messages_count = task->places_count = 0;
    task->is_edited_since = false;
    for (uint32_t i = 0; i < set->count && !status; i++)
        if (is_diagnostic(set->signals[i].kind) && task->messages_count < WR_FACT_MESSAGES_MAX)
            status = add_message(r, task, set->signals[i].text);
    if (!status && !task->messages_count)
        status = add_message(r, task, last_line(event->text));
    return status ? status : keep_places(r, task, set);
}

static weir_status keep_totals(struct reader *r, struct wr_fact_task *task,
                               const struct wr_signal_set *set)
{
    weir_span totals = nothing;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->signals[i].kind == WR_SIGNAL_TOTALS)
            totals = set->signals[i].text;
    return keep_line(r, totals, &task->totals);
}

/* A text with too many signals to hold is one whose signals say nothing. */
static weir_status scan(struct reader *r, weir_span text, struct wr_signal_set *set)
{
    weir_status status = wr_signal_scan(set, &r->shared.scratch, text, WR_OUTPUT_PROCESS);
    if (status == WEIR_LIMIT && !wr_arena_status(&r->shared.scratch)) {
        set->count = 0;
        return WEIR_OK;
    }
    return status;
}

static weir_status set_outcome(struct reader *r, struct wr_fact_task *task,
                               const struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    struct wr_signal_set set;

    task->outcome = outcome_of(r, event);
    task->has_exit_code = h && h->has_exit_code;
    task->exit_code = task->has_exit_code ? h->exit_code : 0;
    weir_status status = scan(r, event->text, &set);
    if (status)
        return status;
    if (task->outcome == WR_FACT_SUCCEEDED && hides_exit_code(&event->tokens) &&
        says_it_failed(&set))
        task->outcome = WR_FACT_FAILED;
    if (task->outcome == WR_FACT_FAILED) {
        task->failures_count++;
        status = keep_failure(r, task, event, &set);
    }
    return status ? status : keep_totals(r, task, &set);
}

/* ---- processes that go on ---- */

static uint32_t find_process(const struct reader *r, weir_span id, uint32_t *at)
{
    uint64_t hash = wr_hash64(id);
    uint32_t item;
    for (*at = wr_index_first(&r->processes, hash);
         (item = wr_index_item(&r->processes, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(&r->processes, *at, hash))
        if (wr_span_eq(r->shared.facts->tasks[item].process_id, id))
            return item;
    return WR_INDEX_NONE;
}

/* An id belongs to the task that got it last. */
static void remember_process(struct reader *r, const struct event *event, uint32_t task)
{
    struct wr_fact_task *tasks = r->shared.facts->tasks;
    bool is_running = event->handles && tasks[task].outcome == WR_FACT_RUNNING;
    weir_span id = is_running ? event->handles->process_id : nothing;
    uint32_t at;

    tasks[task].process_id = nothing;
    id = id.len ? wr_arena_copy(r->shared.arena, id) : nothing;
    if (!id.len)
        return;
    uint32_t before = find_process(r, id, &at);
    if (before != WR_INDEX_NONE)
        tasks[before].process_id = nothing;
    tasks[task].process_id = id;
    wr_index_put(&r->processes, at, wr_hash64(id), task);
}

/* A poll tells the outcome of the task that started the process. */
static weir_status read_poll(struct reader *r, const struct event *event)
{
    uint32_t at;
    if (!event->handles->process_id.len || event->result == WR_SEGMENT_NONE ||
        !event->handles->has_exit_code)
        return WEIR_OK;
    uint32_t task = find_process(r, event->handles->process_id, &at);
    if (task == WR_INDEX_NONE)
        return WEIR_OK;
    r->shared.facts->tasks[task].last = r->shared.facts->segments_before + event->call;
    return set_outcome(r, &r->shared.facts->tasks[task], event);
}

/* ---- calls ---- */

/* A look that finds nothing is no failure worth a line, and a plan is told elsewhere. */
static bool is_task(const struct event *event)
{
    const struct wr_tool_handles *h = event->handles;
    if (!h)
        return true;
    switch (h->kind) {
    case WR_EFFECT_RUN:
    case WR_EFFECT_EDIT:
    case WR_EFFECT_WRITE:
    case WR_EFFECT_FETCH:
    case WR_EFFECT_SKILL:
    case WR_EFFECT_OTHER:
        return true;
    default:
        return false;
    }
}

static weir_status keep_task_line(struct reader *r, const struct event *event, weir_span *line)
{
    const struct wr_tool_handles *h = event->handles;
    weir_span about = h && h->path.len ? h->path : event->about.purpose;
    struct wr_buf buf;

    if (h && h->is_shell && h->command.len)
        return wr_text_keep_line(r->shared.arena, h->command, WR_FACT_COMMAND_CHARS_MAX, line);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&buf, event->about.capability, WR_FACT_LINE_CHARS_MAX);
    if (about.len) {
        wr_buf_byte(&buf, ' ');
        wr_text_one_line_max(&buf, about, WR_FACT_LINE_CHARS_MAX);
    }
    return wr_text_keep(r->shared.arena, &buf, line);
}

static weir_status read_task(struct reader *r, const struct event *event)
{
    struct wr_fact_task *task = get_task(r, task_key(event));
    weir_status status = keep_task_line(r, event, &task->line);
    if (status)
        return status;
    task->is_command = event->handles && event->handles->kind == WR_EFFECT_RUN;
    task->is_command |= event->handles && event->handles->is_shell;
    task->last = r->shared.facts->segments_before + event->call;
    task->runs_count++;
    status = set_outcome(r, task, event);
    remember_process(r, event, (uint32_t)(task - r->shared.facts->tasks));
    return status;
}

static weir_status read_event(struct reader *r, uint32_t call)
{
    const struct wr_transcript *t = r->shared.range->transcript;
    struct event event = {.call = call, .result = t->segments[call].pair, .text = nothing};

    if (event.result != WR_SEGMENT_NONE && !wr_facts_include(r->shared.range, event.result))
        event.result = WR_SEGMENT_NONE;
    weir_status status = wr_call_read(&event.about, &r->shared.scratch, t, call);
    if (status)
        return status;
    event.handles = event.about.handles;
    status = lex(r, &event);
    if (status)
        return status;
    if (event.result != WR_SEGMENT_NONE)
        event.text = wr_call_result(t, event.result, &r->shared.scratch);
    if (!event.text.ptr)
        return wr_arena_status(&r->shared.scratch);
    if (event.handles)
        read_files(r, &event);
    if (event.handles && event.handles->kind == WR_EFFECT_POLL)
        return read_poll(r, &event);
    return is_task(&event) ? read_task(r, &event) : WEIR_OK;
}

/* ---- the whole range ---- */

static bool is_call(const struct reader *r, uint32_t i)
{
    return r->shared.range->transcript->segments[i].kind == WEIR_KIND_TOOL_CALL &&
           wr_facts_include(r->shared.range, i);
}

static weir_status make_indexes(struct reader *r, uint32_t calls)
{
    const struct wr_facts *facts = r->shared.facts;
    struct wr_arena *arena = &r->shared.indexes;
    weir_status status = wr_index_init(&r->files, arena, r->files_max);

    if (!status)
        status = wr_index_init(&r->tasks, arena, facts->tasks_count + calls);
    if (!status)
        status = wr_index_init(&r->processes, arena, facts->tasks_count + calls);
    for (uint32_t i = 0; i < facts->files_count && !status; i++)
        wr_facts_index(&r->files, wr_hash64(facts->files[i].path), i);
    for (uint32_t i = 0; i < facts->tasks_count && !status; i++) {
        wr_facts_index(&r->tasks, facts->tasks[i].key.low, i);
        if (facts->tasks[i].process_id.len)
            wr_facts_index(&r->processes, wr_hash64(facts->tasks[i].process_id), i);
    }
    return status;
}

static weir_status make_room(struct reader *r)
{
    const struct wr_facts_range *range = r->shared.range;
    struct wr_facts *facts = r->shared.facts;
    uint32_t calls = 0, effects = 0;

    for (uint32_t i = range->first_segment; i < range->end_segment; i++) {
        const struct wr_tool_handles *h = range->transcript->segments[i].handles;
        if (!is_call(r, i))
            continue;
        calls++;
        effects += h ? (uint32_t)h->effects_count : 0;
        effects += wr_call_is_wrapper(range->transcript->segments[i].tool) ? WRAPPED_FILES_MAX : 0;
    }
    r->files_max = facts->files_count + effects;
    if (!WR_FACTS_ROOM(r->shared.arena, facts->files, facts->files_count, effects) ||
        !WR_FACTS_ROOM(r->shared.arena, facts->tasks, facts->tasks_count, calls))
        return wr_arena_status(r->shared.arena);
    return make_indexes(r, calls);
}

static weir_status read_calls(struct reader *r)
{
    weir_status status = make_room(r);
    for (uint32_t i = r->shared.range->first_segment; i < r->shared.range->end_segment && !status;
         i++) {
        if (!is_call(r, i))
            continue;
        status = read_event(r, i);
        wr_arena_reset(&r->shared.scratch);
    }
    return status ? status : wr_arena_status(r->shared.arena);
}

weir_status wr_facts_add(struct wr_facts *facts, struct wr_arena *arena,
                         const struct wr_facts_range *range)
{
    struct reader r = {.shared = {.facts = facts, .arena = arena, .range = range}};

    wr_arena_init(&r.shared.indexes, WR_ARENA_BYTES_MAX);
    wr_arena_init(&r.shared.scratch, WR_ARENA_BYTES_MAX);
    weir_status status = read_calls(&r);
    if (!status)
        status = wr_facts_read_words(&r.shared);
    facts->segments_before += range->transcript->segments_count;
    wr_arena_release(&r.shared.scratch);
    wr_arena_release(&r.shared.indexes);
    return status;
}
