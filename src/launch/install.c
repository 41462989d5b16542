/* Planning, writing and taking back what `weir install` changes (install.h).
 *
 *   plan     look at each file: may it be changed, what would it say
 *   apply    look again ──▶ the list ──▶ copies ──▶ the files, one rename each
 *   undo     of the list, last file first: as it was ──▶ its copy; changed since ──▶ without ours
 *
 * The state folder has `list.json` and N.before for each file that was there. A process that is
 * killed while it writes leaves a list that names every file, folder and half of a new file that it
 * may have touched, and undoing a file that was not touched is nothing. What files said before and
 * after is in the list as sums: the bytes themselves need not be UTF-8, and would make the list too
 * large to be read.
 */
#include "launch/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "json/write.h"
#include "launch/install_inside.h"
#include "launch/own_settings.h"
#include "net/http.h"

void wr_install_init(struct wr_install *install, const struct wr_install_options *options)
{
    *install = (struct wr_install){.options = *options};
    wr_arena_init(&install->arena, WR_ARENA_BYTES_MAX);
}

void wr_install_release(struct wr_install *install)
{
    wr_arena_release(&install->arena);
}

const char *wr_install_text(struct wr_install *install, const char *format, ...)
{
    char text[8192];
    va_list words;

    va_start(words, format);
    int bytes = vsnprintf(text, sizeof(text), format, words);
    va_end(words);
    if (bytes < 0 || (size_t)bytes >= sizeof(text))
        return NULL;
    return wr_arena_copy(&install->arena, (weir_span){text, (size_t)bytes + 1}).ptr;
}

/* Text without a line end: the list is JSON, and a unit ends a setting with its line. */
static bool is_plain_path(struct wr_install *install, const char *path)
{
    uint64_t replaced_count = 0;
    weir_span valid;

    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < ' ')
            return false;
    return *path == '/' &&
           !wr_valid_text(&install->arena, wr_span_of(path), &valid, &replaced_count) &&
           !replaced_count;
}

weir_status wr_install_check(struct wr_install *install, struct weir_err *err)
{
    const struct wr_install_options *o = &install->options;
    const char *const paths[] = {o->weir, o->state, o->store};
    struct wr_host host;

    for (size_t i = 0; i < WR_COUNT_OF(paths); i++)
        if (paths[i] && !is_plain_path(install, paths[i]))
            return wr_fail(err, WEIR_INVALID, 0, "'%.200s' is no whole path of plain text",
                           paths[i]);
    if (!wr_host_parse(wr_span_of(o->listen), &host) || host.port <= 0)
        return wr_fail(err, WEIR_INVALID, 0, "--listen is HOST:PORT, with a port of its own");
    if (!wr_host_is_loopback(host.name))
        return wr_fail(err, WEIR_INVALID, 0,
                       "--listen is to be on this machine, such as 127.0.0.1:4141: who serves "
                       "others needs tokens, which agents' settings would have to hold");
    return WEIR_OK;
}

/* ---- folders ---- */

/* The outermost folder on the way to `path` that is not there; empty: all are. */
static const char *missing_folder(struct wr_install *install, const char *path)
{
    char *copy = (char *)(uintptr_t)wr_install_text(install, "%s", path);

    for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (access(copy, F_OK))
            return copy;
        *slash = '/';
    }
    return "";
}

static bool make_folders(const char *path)
{
    char copy[PATH_MAX];

    if ((size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy))
        return false;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

/* Removes the folders above `path` that are empty, up to `made`, which goes last. */
static void remove_folders(const char *path, const char *made)
{
    char copy[PATH_MAX];
    size_t least = strlen(made);

    if (!least || (size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy))
        return;
    for (char *slash = strrchr(copy, '/'); slash && (size_t)(slash - copy) >= least;
         slash = strrchr(copy, '/')) {
        *slash = '\0';
        if (rmdir(copy) && errno != ENOENT) /* which was never made */
            return;
    }
}

/* ---- files ---- */

/* Its name is known, so that what a process left that was killed can be taken away. */
static bool name_new_file(const char *path, char name[PATH_MAX])
{
    return (size_t)snprintf(name, PATH_MAX, "%s.weir-new", path) < PATH_MAX;
}

static void remove_new_file(const char *path)
{
    char name[PATH_MAX];

    if (name_new_file(path, name))
        (void)unlink(name);
}

/* The group of the old file, where we may give it. */
static void keep_group(int fd, const char *path)
{
    struct stat old;

    if (!stat(path, &old) && fchown(fd, (uid_t)-1, old.st_gid))
        return;
}

/* A new file takes the place of the old one at once. */
static bool replace_file(const char *path, weir_span text, mode_t mode)
{
    char temporary[PATH_MAX];

    if (!name_new_file(path, temporary))
        return false;
    remove_new_file(path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        keep_group(fd, path);
    bool ok = fd >= 0 && wr_os_write_all(fd, text) && !fchmod(fd, mode & 07777) && !fsync(fd);
    if (fd >= 0 && close(fd))
        ok = false;
    if (ok && !rename(temporary, path))
        return true;
    int why = errno;
    if (fd >= 0)
        (void)unlink(temporary);
    errno = why;
    return false;
}

static bool read_file(struct wr_install *install, const char *path, weir_span *text)
{
    return wr_own_file_up_to(&install->arena, path, WR_INSTALL_FILE_BYTES_MAX, text);
}

static const char *sum_of(struct wr_install *install, weir_span text)
{
    unsigned char digest[WR_SHA256_BYTES];
    char hex[WR_SHA256_HEX_BYTES + 1];
    struct wr_sha256_stream stream;

    wr_sha256_begin(&stream);
    wr_sha256_add(&stream, text);
    wr_sha256_digest(&stream, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return wr_install_text(install, "%s", hex);
}

static bool has_sum(struct wr_install *install, weir_span text, const char *sum)
{
    const char *own = sum_of(install, text);
    return own && !strcmp(own, sum);
}

/* What keeps a file from being changed and restored; NULL: nothing. */
static const char *bar_of(const struct stat *s)
{
    if (!S_ISREG(s->st_mode))
        return "it is no regular file";
    if (s->st_nlink > 1)
        return "it has several names (hard links), of which one would be changed";
    if (s->st_uid != geteuid())
        return "it belongs to somebody else";
    return s->st_mode & S_IWUSR ? NULL : "it is read-only";
}

/* Who has the folder in which `made`, or the file, is to be made: under sudo with the home of
 * another, root's files there could not be written by their agent. */
static bool is_in_our_folder(const struct wr_install_file *file)
{
    const char *path = *file->made ? file->made : file->real, *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat s;
    int bytes = snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);

    if (bytes < 0 || (size_t)bytes >= sizeof(folder))
        return false;
    return stat(bytes ? folder : "/", &s) || s.st_uid == geteuid();
}

static weir_status look_at(struct wr_install *install, struct wr_install_file *file,
                           struct weir_err *err)
{
    struct stat s;
    char real[PATH_MAX];
    bool is_link = !lstat(file->path, &s) && S_ISLNK(s.st_mode);

    if (!is_plain_path(install, file->path))
        return wr_fail(err, WEIR_INVALID, 0, "'%.200s' is no whole path of plain text", file->path);
    if (is_link && !realpath(file->path, real))
        return wr_fail(err, WEIR_INVALID, 0, "%s is a link to nothing", file->path);
    file->real = is_link ? wr_install_text(install, "%s", real) : file->path;
    file->made = "";
    file->mode = 0600;
    file->before = (weir_span){"", 0};
    file->existed = file->real && !stat(file->real, &s);
    if (!file->real)
        return WEIR_NOMEM;
    if (!file->existed) {
        file->made = missing_folder(install, file->real);
        return is_in_our_folder(file)
                   ? WEIR_OK
                   : wr_fail(err, WEIR_INVALID, 0, "%s: the folder belongs to somebody else",
                             file->path);
    }
    const char *bar = bar_of(&s);
    if (bar)
        return wr_fail(err, WEIR_INVALID, 0, "%s: %s", file->path, bar);
    file->mode = s.st_mode & 07777;
    if (!read_file(install, file->real, &file->before))
        return wr_fail(err, WEIR_IO, 0, "%s: %s", file->path, strerror(errno));
    return WEIR_OK;
}

/* The user has read a diff meanwhile, and an agent that runs may have written its settings. */
static weir_status look_again(struct wr_install *install, struct weir_err *err)
{
    weir_status status = WEIR_OK;

    if (wr_install_is_there(install))
        return wr_fail(err, WEIR_INVALID, 0, "it was installed meanwhile; nothing was changed");
    for (size_t i = 0; i < install->files_count && !status; i++) {
        const struct wr_install_file *file = &install->files[i];
        struct wr_install_file now = {.path = file->path};
        status = look_at(install, &now, err);
        if (!status && (now.existed != file->existed || strcmp(now.real, file->real) != 0 ||
                        !wr_span_eq(now.before, file->before)))
            status = wr_fail(err, WEIR_INVALID, 0,
                             "%s was changed since it was shown; nothing was changed", file->path);
    }
    return status;
}

static weir_status begin_file(struct wr_install *install, const char *path, const char *why,
                              struct wr_install_file **file, struct weir_err *err)
{
    if (install->files_count == WR_INSTALL_FILES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "too many files");
    *file = &install->files[install->files_count];
    **file = (struct wr_install_file){.path = path, .why = why};
    return look_at(install, *file, err);
}

weir_status wr_install_add_file(struct wr_install *install, const char *path, const char *why,
                                weir_span text, struct weir_err *err)
{
    struct wr_install_file *file = NULL;
    weir_status status = begin_file(install, path, why, &file, err);

    if (status)
        return status;
    if (file->existed && wr_span_eq(file->before, text))
        return WEIR_OK;
    if (file->existed)
        return wr_fail(err, WEIR_INVALID, 0, "%s is there already, and is not ours", path);
    file->after = wr_arena_copy(&install->arena, text);
    install->files_count++;
    return file->after.ptr ? WEIR_OK : WEIR_NOMEM;
}

weir_status wr_install_add_edits(struct wr_install *install, const char *path, const char *why,
                                 const struct wr_edit *edits, size_t edits_count,
                                 struct weir_err *err)
{
    struct wr_install_file *file = NULL;
    struct weir_err own = {0};
    weir_status status = begin_file(install, path, why, &file, err);

    if (status)
        return status;
    file->after = file->before;
    for (size_t i = 0; i < edits_count; i++) {
        bool is_there;
        weir_span after;
        status = wr_edit_make(&edits[i], &install->arena, file->after, &after, &is_there, &own);
        if (status)
            return wr_fail(err, status, own.at_byte, "%s: %s (byte %zu)", path, own.text,
                           own.at_byte);
        file->after = after;
        if (!is_there)
            file->edits[file->edits_count++] = edits[i];
    }
    install->files_count += file->edits_count > 0;
    return WEIR_OK;
}

/* ---- the list ---- */

static const char *state_path(struct wr_install *install, const char *name)
{
    return wr_install_text(install, "%s/%s", install->options.state, name);
}

bool wr_install_is_there(const struct wr_install *install)
{
    struct wr_install *scratch = (struct wr_install *)(uintptr_t)install;
    const char *list = state_path(scratch, "list.json");
    return list && !access(list, F_OK);
}

static void write_edit(struct wr_json_writer *w, const struct wr_edit *edit)
{
    wr_json_write_object(w);
    wr_json_member_array(w, "keys");
    for (size_t i = 0; edit->keys[i]; i++)
        wr_json_write_text(w, wr_span_of(edit->keys[i]));
    wr_json_write_array_end(w);
    wr_json_member_word(w, "name", edit->name);
    wr_json_member_text(w, "value", wr_span_of(edit->value));
    wr_json_write_object_end(w);
}

static void write_list(const struct wr_install *install, const char *made, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_number(&w, "version", 1);
    wr_json_member_word(&w, "made", made);
    wr_json_member_number(&w, "service", install->options.service);
    wr_json_member_array(&w, "files");
    for (size_t i = 0; i < install->files_count; i++) {
        const struct wr_install_file *file = &install->files[i];
        wr_json_write_newline(&w);
        wr_json_write_object(&w);
        wr_json_member_word(&w, "path", file->path);
        wr_json_member_word(&w, "real", file->real);
        wr_json_member_word(&w, "made", file->made);
        wr_json_member_bool(&w, "existed", file->existed);
        wr_json_member_number(&w, "mode", file->mode);
        wr_json_member_word(&w, "before", file->before_sum);
        wr_json_member_word(&w, "after", file->after_sum);
        wr_json_member_array(&w, "edits");
        for (size_t j = 0; j < file->edits_count; j++)
            write_edit(&w, &file->edits[j]);
        wr_json_write_array_end(&w);
        wr_json_write_object_end(&w);
    }
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static const char *copy_name(struct wr_install *install, size_t index)
{
    return wr_install_text(install, "%s/%zu.before", install->options.state, index);
}

static bool keep_list(struct wr_install *install, const char *list, const char *made)
{
    struct wr_buf text;
    bool ok = true;

    for (size_t i = 0; i < install->files_count; i++) {
        struct wr_install_file *file = &install->files[i];
        file->before_sum = sum_of(install, file->before);
        file->after_sum = sum_of(install, file->after);
        ok = ok && file->before_sum && file->after_sum;
    }
    wr_buf_init(&text, WR_INSTALL_FILE_BYTES_MAX);
    write_list(install, made, &text);
    ok = ok && !wr_buf_status(&text) && replace_file(list, wr_buf_view(&text), 0600);
    wr_buf_release(&text);
    return ok;
}

static weir_status keep_state(struct wr_install *install, struct weir_err *err)
{
    const char *list = state_path(install, "list.json");
    const char *made = list ? missing_folder(install, list) : NULL;
    bool is_listed = made && make_folders(list) && keep_list(install, list, made), ok = is_listed;

    for (size_t i = 0; ok && i < install->files_count; i++) {
        const char *copy = copy_name(install, i);
        if (install->files[i].existed)
            ok = copy && replace_file(copy, install->files[i].before, 0600);
    }
    int why = errno;
    if (!is_listed && made)
        remove_folders(list, made);
    return ok ? WEIR_OK
              : wr_fail(err, WEIR_IO, 0, "%s: nothing can be kept there: %s",
                        install->options.state, strerror(why));
}

/* ---- writing ---- */

static void ignore_file(void *user, const char *path, enum wr_installed how, const char *copy)
{
    (void)user;
    (void)path;
    (void)how;
    (void)copy;
}

weir_status wr_install_apply(struct wr_install *install, struct weir_err *err)
{
    weir_status status = look_again(install, err);
    size_t stuck_count;

    if (status)
        return status;
    status = keep_state(install, err);
    for (size_t i = 0; i < install->files_count && !status; i++) {
        const struct wr_install_file *file = &install->files[i];
        if (!make_folders(file->real) || !replace_file(file->real, file->after, file->mode))
            status = wr_fail(err, WEIR_IO, 0, "%s: %s; nothing was changed", file->path,
                             strerror(errno));
    }
    if (status && wr_install_undo(install, false, ignore_file, NULL, &stuck_count, NULL))
        return status; /* nothing was kept, so nothing was written */
    return status;
}

/* ---- taking back ---- */

static const char *text_of(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    weir_span text = {"", 0};
    struct wr_buf out;

    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return NULL;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_unescape(&out, wr_json_inner(doc, id));
    wr_buf_byte(&out, '\0');
    text = wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return text.ptr;
}

static void read_edits(const struct wr_json *doc, struct wr_arena *arena, wr_json_id list,
                       struct wr_install_file *file)
{
    for (wr_json_id at = wr_json_first(doc, list);
         at != WR_JSON_NONE && file->edits_count < WR_INSTALL_EDITS_MAX;
         at = wr_json_next(doc, list, at)) {
        struct wr_edit *edit = &file->edits[file->edits_count++];
        wr_json_id keys = wr_json_find(doc, at, "keys");
        size_t count = 0;
        *edit = (struct wr_edit){.name = text_of(doc, arena, wr_json_find(doc, at, "name")),
                                 .value = text_of(doc, arena, wr_json_find(doc, at, "value"))};
        for (wr_json_id key = wr_json_first(doc, keys);
             key != WR_JSON_NONE && count + 1 < WR_EDIT_KEYS_MAX;
             key = wr_json_next(doc, keys, key))
            edit->keys[count++] = text_of(doc, arena, key);
    }
}

static weir_status read_list(struct wr_install *install, const char **made, struct weir_err *err)
{
    const char *path = state_path(install, "list.json");
    struct wr_arena *arena = &install->arena;
    struct wr_json doc;
    weir_span text;
    int64_t number = 0;

    if (!path || !read_file(install, path, &text))
        return wr_fail(err, WEIR_NOTFOUND, 0, "nothing is installed: there is no list in %s",
                       install->options.state);
    weir_status status = wr_json_parse(&doc, arena, text, NULL, err);
    if (status)
        return status;
    *made = text_of(&doc, arena, wr_json_find(&doc, 0, "made"));
    if (wr_json_i64(&doc, wr_json_find(&doc, 0, "service"), &number))
        install->options.service = (enum wr_install_service)number;
    wr_json_id list = wr_json_find(&doc, 0, "files");
    install->files_count = 0;
    for (wr_json_id at = wr_json_first(&doc, list);
         at != WR_JSON_NONE && install->files_count < WR_INSTALL_FILES_MAX;
         at = wr_json_next(&doc, list, at)) {
        struct wr_install_file *file = &install->files[install->files_count++];
        *file = (struct wr_install_file){
            .path = text_of(&doc, arena, wr_json_find(&doc, at, "path")),
            .real = text_of(&doc, arena, wr_json_find(&doc, at, "real")),
            .made = text_of(&doc, arena, wr_json_find(&doc, at, "made")),
            .existed = wr_json_is(&doc, wr_json_find(&doc, at, "existed"), WR_JSON_TRUE)};
        file->before_sum = text_of(&doc, arena, wr_json_find(&doc, at, "before"));
        file->after_sum = text_of(&doc, arena, wr_json_find(&doc, at, "after"));
        if (!file->path || !file->real || !file->made || !file->before_sum || !file->after_sum ||
            !*made || !wr_json_i64(&doc, wr_json_find(&doc, at, "mode"), &number))
            return wr_fail(err, WEIR_INVALID, 0,
                           "%s is damaged: the copies beside it are what "
                           "your files said",
                           path);
        file->mode = (mode_t)number;
        read_edits(&doc, arena, wr_json_find(&doc, at, "edits"), file);
    }
    return WEIR_OK;
}

/* The file without what is still as it was put there. False: something has another value, so that
 * it may be ours or the user's. */
static bool without_ours(struct wr_install *install, const struct wr_install_file *file,
                         weir_span now, weir_span *text)
{
    bool is_all = file->edits_count > 0;

    *text = now;
    for (size_t i = file->edits_count; i-- > 0;) {
        weir_span left;
        weir_status status = file->edits[i].value ? wr_edit_undo(&file->edits[i], &install->arena,
                                                                 *text, &left, NULL)
                                                  : WEIR_INVALID;
        if (!status)
            *text = left;
        is_all = is_all && (!status || status == WEIR_NOTFOUND);
    }
    return is_all;
}

/* What systemd made of the unit, where it could not be asked to take it away itself. */
static void remove_wants(const struct wr_install_file *file)
{
    static const char unit[] = "/systemd/user/weir.service";
    size_t bytes = strlen(file->real);
    char link[PATH_MAX];
    struct stat s;

    if (bytes < sizeof(unit) || strcmp(file->real + bytes - (sizeof(unit) - 1), unit) != 0 ||
        (size_t)snprintf(link, sizeof(link), "%.*s/default.target.wants/weir.service",
                         (int)(bytes - strlen("/weir.service")), file->real) >= sizeof(link))
        return;
    if (!lstat(link, &s) && S_ISLNK(s.st_mode) && !unlink(link)) {
        *strrchr(link, '/') = '\0';
        (void)rmdir(link);
    }
}

static bool remove_made(const struct wr_install_file *file)
{
    bool ok = !unlink(file->real);

    if (ok) {
        remove_wants(file);
        remove_folders(file->real, file->made);
    }
    return ok;
}

/* Nothing, or an object with nothing in it. */
static bool is_empty_text(weir_span text)
{
    weir_span words = wr_span_trim(text);

    if (wr_span_starts(words, WR_LIT("{")) && wr_span_ends(words, WR_LIT("}")))
        words = wr_span_trim(wr_span_cut(words, 1, words.len - 1));
    return !words.len;
}

/* `path`: where the file is now; somebody may have put a link in its place. */
static enum wr_installed undo_changed(struct wr_install *install,
                                      const struct wr_install_file *file, const char *path,
                                      weir_span now, bool only_looks)
{
    weir_span text;
    struct stat s;
    bool is_all = without_ours(install, file, now, &text), ok = true;

    if (!only_looks && !wr_span_eq(text, now)) {
        if (!file->existed && is_empty_text(text))
            ok = remove_made(file);
        else
            ok = !stat(path, &s) && replace_file(path, text, s.st_mode);
    }
    return is_all && ok ? WR_INSTALLED_CHANGED : WR_INSTALLED_STUCK;
}

static enum wr_installed undo_file(struct wr_install *install, const struct wr_install_file *file,
                                   const char *copy, bool only_looks)
{
    char real[PATH_MAX];
    const char *path = realpath(file->real, real) ? real : file->real;
    weir_span now, before;
    bool ok = true;

    if (!only_looks)
        remove_new_file(file->real);
    if (!read_file(install, path, &now)) {
        bool is_gone = errno == ENOENT || errno == ENOTDIR;
        if (is_gone && !file->existed && !only_looks)
            remove_folders(file->real, file->made);
        return is_gone ? WR_INSTALLED_GONE : WR_INSTALLED_STUCK;
    }
    if (file->existed && has_sum(install, now, file->before_sum))
        return WR_INSTALLED_AS_IT_WAS; /* never written, or taken back by hand */
    if (!has_sum(install, now, file->after_sum))
        return undo_changed(install, file, path, now, only_looks);
    if (file->existed)
        ok = read_file(install, copy, &before) && has_sum(install, before, file->before_sum) &&
             (only_looks || replace_file(path, before, file->mode));
    else if (!only_looks)
        ok = remove_made(file);
    return ok ? WR_INSTALLED_AS_IT_WAS : WR_INSTALLED_STUCK;
}

void wr_install_sweep(struct wr_install *install)
{
    const char *list = state_path(install, "list.json");
    char *above = (char *)(uintptr_t)wr_install_text(install, "%s", install->options.state);

    if (!list || !above)
        return;
    remove_new_file(list);
    if (strrchr(above, '/') != above)
        *strrchr(above, '/') = '\0';
    remove_folders(list, above);
}

static void remove_state(struct wr_install *install, const char *made)
{
    const char *list = state_path(install, "list.json");

    for (size_t i = 0; i < install->files_count; i++) {
        const char *copy = copy_name(install, i);
        if (copy) {
            remove_new_file(copy);
            (void)unlink(copy);
        }
    }
    if (list && !unlink(list))
        remove_folders(list, *made ? made : install->options.state);
}

weir_status wr_install_undo(struct wr_install *install, bool only_looks, wr_installed_fn *tell,
                            void *user, size_t *stuck_count, struct weir_err *err)
{
    const char *made = "";
    weir_status status = read_list(install, &made, err);

    *stuck_count = 0;
    for (size_t i = install->files_count; i-- > 0 && !status;) {
        const char *copy = copy_name(install, i);
        if (!copy)
            return WEIR_NOMEM;
        enum wr_installed how = undo_file(install, &install->files[i], copy, only_looks);
        *stuck_count += how == WR_INSTALLED_STUCK;
        tell(user, install->files[i].path, how, install->files[i].existed ? copy : "");
    }
    if (!status && !only_looks && !*stuck_count)
        remove_state(install, made);
    return status;
}
