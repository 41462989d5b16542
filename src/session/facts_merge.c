#include "session/facts_merge.h"

#include <string.h>

#include "base/span.h"

static weir_span keep(struct wr_arena *arena, weir_span text)
{
    return text.len ? wr_arena_copy(arena, text) : (weir_span){"", 0};
}

/* ---- files ---- */

static struct wr_fact_file *find_file(struct wr_facts *facts, weir_span path)
{
    for (uint32_t i = 0; i < facts->files_count; i++)
        if (wr_span_eq(facts->files[i].path, path))
            return &facts->files[i];
    return NULL;
}

static void add_range(struct wr_fact_file *file, const struct wr_lines *lines)
{
    for (uint32_t i = 0; i < file->ranges_count; i++)
        if (file->ranges[i].start == lines->start && file->ranges[i].end == lines->end)
            return;
    if (file->ranges_count < WR_FACT_RANGES_MAX)
        file->ranges[file->ranges_count++] = *lines;
}

static void update_file(struct wr_fact_file *file, const struct wr_fact_file *newer)
{
    file->reads_count += newer->reads_count;
    file->changes_count += newer->changes_count;
    file->is_read_whole |= newer->is_read_whole;
    for (uint32_t i = 0; i < newer->ranges_count && !file->is_read_whole; i++)
        add_range(file, &newer->ranges[i]);
    file->last = newer->last;
}

static void merge_files(struct wr_facts *all, struct wr_arena *arena, const struct wr_facts *part,
                        uint32_t segments_before)
{
    size_t most = (size_t)all->files_count + part->files_count + 1;
    struct wr_fact_file *files = WR_ARENA_ARRAY(arena, struct wr_fact_file, most);

    if (!files)
        return;
    if (all->files_count)
        memcpy(files, all->files, all->files_count * sizeof(*files));
    all->files = files;
    for (uint32_t i = 0; i < part->files_count; i++) {
        struct wr_fact_file newer = part->files[i];
        struct wr_fact_file *known = find_file(all, newer.path);
        newer.last += segments_before;
        newer.path = known ? known->path : keep(arena, newer.path);
        if (known)
            update_file(known, &newer);
        else
            all->files[all->files_count++] = newer;
    }
}

/* ---- tasks ---- */

static struct wr_fact_task *find_task(struct wr_facts *facts, wr_hash128 key)
{
    for (uint32_t i = 0; i < facts->tasks_count; i++)
        if (facts->tasks[i].key.low == key.low && facts->tasks[i].key.high == key.high)
            return &facts->tasks[i];
    return NULL;
}

static void keep_task(struct wr_arena *arena, struct wr_fact_task *task)
{
    task->line = keep(arena, task->line);
    task->totals = keep(arena, task->totals);
    for (uint32_t i = 0; i < task->messages_count; i++)
        task->messages[i] = keep(arena, task->messages[i]);
    for (uint32_t i = 0; i < task->places_count; i++)
        task->places[i] = keep(arena, task->places[i]);
}

/* The newest run counts; of failures the newest, also where that is of the older part. */
static void update_task(struct wr_fact_task *task, const struct wr_fact_task *newer)
{
    struct wr_fact_task older = *task;

    *task = *newer;
    task->runs_count += older.runs_count;
    task->failures_count += older.failures_count;
    if (newer->failures_count)
        return;
    memcpy(task->messages, older.messages, sizeof(task->messages));
    memcpy(task->places, older.places, sizeof(task->places));
    task->messages_count = older.messages_count;
    task->places_count = older.places_count;
    task->is_edited_since = older.is_edited_since;
}

/* A file that an older failure names was changed in this part. */
static void note_edits(struct wr_facts *all, uint32_t tasks_before, const struct wr_facts *part)
{
    for (uint32_t i = 0; i < tasks_before; i++)
        for (uint32_t k = 0; k < all->tasks[i].places_count; k++)
            for (uint32_t f = 0; f < part->files_count; f++)
                all->tasks[i].is_edited_since |=
                    part->files[f].changes_count &&
                    wr_span_eq(part->files[f].path, all->tasks[i].places[k]);
}

static void merge_tasks(struct wr_facts *all, struct wr_arena *arena, const struct wr_facts *part,
                        uint32_t segments_before)
{
    size_t most = (size_t)all->tasks_count + part->tasks_count + 1;
    struct wr_fact_task *tasks = WR_ARENA_ARRAY(arena, struct wr_fact_task, most);
    uint32_t tasks_before = all->tasks_count;

    if (!tasks)
        return;
    if (all->tasks_count)
        memcpy(tasks, all->tasks, all->tasks_count * sizeof(*tasks));
    all->tasks = tasks;
    note_edits(all, tasks_before, part);
    for (uint32_t i = 0; i < part->tasks_count; i++) {
        struct wr_fact_task newer = part->tasks[i];
        struct wr_fact_task *known = find_task(all, newer.key);
        newer.last += segments_before;
        keep_task(arena, &newer);
        if (known)
            update_task(known, &newer);
        else
            all->tasks[all->tasks_count++] = newer;
    }
}

/* ---- words ---- */

static bool has_decision(const struct wr_facts *facts, weir_span decision)
{
    for (uint32_t i = 0; i < facts->decisions_count; i++)
        if (wr_span_eq(facts->decisions[i], decision))
            return true;
    return false;
}

static void merge_words(struct wr_facts *all, struct wr_arena *arena, const struct wr_facts *part)
{
    size_t most = (size_t)all->decisions_count + part->decisions_count + 1;
    weir_span *decisions = WR_ARENA_ARRAY(arena, weir_span, most);
    weir_span newest = part->latest.len ? part->latest : part->intent;

    if (!decisions)
        return;
    if (all->decisions_count)
        memcpy(decisions, all->decisions, all->decisions_count * sizeof(*decisions));
    all->decisions = decisions;
    for (uint32_t i = 0; i < part->decisions_count; i++)
        if (!has_decision(all, part->decisions[i]))
            decisions[all->decisions_count++] = keep(arena, part->decisions[i]);
    if (!all->intent.len) {
        all->intent = keep(arena, part->intent);
        all->latest = keep(arena, part->latest);
    } else if (newest.len) {
        all->latest = keep(arena, newest);
    }
    if (!part->steps_count)
        return;
    all->steps_count = part->steps_count;
    for (uint32_t i = 0; i < part->steps_count; i++)
        all->steps[i] = keep(arena, part->steps[i]);
}

static void merge_plan(struct wr_facts *all, struct wr_arena *arena, const struct wr_facts *part)
{
    if (!part->items_count)
        return;
    all->items = WR_ARENA_ARRAY(arena, struct wr_fact_item, part->items_count);
    all->items_count = all->items ? part->items_count : 0;
    for (uint32_t i = 0; i < all->items_count; i++) {
        all->items[i] = part->items[i];
        all->items[i].text = keep(arena, part->items[i].text);
    }
}

weir_status wr_facts_merge(struct wr_facts *all, struct wr_arena *arena,
                           const struct wr_facts *part, uint32_t segments_before)
{
    merge_files(all, arena, part, segments_before);
    merge_tasks(all, arena, part, segments_before);
    merge_words(all, arena, part);
    merge_plan(all, arena, part);
    return wr_arena_status(arena);
}
