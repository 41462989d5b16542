/* Writes facts as the structured summary, and makes it fit.
 *
 * Each section is a row of `sections`: its title and how an item is written. Where the whole is too
 * long, sections are halved in the order of `shortening` until it fits: what was only read or run
 * goes first, what is broken and what is left to do stays longest. A section drops what was touched
 * longest ago and says how many it left out. */
#include "policy/summary.h"

#include <stdlib.h>

#include "base/span.h"
#include "base/text.h"

enum { ITEMS_FIRST_MAX = 128 }; /* of a section, before anything is shortened */

enum section_id { /* in the order they are written: ORDER SECTION */
                  INTENT,
                  DECISIONS,
                  CHANGED,
                  READ,
                  COMMANDS,
                  RESOLVED,
                  OPEN,
                  ITEMS,
                  STEPS,
                  SECTIONS_COUNT
};

/* What is shortened first. What is left to do, what is broken and what was changed last longest:
 * the first ones are halved, the longest first, down to one item each, then the rest, then all are
 * left out one by one. */
static const enum section_id shortening[] = {READ,  COMMANDS, RESOLVED, DECISIONS, STEPS,
                                             ITEMS, CHANGED,  OPEN,     INTENT};
enum { EXPENDABLE_COUNT = 4 };
_Static_assert(WR_COUNT_OF(shortening) == SECTIONS_COUNT, "ORDER SECTION");

/* ---- the items of each section ---- */

static void write_intent(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    wr_buf_text(out, i ? "the user's newest message here begins: \""
                       : "the user's first message begins: \"");
    wr_buf_append(out, i ? facts->latest : facts->intent);
    wr_buf_byte(out, '"');
}

static void write_decision(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    wr_buf_append(out, facts->decisions[i]);
}

static void write_count(struct wr_buf *out, uint32_t count, const char *one, const char *many)
{
    wr_buf_printf(out, "%u %s", (unsigned)count, count == 1 ? one : many);
}

static void write_changed(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    const struct wr_fact_file *file = &facts->files[i];
    wr_text_one_line(out, file->path);
    wr_buf_text(out, " (");
    write_count(out, file->changes_count, "change", "changes");
    wr_buf_byte(out, ')');
}

static void write_read(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    const struct wr_fact_file *file = &facts->files[i];
    wr_text_one_line(out, file->path);
    for (uint32_t n = 0; n < file->ranges_count && !file->is_read_whole; n++)
        wr_buf_printf(out, "%s%lld-%lld", n ? ", " : " lines ", (long long)file->ranges[n].start,
                      (long long)file->ranges[n].end);
    if (file->reads_count > 1) {
        wr_buf_text(out, " (");
        write_count(out, file->reads_count, "read", "reads");
        wr_buf_byte(out, ')');
    }
}

static void write_outcome(struct wr_buf *out, const struct wr_fact_task *task)
{
    switch (task->outcome) {
    case WR_FACT_UNKNOWN:
        wr_buf_text(out, "outcome not known");
        break;
    case WR_FACT_SUCCEEDED:
        wr_buf_text(out, "succeeded");
        break;
    case WR_FACT_FAILED:
        wr_buf_text(out, "failed");
        if (task->has_exit_code && task->exit_code)
            wr_buf_printf(out, ", exit %d", task->exit_code);
        break;
    case WR_FACT_RUNNING:
        wr_buf_text(out, "still running");
        break;
    }
    if (task->totals.len) {
        wr_buf_text(out, ", ");
        wr_buf_append(out, task->totals);
    }
}

static void write_command(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    const struct wr_fact_task *task = &facts->tasks[i];
    wr_buf_byte(out, '`');
    wr_buf_append(out, task->line);
    wr_buf_text(out, "`: ");
    if (task->runs_count > 1)
        wr_buf_printf(out, "%u runs, last ", (unsigned)task->runs_count);
    write_outcome(out, task);
}

static void write_error(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    const struct wr_fact_task *task = &facts->tasks[i];
    bool is_open = task->outcome == WR_FACT_FAILED;
    write_command(out, facts, i);
    if (is_open && task->is_edited_since)
        wr_buf_text(out, ", a file it names was changed since");
    for (uint32_t m = 0; m < task->messages_count; m++) {
        wr_buf_text(out, m ? " | " : is_open ? "; said: " : "; had said: ");
        wr_buf_append(out, task->messages[m]);
    }
}

static void write_item(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    wr_buf_text(out, facts->items[i].progress == WR_FACT_ACTIVE ? "[in progress] " : "[pending] ");
    wr_buf_append(out, facts->items[i].text);
}

static void write_step(struct wr_buf *out, const struct wr_facts *facts, uint32_t i)
{
    wr_buf_append(out, facts->steps[i]);
}

static bool is_error(const struct wr_fact_task *task)
{
    return task->failures_count > 0;
}

static bool has_item(const struct wr_facts *facts, enum section_id id, uint32_t i)
{
    switch (id) {
    case INTENT:
        return i ? facts->latest.len : facts->intent.len;
    case CHANGED:
        return facts->files[i].changes_count;
    case READ:
        return !facts->files[i].changes_count;
    case COMMANDS:
        return facts->tasks[i].is_command && !is_error(&facts->tasks[i]);
    case RESOLVED:
        return is_error(&facts->tasks[i]) && facts->tasks[i].outcome != WR_FACT_FAILED;
    case OPEN:
        return facts->tasks[i].outcome == WR_FACT_FAILED;
    case ITEMS:
        return facts->items[i].progress != WR_FACT_DONE;
    default:
        return true;
    }
}

static uint32_t places_of(const struct wr_facts *facts, enum section_id id)
{
    switch (id) {
    case INTENT:
        return 2;
    case DECISIONS:
        return facts->decisions_count;
    case CHANGED:
    case READ:
        return facts->files_count;
    case ITEMS:
        return facts->items_count;
    case STEPS:
        return facts->steps_count;
    default:
        return facts->tasks_count;
    }
}

/* When an item was touched last. Lists that are in order of time already give their places. */
static uint32_t time_of(const struct wr_facts *facts, enum section_id id, uint32_t i)
{
    switch (id) {
    case CHANGED:
    case READ:
        return facts->files[i].last;
    case COMMANDS:
    case RESOLVED:
    case OPEN:
        return facts->tasks[i].last;
    case INTENT:
    case ITEMS:
    case STEPS:
        return UINT32_MAX - i; /* the first ones say most */
    default:
        return i;
    }
}

/* Whether the done items of the plan are worth a line. */
static uint32_t count_done(const struct wr_facts *facts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->items_count; i++)
        count += facts->items[i].progress == WR_FACT_DONE;
    return count;
}

/* ---- sections ---- */

typedef void write_fn(struct wr_buf *out, const struct wr_facts *facts, uint32_t i);

static const struct {
    const char *title;
    write_fn *write;
} sections[SECTIONS_COUNT] = {
    [INTENT] = {"session_intent", write_intent},  [DECISIONS] = {"key_decisions", write_decision},
    [CHANGED] = {"files_changed", write_changed}, [READ] = {"files_read", write_read},
    [COMMANDS] = {"commands", write_command},     [RESOLVED] = {"errors_resolved", write_error},
    [OPEN] = {"errors_open", write_error},        [ITEMS] = {"open_items", write_item},
    [STEPS] = {"next_steps", write_step},
};

/* How many items a section has, and the times of all of them, newest first. */
struct listing {
    uint32_t *times;
    uint32_t count;
};

struct writer {
    const struct wr_facts *facts;
    struct listing listings[SECTIONS_COUNT];
    uint32_t items_max[SECTIONS_COUNT];
};

static int newest_first(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left < right) - (left > right);
}

static weir_status list_section(struct writer *w, struct wr_arena *arena, enum section_id id)
{
    struct listing *listing = &w->listings[id];
    uint32_t places = places_of(w->facts, id);

    listing->times = WR_ARENA_ARRAY(arena, uint32_t, places);
    if (!listing->times)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < places; i++)
        if (has_item(w->facts, id, i))
            listing->times[listing->count++] = time_of(w->facts, id, i);
    if (listing->count)
        qsort(listing->times, listing->count, sizeof(listing->times[0]), newest_first);
    w->items_max[id] = listing->count < ITEMS_FIRST_MAX ? listing->count : ITEMS_FIRST_MAX;
    return WEIR_OK;
}

static void write_section(struct wr_buf *out, const struct writer *w, enum section_id id)
{
    const struct listing *listing = &w->listings[id];
    uint32_t most = w->items_max[id], written = 0, places = places_of(w->facts, id);

    if (!most)
        return;
    wr_buf_printf(out, "%s:\n", sections[id].title);
    if (listing->count > most)
        wr_buf_printf(out, "- (%u more, not shown)\n", (unsigned)(listing->count - most));
    if (id == ITEMS && count_done(w->facts))
        wr_buf_printf(out, "- (%u done, not shown)\n", (unsigned)count_done(w->facts));
    for (uint32_t i = 0; i < places && written < most; i++) {
        if (!has_item(w->facts, id, i) || time_of(w->facts, id, i) < listing->times[most - 1])
            continue;
        wr_buf_text(out, "- ");
        sections[id].write(out, w->facts, i);
        wr_buf_byte(out, '\n');
        written++;
    }
}

static void write_all(struct wr_buf *out, const struct writer *w)
{
    wr_buf_reset(out);
    wr_buf_text(out, "[CONVERSATION SUMMARY]\n(extracted from earlier messages that were taken "
                     "out; these are not words of the user)\n");
    for (enum section_id id = 0; id < SECTIONS_COUNT; id++)
        write_section(out, w, id);
    if (out->len)
        out->len--; /* no line end at the end */
}

/* Texts may hold lone surrogates, which JSON can say and UTF-8 cannot, and any byte may come of
 * them. */
static void make_valid(struct wr_buf *out)
{
    for (size_t at = 0; at < out->len;) {
        weir_span rest = {out->bytes + at, out->len - at};
        at += wr_utf8_check(rest, false);
        if (at < out->len)
            out->bytes[at++] = '?';
    }
}

/* ---- size ---- */

static bool text_fits(const struct wr_buf *out, const struct wr_summary_input *input)
{
    return out->status || input->count(input->user, wr_buf_view(out)) <= input->tokens_max;
}

/* The section of shortening[from..to) that has the most items, if that is more than one; the first
 * of several. */
static enum section_id longest_section(const struct writer *w, uint32_t from, uint32_t to)
{
    enum section_id found = SECTIONS_COUNT;
    uint32_t most = 1;
    for (uint32_t i = from; i < to; i++) {
        if (w->items_max[shortening[i]] <= most)
            continue;
        found = shortening[i];
        most = w->items_max[found];
    }
    return found;
}

/* Takes one step; false: nothing is left. */
static bool halve_section(struct writer *w)
{
    enum section_id id = longest_section(w, 0, EXPENDABLE_COUNT);
    if (id == SECTIONS_COUNT)
        id = longest_section(w, EXPENDABLE_COUNT, SECTIONS_COUNT);
    for (uint32_t i = 0; i < SECTIONS_COUNT && id == SECTIONS_COUNT; i++)
        if (w->items_max[shortening[i]])
            id = shortening[i];
    if (id == SECTIONS_COUNT)
        return false;
    w->items_max[id] /= 2;
    return true;
}

weir_status wr_summary_write(const struct wr_facts *facts, const struct wr_summary_input *input,
                             struct wr_arena *arena, weir_span *text)
{
    struct writer w = {.facts = facts};
    struct wr_buf buf;

    for (enum section_id id = 0; id < SECTIONS_COUNT; id++) {
        weir_status status = list_section(&w, arena, id);
        if (status)
            return status;
    }
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    do {
        write_all(&buf, &w);
        make_valid(&buf);
    } while (!text_fits(&buf, input) && halve_section(&w));
    if (!text_fits(&buf, input))
        wr_buf_reset(&buf);
    return wr_text_keep(arena, &buf, text);
}

weir_status wr_summary_build(const struct wr_summary_input *input, struct wr_arena *arena,
                             weir_span *text)
{
    struct wr_facts facts = {0};
    weir_status status = wr_facts_add(&facts, arena, &input->range);
    return status ? status : wr_summary_write(&facts, input, arena, text);
}
