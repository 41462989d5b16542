/* Results of a search. Every place (path and line number) is a signal and stays; the text that was
 * found is what gives way, and what stands around it goes first.
 *
 * Three forms a line may have here, each a shortening of that line alone:
 *   - below a heading with its path, a line stands without it: "12:text" for "path:12:text", and
 *     "11-text" for the context "path-11-text";
 *   - without numbers, ":text" stands for "path:text" where the line above has the same path;
 *   - the text is cut as search_line.h says, to one width for all lines of the result.
 * The heading itself is written with the first line below it, the way `rg --heading` does. It is
 * the match's path; of contexts that spell it with the directory before it, one a file stays whole.
 */
#include "condense/keep.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"
#include "condense/focus.h"
#include "condense/search_line.h"

enum {
    TEXT_BYTES_MAX = 1024,    /* of a found line, whatever the budget */
    TEXT_BYTES_MIN = 64,      /* less says nothing: then some lines have this and the others none */
    SHORT_BYTES_MAX = 16,     /* what is shorter is never cut */
    FOCUS_BYTES_MAX = 400,    /* of the text of a line with a word that matters */
    NOTE_BYTES_MAX = 300,     /* of what the tool says before and behind the results */
    OTHER_BYTES_MAX = 400,    /* of a line that names no place */
    REPEATS_FIRST = 3,        /* found lines of one file without numbers, before those of others */
    CONTEXT_DISTANCE_MAX = 3, /* from a found line, nearest first; then from the front */
};

enum role {
    ROLE_OTHER,
    ROLE_HEADING,
    ROLE_FOUND,   /* a place: stays, its text may be cut */
    ROLE_REPEAT,  /* found in a file or at a place that is named before */
    ROLE_CONTEXT, /* beside a found line */
};

struct row {
    weir_span path;    /* of what is found or its context; empty: the line names none */
    uint32_t path_end; /* behind the path and its sign */
    uint32_t text_at;
    uint32_t rank;       /* among the lines of its file that stand together, from 0 */
    uint32_t text_bytes; /* what the budget allows of the text */
    uint8_t role;        /* enum role */
    uint8_t distance;    /* of a context from what was found */
    bool is_grouped;     /* stands without its path */
    bool is_named;       /* has a word that matters */
};

struct search {
    struct wr_keep keep;
    struct row *rows;
    struct wr_search_query query;
    struct wr_focus focus;
    bool has_rows; /* numbers below headings: they are grouped already */
};

static weir_span line_of(const struct search *search, uint32_t line)
{
    weir_span text = wr_keep_line(&search->keep, line);
    text.len -= text.len && text.ptr[text.len - 1] == '\r';
    return text;
}

/* ---- what each line is ---- */

static void read_line(struct search *search, uint32_t line)
{
    struct row *row = &search->rows[line];
    weir_span text = line_of(search, line);
    if (!wr_span_trim(text).len || memchr(text.ptr, '\r', text.len))
        return;
    struct wr_search_line read = wr_search_line_read(text);
    if (read.kind == WR_SEARCH_OTHER)
        return;
    if (read.kind == WR_SEARCH_HEADING) {
        row->role = ROLE_HEADING;
        return;
    }
    search->has_rows |= read.kind == WR_SEARCH_ROW;
    row->role = ROLE_REPEAT;
    row->path = read.path;
    row->path_end = (uint32_t)(read.path.len ? read.path.len + 1 : 0);
    row->text_at = (uint32_t)read.text_at;
}

/* Of the lines that read as found, those that are the first to name their place. What else says
 * something (a tool's complaint reads like a place) is left as it is. */
static void mark_found(struct search *search)
{
    const struct wr_signal_set *set = search->keep.signals;
    for (uint32_t i = 0; i < set->count; i++) {
        struct row *row = &search->rows[set->signals[i].first_line];
        if (set->signals[i].kind == WR_SIGNAL_LOCATION && row->role == ROLE_REPEAT)
            row->role = ROLE_FOUND;
    }
    for (uint32_t i = 0; i < set->count; i++)
        if (set->signals[i].kind != WR_SIGNAL_LOCATION)
            search->rows[set->signals[i].first_line].role = ROLE_OTHER;
}

/* "-12-" at `at`; the offset behind it, or 0. */
static size_t context_number_end(weir_span text, size_t at)
{
    size_t end = at + 1;
    while (end < text.len && wr_is_digit(text.ptr[end]))
        end++;
    bool is = at < text.len && text.ptr[at] == '-' && end > at + 1 && end < text.len &&
              text.ptr[end] == '-';
    return is ? end + 1 : 0;
}

/* Whether the line is "path-12-text" for this path, or spells more of the path in front. */
static bool read_context(struct row *row, weir_span text, weir_span path)
{
    if (!path.len)
        return false;
    size_t at = wr_span_find(text, path, 0);
    if (at == SIZE_MAX || (at && text.ptr[at - 1] != '/'))
        return false;
    size_t text_at = context_number_end(text, at + path.len);
    if (!text_at)
        return false;
    row->role = ROLE_CONTEXT;
    row->path = path;
    row->path_end = (uint32_t)(at + path.len + 1);
    row->text_at = (uint32_t)text_at;
    return true;
}

static bool is_located(const struct row *row)
{
    return row->path.len && row->role >= ROLE_FOUND;
}

/* A context belongs to the nearest match above or below it. */
static void mark_contexts(struct search *search)
{
    uint32_t count = search->keep.lines_count, next = 0;
    weir_span above = {"", 0};
    for (uint32_t line = 0; line < count; line++) {
        struct row *row = &search->rows[line];
        if (is_located(row)) {
            above = row->path;
            continue;
        }
        weir_span text = line_of(search, line);
        if (row->role != ROLE_OTHER || search->keep.is_kept[line] || text.len < 4)
            continue;
        for (next = next > line ? next : line; next < count && !is_located(&search->rows[next]);)
            next++;
        if (read_context(row, text, above))
            continue;
        if (next < count && read_context(row, text, search->rows[next].path))
            continue;
        if (search->has_rows && wr_is_digit(text.ptr[0])) {
            size_t digits = 0;
            while (digits < text.len && wr_is_digit(text.ptr[digits]))
                digits++;
            if (digits < text.len && text.ptr[digits] == '-')
                row->role = ROLE_CONTEXT;
        }
    }
}

static bool has_number(const struct row *row)
{
    return row->text_at > row->path_end;
}

static bool can_head(weir_span path)
{
    struct wr_search_line read = wr_search_line_read(path);
    return read.kind == WR_SEARCH_HEADING && wr_span_eq(read.path, path);
}

/* Lines of one file that stand together are a group, even with other lines between them. */
static uint32_t group_end(const struct search *search, uint32_t first, uint32_t *members)
{
    const struct row *head = &search->rows[first];
    uint32_t end = first + 1;
    *members = 1;
    for (uint32_t line = first + 1; line < search->keep.lines_count; line++) {
        const struct row *row = &search->rows[line];
        if (!is_located(row))
            continue;
        if (has_number(row) != has_number(head) || !wr_span_eq(row->path, head->path))
            break;
        end = line + 1;
        ++*members;
    }
    return end;
}

static void mark_group(struct search *search, uint32_t first, uint32_t end, bool is_grouped)
{
    uint32_t rank = 0;
    for (uint32_t line = first; line < end; line++) {
        struct row *row = &search->rows[line];
        if (!is_located(row))
            continue;
        /* Without numbers there is no heading: the first line of the file is one. */
        row->is_grouped = is_grouped && (has_number(row) || rank);
        row->rank = rank;
        rank += row->role != ROLE_CONTEXT;
    }
}

static void mark_groups(struct search *search)
{
    uint32_t line = 0, rank = 0, members;
    while (line < search->keep.lines_count) {
        struct row *row = &search->rows[line];
        if (row->role == ROLE_HEADING)
            rank = 0;
        if (!is_located(row)) {
            row->rank = row->role == ROLE_FOUND ? rank++ : 0;
            line++;
            continue;
        }
        uint32_t end = group_end(search, line, &members);
        mark_group(search, line, end, members > 1 && !search->has_rows && can_head(row->path));
        line = end;
    }
}

static void mark_distances(struct search *search)
{
    uint32_t count = search->keep.lines_count, far = UINT8_MAX, at = far;
    for (uint32_t line = 0; line < count; line++) {
        at = search->rows[line].role == ROLE_FOUND ? 0 : at < far ? at + 1 : far;
        search->rows[line].distance = (uint8_t)at;
    }
    at = far;
    for (uint32_t line = count; line-- > 0;) {
        at = search->rows[line].role == ROLE_FOUND ? 0 : at < far ? at + 1 : far;
        if (at < search->rows[line].distance)
            search->rows[line].distance = (uint8_t)at;
    }
}

static void mark_named(struct search *search)
{
    for (uint32_t line = 0; search->focus.count && line < search->keep.lines_count; line++) {
        struct row *row = &search->rows[line];
        weir_span text = line_of(search, line);
        row->is_named = row->role != ROLE_HEADING &&
                        wr_focus_names(&search->focus, wr_span_from(text, row->text_at));
    }
}

/* ---- how much of the text of each ---- */

static weir_span text_of(const struct search *search, uint32_t line)
{
    weir_span text = line_of(search, line);
    return wr_span_from(text, search->rows[line].text_at);
}

static uint32_t prefix_start(const struct row *row)
{
    if (!row->is_grouped)
        return 0;
    return has_number(row) ? row->path_end : row->path_end - 1; /* ":text" keeps the colon */
}

/* The room for texts once all places stand there without. */
static size_t room_for_texts(const struct search *search)
{
    const struct wr_keep *keep = &search->keep;
    size_t used = keep->bytes_used;
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        const struct row *row = &search->rows[line];
        if (row->role != ROLE_FOUND)
            continue;
        used -= text_of(search, line).len + prefix_start(row);
        if (row->is_grouped && has_number(row) && !row->rank)
            used += row->path.len + 1;
    }
    return keep->bytes_budget > used ? keep->bytes_budget - used : 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Lines with words that matter have their text before all others, unless they take most of it. */
static size_t give_named(struct search *search, size_t room)
{
    size_t wanted = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t line = 0; line < search->keep.lines_count; line++) {
            struct row *row = &search->rows[line];
            if (row->role != ROLE_FOUND || !row->is_named)
                continue;
            size_t bytes = least(text_of(search, line).len, FOCUS_BYTES_MAX);
            if (!pass)
                wanted += bytes + WR_SEARCH_MARKS_BYTES;
            else if (wanted <= room / 4 * 3)
                row->text_bytes = (uint32_t)bytes;
            else
                row->is_named = false;
        }
    }
    return wanted <= room / 4 * 3 ? room - wanted : room;
}

/* The largest width for which all texts, cut to it, fit. */
static size_t width_for(const struct search *search, size_t room)
{
    size_t counts[TEXT_BYTES_MAX + 1] = {0}, longer = 0, whole = 0, width = 0;
    for (uint32_t line = 0; line < search->keep.lines_count; line++)
        if (search->rows[line].role == ROLE_FOUND && !search->rows[line].is_named) {
            counts[least(text_of(search, line).len, TEXT_BYTES_MAX)]++;
            longer++;
        }
    longer -= counts[0];
    for (size_t next = 1; next <= TEXT_BYTES_MAX; next++) {
        whole += counts[next] * next;
        longer -= counts[next];
        if (whole + longer * (next + WR_SEARCH_MARKS_BYTES) > room)
            break;
        width = next;
    }
    return width;
}

static size_t least_bytes(const struct search *search, uint32_t line)
{
    return least(text_of(search, line).len, TEXT_BYTES_MIN + WR_SEARCH_MARKS_BYTES);
}

/* Where the room is too small for all: the first lines of every file, then the second ... */
static void give_in_turn(struct search *search, size_t room)
{
    enum { RANKS_MAX = 64 };
    size_t wanted[RANKS_MAX] = {0};
    uint32_t turn = 0;
    for (uint32_t line = 0; line < search->keep.lines_count; line++) {
        const struct row *row = &search->rows[line];
        if (row->role == ROLE_FOUND && !row->is_named)
            wanted[least(row->rank, RANKS_MAX - 1)] += least_bytes(search, line);
    }
    while (turn < RANKS_MAX - 1 && wanted[turn] <= room)
        room -= wanted[turn++];
    for (uint32_t line = 0; line < search->keep.lines_count; line++) {
        struct row *row = &search->rows[line];
        if (row->role != ROLE_FOUND || row->is_named)
            continue;
        bool now = row->rank == turn && room >= least_bytes(search, line);
        if (row->rank < turn || now)
            row->text_bytes = TEXT_BYTES_MIN;
        if (now)
            room -= least_bytes(search, line);
    }
}

static void give_texts(struct search *search)
{
    size_t room = give_named(search, room_for_texts(search));
    size_t width = width_for(search, room);
    if (width < TEXT_BYTES_MIN)
        give_in_turn(search, room);
    for (uint32_t line = 0; line < search->keep.lines_count; line++) {
        struct row *row = &search->rows[line];
        if (row->role == ROLE_FOUND && !row->is_named && width >= TEXT_BYTES_MIN)
            row->text_bytes = (uint32_t)width;
        else if (row->role != ROLE_FOUND)
            row->text_bytes = (uint32_t)(width > TEXT_BYTES_MIN ? width : TEXT_BYTES_MIN);
    }
}

/* ---- forms ---- */

/* What a client cut out of the middle is said there, in the text. */
static bool says_truncated(weir_span text)
{
    return wr_span_has(text, WR_LIT(" truncated"));
}

static weir_status give_form(struct search *search, uint32_t line)
{
    const struct row *row = &search->rows[line];
    weir_span whole = line_of(search, line), text = text_of(search, line);
    weir_span prefix = wr_span_cut(whole, prefix_start(row), row->text_at);
    weir_span form = wr_span_from(whole, prefix_start(row));
    if (text.len > row->text_bytes + WR_SEARCH_MARKS_BYTES && text.len > SHORT_BYTES_MAX &&
        !says_truncated(text)) {
        form =
            wr_search_text_cut(&search->query, search->keep.arena, prefix, text, row->text_bytes);
        if (!form.ptr)
            return wr_arena_status(search->keep.arena);
    }
    /* A context or a text without its path may read as what it is not. */
    bool plain = row->role == ROLE_FOUND || (has_number(row) && row->role == ROLE_REPEAT) ||
                 wr_search_line_read(form).kind == WR_SEARCH_OTHER;
    if (form.len == whole.len || !plain)
        return WEIR_OK;
    return wr_keep_form(&search->keep, line, form);
}

static weir_status give_forms(struct search *search)
{
    weir_status status = WEIR_OK;
    for (uint32_t line = 0; line < search->keep.lines_count && !status; line++) {
        const struct row *row = &search->rows[line];
        if (row->role < ROLE_FOUND)
            continue;
        if (row->role == ROLE_FOUND && row->is_grouped && has_number(row) && !row->rank)
            search->keep.bytes_used += row->path.len + 1;
        status = give_form(search, line);
    }
    return status;
}

/* The path that a reader takes a row of numbers to belong to, line by line. */
struct reading {
    weir_span heading; /* empty: none */
    weir_span file;    /* of the line above that has no number; empty: none */
    weir_span spelled; /* the path last seen whole with the directory before it */
};

static weir_status put_heading(struct search *search, uint32_t line)
{
    weir_span path = search->rows[line].path, form = search->keep.forms[line];
    char *both = wr_arena_alloc(search->keep.arena, path.len + 1 + form.len);
    if (!both)
        return wr_arena_status(search->keep.arena);
    memcpy(both, path.ptr, path.len);
    both[path.len] = '\n';
    memcpy(both + path.len + 1, form.ptr, form.len);
    return wr_keep_form(&search->keep, line, (weir_span){both, path.len + 1 + form.len});
}

static bool is_short_of_path(const struct search *search, uint32_t line)
{
    return search->rows[line].is_grouped && wr_keep_has_form(&search->keep, line);
}

static void take_form(struct search *search, uint32_t line)
{
    weir_span whole = wr_keep_line(&search->keep, line);
    search->keep.forms[line] = (weir_span){NULL, 0};
    search->keep.bytes_used += whole.len;
}

static weir_status settle_short(struct search *search, uint32_t line, struct reading *reading)
{
    const struct row *row = &search->rows[line];
    if (!has_number(row)) {
        if (!wr_span_eq(reading->file, row->path))
            take_form(search, line);
        reading->file = row->path;
        return WEIR_OK;
    }
    bool spells = row->role == ROLE_CONTEXT && row->path_end > row->path.len + 1;
    if (spells && !wr_span_eq(reading->spelled, row->path)) {
        reading->spelled = row->path;
        take_form(search, line);
        return WEIR_OK;
    }
    if (wr_span_eq(reading->heading, row->path))
        return WEIR_OK;
    reading->heading = row->path;
    return put_heading(search, line);
}

static void settle_whole(const struct search *search, uint32_t line, struct reading *reading)
{
    const struct row *row = &search->rows[line];
    weir_span text = wr_keep_line(&search->keep, line);
    bool blank = !wr_span_trim(text).len;
    if (blank || memchr(text.ptr, '\r', text.len) ||
        wr_search_line_read(text).kind == WR_SEARCH_HEADING)
        reading->heading = (weir_span){"", 0};
    if (is_located(row))
        reading->file = has_number(row) ? (weir_span){"", 0} : row->path;
}

/* Puts the headings where a reader of what is kept needs them. */
static weir_status settle_forms(struct search *search)
{
    struct reading reading = {{"", 0}, {"", 0}, {"", 0}};
    weir_status status = WEIR_OK;
    wr_keep_fill(&search->keep);
    for (uint32_t line = 0; line < search->keep.lines_count && !status; line++) {
        if (!search->keep.is_kept[line])
            continue;
        if (is_short_of_path(search, line))
            status = settle_short(search, line, &reading);
        if (!is_short_of_path(search, line))
            settle_whole(search, line, &reading);
    }
    return status;
}

/* ---- what is kept beside the places ---- */

static bool is_note(weir_span text)
{
    static struct wr_words fronts =
        WR_WORDS("Found |[|(|Warning: |Showing |Total output lines|Chunk ID:|Wall time");
    return text.len <= NOTE_BYTES_MAX && wr_words_front(&fronts, text);
}

/* The first and the last lines, where the tool says how much there is. */
static void keep_notes(struct search *search)
{
    enum { NOTE_LINES = 8 };
    struct wr_keep *keep = &search->keep;
    uint32_t count = keep->lines_count;
    for (uint32_t line = 0; line < count; line++) {
        if (line == NOTE_LINES && count > 2 * NOTE_LINES)
            line = count - NOTE_LINES;
        if (search->rows[line].role == ROLE_OTHER && is_note(line_of(search, line)))
            wr_keep_must(keep, line);
    }
}

/* Keeps the lines of a role that `wanted` takes, from the front; false when the budget is spent. */
typedef bool wanted_fn(const struct row *row);

static bool keep_role(struct search *search, enum role role, wanted_fn *wanted)
{
    for (uint32_t line = 0; line < search->keep.lines_count; line++) {
        const struct row *row = &search->rows[line];
        if (row->role == role && wanted(row) && !wr_keep_one(&search->keep, line))
            return false;
    }
    return true;
}

static bool want_named(const struct row *row)
{
    return row->is_named;
}

static bool want_first_of_file(const struct row *row)
{
    return !has_number(row) && row->rank < REPEATS_FIRST;
}

static bool want_of_file(const struct row *row)
{
    return !has_number(row);
}

static bool want_beside(const struct row *row)
{
    return row->distance == 1;
}

static bool want_near(const struct row *row)
{
    return row->distance <= CONTEXT_DISTANCE_MAX;
}

static bool want_any(const struct row *row)
{
    (void)row;
    return true;
}

static void keep_rest(struct search *search)
{
    bool room =
        keep_role(search, ROLE_OTHER, want_named) && keep_role(search, ROLE_REPEAT, want_named) &&
        keep_role(search, ROLE_CONTEXT, want_named) &&
        keep_role(search, ROLE_REPEAT, want_first_of_file) &&
        keep_role(search, ROLE_REPEAT, want_of_file) &&
        keep_role(search, ROLE_CONTEXT, want_beside) &&
        keep_role(search, ROLE_CONTEXT, want_near) && keep_role(search, ROLE_CONTEXT, want_any);
    if (room)
        wr_keep_ends(&search->keep, 50);
}

/* ---- all together ---- */

static void read_lines(struct search *search)
{
    for (uint32_t line = 0; line < search->keep.lines_count; line++)
        read_line(search, line);
    for (uint32_t line = 0; line < search->keep.lines_count; line++)
        if (search->rows[line].role == ROLE_HEADING)
            wr_keep_must(&search->keep, line);
    mark_found(search);
    mark_contexts(search);
    mark_groups(search);
    mark_distances(search);
    mark_named(search);
}

static bool has_escapes(weir_span text)
{
    return text.len && memchr(text.ptr, 0x1b, text.len);
}

static weir_status init(struct search *search, struct wr_arena *arena,
                        const struct wr_condense_input *input)
{
    weir_status status = wr_keep_init(&search->keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&search->keep, OTHER_BYTES_MAX, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&search->keep, WR_OUTPUT_SEARCH, 0);
    /* Every line has what was sought: it tells none from another. */
    struct wr_condense_input named = *input;
    named.query = WR_LIT("");
    if (!status)
        status = wr_focus_init(&search->focus, arena, &named);
    if (!status)
        status = wr_focus_find(&search->focus, &search->keep);
    search->rows = WR_ARENA_ARRAY(arena, struct row, search->keep.lines_count);
    if (!status && !search->rows)
        status = wr_arena_status(arena);
    wr_search_query_init(&search->query, input->query);
    return status;
}

weir_status wr_condense_search(struct wr_condensed *out, struct wr_arena *arena,
                               const struct wr_condense_input *input)
{
    struct search search = {.has_rows = false};
    weir_status status = init(&search, arena, input);
    if (status)
        return status;
    if (wr_keep_fits(&search.keep))
        return wr_keep_all(&search.keep, out);
    /* Colours stand in the middle of paths and numbers; such a result is only thinned. */
    bool plain = !has_escapes(input->text);
    if (plain) {
        read_lines(&search);
        give_texts(&search);
        status = give_forms(&search);
    }
    if (status)
        return status;
    keep_notes(&search);
    keep_rest(&search);
    if (plain)
        status = settle_forms(&search);
    return status ? status : wr_keep_write(&search.keep, out);
}
