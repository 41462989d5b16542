#include "tests/made_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "json/write.h"

enum {
    FILES = 9,
    LINES = 150,
    LINE_BYTES = 128,
    NAME_BYTES = 64,
    NAMES = 60,
    STEPS = 45,
    TEXT_BYTES_MAX = 16 * 1024 * 1024,
    MESSAGES_MAX = 1024,
};

enum style { STYLE_EDITOR, STYLE_PATCH, STYLE_SHELL, STYLES };

struct file {
    char path[NAME_BYTES];
    char lines[LINES][LINE_BYTES];
    uint32_t lines_count;
};

struct maker {
    uint64_t random;
    struct made_session *session;
    enum style style;
    struct file files[FILES];
    char names[NAMES][NAME_BYTES];
    char *texts[MESSAGES_MAX]; /* of results, by message; NULL elsewhere */
    uint32_t messages_count;
    uint32_t last_read_file;
    struct wr_buf prose, argument, result;
};

static uint32_t pick(struct maker *m, uint32_t below)
{
    m->random = m->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(m->random >> 33) % below;
}

/* ---- the project ---- */

static const char *const verbs[] = {"load",  "merge", "parse", "flush", "resolve", "encode",
                                    "check", "apply", "fetch", "build", "render",  "split"};
static const char *const nouns[] = {"session", "branch", "index",  "record", "packet", "cursor",
                                    "ledger",  "window", "policy", "budget", "shard",  "header"};
/* What a programmer writes without having seen it here. */
static const char *const library[] = {"to_string",      "json_encode", "startsWith",
                                      "getElementById", "snprintf_s",  "os_path_join"};

#define ONE_OF(m, list) ((list)[pick((m), WR_COUNT_OF(list))])

static void make_names(struct maker *m)
{
    for (uint32_t i = 0; i < NAMES; i++)
        (void)snprintf(m->names[i], NAME_BYTES, i % 3 ? "%s_%s_%s" : "%s%s%sJob", ONE_OF(m, verbs),
                       ONE_OF(m, nouns), ONE_OF(m, nouns));
    for (uint32_t i = 0; i < NAMES; i += 3)
        for (char *c = m->names[i]; *c; c++)
            if (c != m->names[i] && (c - m->names[i]) % 5 == 0 && *c >= 'a' && *c <= 'z')
                *c = (char)(*c - 'a' + 'A');
}

static void make_line(struct maker *m, char *line)
{
    char made[LINE_BYTES] = {0};
    const char *name = m->names[pick(m, NAMES)], *noun = ONE_OF(m, nouns);
    switch (pick(m, 8)) {
    case 0:
        (void)snprintf(made, sizeof(made), "def %s(%s, limit):", name, noun);
        break;
    case 1:
    case 2:
        (void)snprintf(made, sizeof(made), "    %s = %s(limit=%u)", noun, name, pick(m, 9000));
        break;
    case 3:
        (void)snprintf(made, sizeof(made), "    if %s is None:", noun);
        break;
    case 4:
        (void)snprintf(made, sizeof(made), "        raise Error(\"no %s\")", noun);
        break;
    case 5:
        (void)snprintf(made, sizeof(made), "    total = %s(%s.%s)", ONE_OF(m, library), noun, name);
        break;
    case 6:
        (void)snprintf(made, sizeof(made), "    # keeps the %s in order of %s", noun, name);
        break;
    default:
        (void)snprintf(made, sizeof(made), "    return %s", noun);
    }
    memcpy(line, made, sizeof(made));
}

static void make_project(struct maker *m)
{
    static const char *const folders[] = {"src/core", "src/net", "lib/store", "pkg/api/v2"};
    make_names(m);
    for (uint32_t f = 0; f < FILES; f++) {
        struct file *file = &m->files[f];
        (void)snprintf(file->path, NAME_BYTES, "%s/%s_%s%u.py", ONE_OF(m, folders),
                       ONE_OF(m, verbs), ONE_OF(m, nouns), f);
        file->lines_count = 40 + pick(m, LINES - 40);
        for (uint32_t i = 0; i < file->lines_count; i++)
            make_line(m, file->lines[i]);
    }
}

/* ---- messages ---- */

static void note(struct maker *m, const char *text, bool is_used)
{
    struct made_session *s = m->session;
    while (*text == ' ')
        text++;
    if (s->uses_count == MADE_USES_MAX || !*text)
        return;
    struct made_use *use = &s->uses[s->uses_count++];
    use->answer = m->messages_count;
    use->is_used = is_used;
    (void)snprintf(use->text, sizeof(use->text), "%s", text);
}

/* Whether the agent itself has said `text`, now or since the newest result that holds it. */
static bool is_from_result(const struct maker *m, const char *text)
{
    const struct made_session *s = m->session;
    uint32_t newest = 0;
    for (uint32_t i = m->messages_count; i-- > 0 && !newest;)
        if (m->texts[i] && strstr(m->texts[i], text))
            newest = i;
    if (!newest)
        return false;
    for (uint32_t i = 0; i < s->uses_count; i++)
        if (s->uses[i].answer + 1 >= newest && strstr(s->uses[i].text, text))
            return false;
    return true;
}

static void note_taken(struct maker *m, const char *text)
{
    while (*text == ' ')
        text++;
    note(m, text, is_from_result(m, text));
}

static void begin(struct wr_json_writer *w, struct maker *m, const char *role)
{
    wr_json_write_init(w, &m->session->lines);
    wr_json_write_object(w);
    wr_json_member_word(w, "role", role);
}

static void end(struct wr_json_writer *w, struct maker *m)
{
    wr_json_write_object_end(w);
    wr_buf_byte(&m->session->lines, '\n');
    m->messages_count++;
}

static void say(struct maker *m, const char *role, weir_span text)
{
    struct wr_json_writer w;
    begin(&w, m, role);
    wr_json_member_text(&w, "content", text);
    end(&w, m);
}

/* Keys and values of a call's arguments, until a NULL. */
static void call(struct maker *m, const char *tool, const char *const *pairs)
{
    struct wr_json_writer w;
    char id[16];
    wr_buf_reset(&m->argument);
    wr_json_write_init(&w, &m->argument);
    wr_json_write_object(&w);
    for (; *pairs; pairs += 2) {
        wr_json_member_word(&w, pairs[0], pairs[1]);
    }
    wr_json_write_object_end(&w);
    (void)snprintf(id, sizeof(id), "r%u", m->messages_count + 1);
    begin(&w, m, "assistant");
    wr_json_member_text(&w, "content", wr_buf_view(&m->prose));
    wr_json_write_key(&w, "tool_calls");
    wr_json_write_array(&w);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "id", id);
    wr_json_member_text(&w, "type", WR_LIT("function"));
    wr_json_write_key(&w, "function");
    wr_json_write_object(&w);
    wr_json_member_word(&w, "name", tool);
    wr_json_member_text(&w, "arguments", wr_buf_view(&m->argument));
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_array_end(&w);
    end(&w, m);
    wr_buf_reset(&m->prose);
}

/* Sends what `result` holds as the result of the call before. */
static void answer(struct maker *m)
{
    struct wr_json_writer w;
    char id[16];
    weir_span text = wr_buf_view(&m->result);
    char *kept = malloc(text.len + 1);
    if (!kept || m->messages_count >= MESSAGES_MAX)
        abort();
    memcpy(kept, text.ptr, text.len);
    kept[text.len] = 0;
    m->texts[m->messages_count] = kept;
    (void)snprintf(id, sizeof(id), "r%u", m->messages_count);
    begin(&w, m, "tool");
    wr_json_member_word(&w, "tool_call_id", id);
    wr_json_member_text(&w, "content", text);
    end(&w, m);
    wr_buf_reset(&m->result);
}

/* A command, in the manner of the agent. */
static void run(struct maker *m, const char *command)
{
    if (m->style == STYLE_PATCH)
        call(m, "exec_command", (const char *[]){"cmd", command, "workdir", "/repo", NULL});
    else
        call(m, "Bash", (const char *[]){"command", command, "description", "Run it", NULL});
}

/* ---- what the agent does ---- */

static void search(struct maker *m, const char *name)
{
    char command[LINE_BYTES + NAME_BYTES];
    note_taken(m, name);
    wr_buf_printf(&m->prose, "I look for where this is used.");
    (void)snprintf(command, sizeof(command), "rg -n %s", name);
    if (m->style == STYLE_EDITOR)
        call(m, "Grep", (const char *[]){"pattern", name, "output_mode", "content", NULL});
    else
        run(m, command);
    for (uint32_t f = 0; f < FILES; f++)
        for (uint32_t i = 0; i < m->files[f].lines_count; i++)
            if (strstr(m->files[f].lines[i], name))
                wr_buf_printf(&m->result, "%s:%u:%s\n", m->files[f].path, i + 1,
                              m->files[f].lines[i]);
    if (!wr_buf_view(&m->result).len)
        wr_buf_text(&m->result, "No matches found");
    answer(m);
}

static void read_file(struct maker *m, uint32_t f)
{
    struct file *file = &m->files[f];
    char argument[LINE_BYTES];
    note_taken(m, file->path);
    if (m->style == STYLE_EDITOR) {
        (void)snprintf(argument, sizeof(argument), "/repo/%s", file->path);
        call(m, "Read", (const char *[]){"file_path", argument, NULL});
    } else {
        (void)snprintf(argument, sizeof(argument),
                       m->style == STYLE_PATCH ? "sed -n '1,200p' %s" : "cat -n %s", file->path);
        run(m, argument);
    }
    for (uint32_t i = 0; i < file->lines_count; i++) {
        if (m->style != STYLE_PATCH)
            wr_buf_printf(&m->result, m->style == STYLE_EDITOR ? "%6u→" : "%6u\t", i + 1);
        wr_buf_printf(&m->result, "%s\n", file->lines[i]);
    }
    m->last_read_file = f;
    answer(m);
}

static void write_patch(const struct file *file, uint32_t from, uint32_t count, const char *fresh,
                        struct wr_buf *out)
{
    wr_buf_printf(out, "*** Begin Patch\n*** Update File: %s\n@@\n", file->path);
    for (uint32_t i = 0; i < count; i++)
        wr_buf_printf(out, "%c%s\n", i + 1 == count ? '-' : ' ', file->lines[from + i]);
    wr_buf_printf(out, "+%s\n*** End Patch\n", fresh);
}

static void edit(struct maker *m)
{
    struct file *file = &m->files[m->last_read_file];
    uint32_t count = 2 + pick(m, 3), from = pick(m, file->lines_count - count);
    struct wr_buf old, fresh;
    char line[LINE_BYTES], made_up[NAME_BYTES], path[LINE_BYTES];

    (void)snprintf(made_up, sizeof(made_up), "%s_%s_or_default%u", ONE_OF(m, verbs),
                   ONE_OF(m, nouns), pick(m, 100));
    (void)snprintf(line, sizeof(line), "    return %s(%s)", made_up,
                   pick(m, 3) ? "limit" : ONE_OF(m, library));
    wr_buf_init(&old, TEXT_BYTES_MAX);
    wr_buf_init(&fresh, TEXT_BYTES_MAX);
    note_taken(m, file->path);
    for (uint32_t i = 0; i < count; i++)
        note_taken(m, file->lines[from + i]);
    note(m, made_up, false);
    note(m, line, false);
    if (m->style == STYLE_PATCH) {
        write_patch(file, from, count, line, &old);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            wr_buf_printf(&old, "%s%s", i ? "\n" : "", file->lines[from + i]);
            wr_buf_printf(&fresh, "%s%s", i ? "\n" : "",
                          i + 1 == count ? line : file->lines[from + i]);
        }
    }
    wr_buf_byte(&old, '\0');
    wr_buf_byte(&fresh, '\0');
    (void)snprintf(path, sizeof(path), "/repo/%s", file->path);
    if (m->style == STYLE_PATCH)
        call(m, "apply_patch", (const char *[]){"input", old.bytes, NULL});
    else
        call(m, m->style == STYLE_EDITOR ? "Edit" : "str_replace_editor",
             (const char *[]){"file_path", path, "old_string", old.bytes, "new_string", fresh.bytes,
                              NULL});
    (void)snprintf(file->lines[from + count - 1], LINE_BYTES, "%s", line);
    wr_buf_printf(&m->result, "The file %s has been updated.", file->path);
    answer(m);
    wr_buf_release(&old);
    wr_buf_release(&fresh);
}

/* The failing test names a file that the agent then reads, and a function it then looks for. */
static void test(struct maker *m)
{
    uint32_t f = pick(m, FILES), name = pick(m, NAMES);
    run(m, "pytest -q tests");
    for (uint32_t i = 0; i < 12 + pick(m, 20); i++)
        wr_buf_printf(&m->result, "tests/test_%s.py ........ [%u%%]\n", ONE_OF(m, nouns), i * 3);
    wr_buf_printf(&m->result, "FAILED tests/test_%s.py::test_%s\n", ONE_OF(m, nouns),
                  m->names[name]);
    wr_buf_printf(&m->result, "E   AssertionError: %s returned None\n%s:%u: AssertionError\n",
                  m->names[name], m->files[f].path, 1 + pick(m, 40));
    wr_buf_printf(&m->result, "1 failed, %u passed in 2.1s\n", pick(m, 300));
    answer(m);
    if (pick(m, 2))
        search(m, m->names[name]);
    else
        read_file(m, f);
}

static void history(struct maker *m)
{
    char command[LINE_BYTES], hash[16] = {0};
    run(m, "git log --oneline -8");
    for (uint32_t i = 0; i < 8; i++) {
        char each[16];
        (void)snprintf(each, sizeof(each), "%04x%04xa", pick(m, 65536), pick(m, 65536));
        wr_buf_printf(&m->result, "%s %s the %s\n", each, ONE_OF(m, verbs), ONE_OF(m, nouns));
        if (i == 3)
            memcpy(hash, each, sizeof(hash));
    }
    answer(m);
    (void)snprintf(command, sizeof(command), "git show --stat %s", hash);
    note_taken(m, hash);
    run(m, command);
    for (uint32_t i = 0; i < 3; i++)
        wr_buf_printf(&m->result, " %s | %u ++--\n", m->files[pick(m, FILES)].path, pick(m, 60));
    answer(m);
}

/* A new file: nothing in it is from a result. */
static void write_new(struct maker *m)
{
    char path[NAME_BYTES], content[4 * LINE_BYTES], made_up[NAME_BYTES];
    (void)snprintf(path, sizeof(path), "docs/notes_%s_%u.md", ONE_OF(m, nouns), pick(m, 1000));
    (void)snprintf(made_up, sizeof(made_up), "draft_%s_plan%u", ONE_OF(m, nouns), pick(m, 1000));
    (void)snprintf(content, sizeof(content),
                   "# Plan\nRead/write and/or up-to-date: see README.md.\n%s(%s)\n", made_up,
                   ONE_OF(m, library));
    note(m, path, false);
    note(m, made_up, false);
    if (m->style == STYLE_EDITOR)
        call(m, "Write", (const char *[]){"file_path", path, "content", content, NULL});
    else
        call(m, "create_file", (const char *[]){"path", path, "text", content, NULL});
    wr_buf_printf(&m->result, "File created successfully at: %s", path);
    answer(m);
}

/* The answer that ends the work names what was found, and asks for more. */
static void explain(struct maker *m)
{
    const struct file *file = &m->files[m->last_read_file];
    const char *line = file->lines[pick(m, file->lines_count)];
    char name[LINE_BYTES] = {0}, ask[2 * LINE_BYTES];
    for (uint32_t i = 0; i < NAMES && !name[0]; i++)
        if (strstr(line, m->names[i]))
            (void)snprintf(name, sizeof(name), "%s", m->names[i]);
    if (name[0]) {
        note_taken(m, name);
        wr_buf_printf(&m->prose, "The cause is in `%s`", name);
    } else {
        wr_buf_text(&m->prose, "The cause is a missing check");
    }
    note_taken(m, file->path);
    wr_buf_printf(&m->prose, " (`%s`). It was read/write and/or out of date.", file->path);
    say(m, "assistant", wr_buf_view(&m->prose));
    wr_buf_reset(&m->prose);
    const char *next = m->names[pick(m, NAMES)], *place = m->files[pick(m, FILES)].path;
    (void)snprintf(ask, sizeof(ask), "Good. Now find out what %s does in %s.", next, place);
    note(m, next, false);
    note(m, place, false);
    say(m, "user", wr_span_of(ask));
    search(m, next);
}

static void step(struct maker *m)
{
    switch (pick(m, 10)) {
    case 0:
        search(m, m->names[pick(m, NAMES)]);
        return;
    case 1:
    case 2:
        read_file(m, pick(m, FILES));
        return;
    case 3:
    case 4:
    case 5:
        edit(m);
        return;
    case 6:
        test(m);
        return;
    case 7:
        history(m);
        return;
    case 8:
        write_new(m);
        return;
    default:
        explain(m);
    }
}

void made_session_new(struct made_session *session, uint64_t seed)
{
    struct maker *m = calloc(1, sizeof(*m));
    struct wr_buf system;
    *session = (struct made_session){.uses = calloc(MADE_USES_MAX, sizeof(struct made_use))};
    if (!m || !session->uses)
        abort();
    wr_buf_init(&session->lines, TEXT_BYTES_MAX);
    m->session = session;
    m->random = seed * 2654435761U + 1;
    m->style = (enum style)(seed % STYLES);
    wr_buf_init(&m->prose, TEXT_BYTES_MAX);
    wr_buf_init(&m->argument, TEXT_BYTES_MAX);
    wr_buf_init(&m->result, TEXT_BYTES_MAX);
    make_project(m);
    wr_buf_init(&system, TEXT_BYTES_MAX);
    for (uint32_t i = 0; i < 400; i++) /* a prompt that can be cached */
        wr_buf_text(&system, "Read before you edit; keep it short. ");
    say(m, "system", wr_buf_view(&system));
    say(m, "user", WR_LIT("The tests fail since this morning. Please repair what is broken."));
    test(m);
    read_file(m, pick(m, FILES));
    for (uint32_t i = 0; i < STEPS; i++)
        step(m);
    wr_buf_release(&system);
    wr_buf_release(&m->prose);
    wr_buf_release(&m->argument);
    wr_buf_release(&m->result);
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        free(m->texts[i]);
    free(m);
}

void made_session_free(struct made_session *session)
{
    wr_buf_release(&session->lines);
    free(session->uses);
}
