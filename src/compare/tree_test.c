#include "compare/tree.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "launch/run.h"

struct place {
    struct wr_run_dir dir;
    char from[4096], to[4096];
};

static void put(const char *folder, const char *name, const char *text)
{
    char path[8192];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

static void make_folder(const char *folder, const char *name)
{
    char path[8192];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0750), 0);
}

static void set_out(struct place *p)
{
    assert_true(wr_run_dir_make(&p->dir, wr_run_dir_parent()));
    (void)snprintf(p->from, sizeof(p->from), "%s/from", p->dir.path);
    (void)snprintf(p->to, sizeof(p->to), "%s/from/inside", p->dir.path);
    assert_int_equal(mkdir(p->from, 0755), 0);
    make_folder(p->from, "src");
    make_folder(p->from, ".git");
    put(p->from, "a.txt", "one\n");
    put(p->from, "src/b.c", "int b;\n");
    put(p->from, ".git/index", "x");
    char link[8192];
    (void)snprintf(link, sizeof(link), "%s/link", p->from);
    assert_int_equal(symlink("src/b.c", link), 0);
}

static void note_change(void *user, enum wr_tree_change change, const char *path, uint64_t content)
{
    struct wr_buf *seen = user;

    assert_true((change == WR_TREE_REMOVED) == !content);
    wr_buf_printf(seen, "%c %s\n", "+-~"[change], path);
}

static void assert_changes(const struct place *p, const char *expected)
{
    struct weir_err err = {0};
    struct wr_buf seen;

    wr_buf_init(&seen, 4096);
    assert_int_equal(wr_tree_compare(p->from, p->to, note_change, &seen, &err), WEIR_OK);
    wr_buf_byte(&seen, '\0');
    assert_string_equal(seen.bytes, expected);
    wr_buf_release(&seen);
}

/* The copy is below what is copied, as $TMPDIR may be: it is not copied into itself. */
static void a_copy_is_the_same_until_it_is_changed(void **state)
{
    struct place p;
    struct weir_err err = {0};
    char path[8192], target[64] = "";
    struct stat info;

    (void)state;
    set_out(&p);
    assert_int_equal(wr_tree_copy(p.from, p.to, &err), WEIR_OK);
    (void)snprintf(path, sizeof(path), "%s/a.txt", p.to);
    assert_true(!stat(path, &info) && (info.st_mode & 0777) == 0640);
    (void)snprintf(path, sizeof(path), "%s/link", p.to);
    assert_true(readlink(path, target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "src/b.c");
    (void)snprintf(path, sizeof(path), "%s/inside", p.to);
    assert_int_not_equal(stat(path, &info), 0);
    /* The original now has the copy in it, which the copy lacks. */
    char elsewhere[8192];
    (void)snprintf(elsewhere, sizeof(elsewhere), "%s/to", p.dir.path);
    assert_int_equal(rename(p.to, elsewhere), 0);
    (void)snprintf(p.to, sizeof(p.to), "%.4000s", elsewhere);
    assert_changes(&p, "");

    put(p.to, "a.txt", "two\n"); /* as long as before */
    put(p.to, "src/new.c", "int n;\n");
    put(p.to, ".git/index", "y");
    (void)snprintf(path, sizeof(path), "%s/src/b.c", p.to);
    assert_int_equal(unlink(path), 0);
    make_folder(p.to, "z");
    put(p.to, "z/deep", "");
    assert_changes(&p, "~ a.txt\n- src/b.c\n+ src/new.c\n+ z/deep\n");
    wr_run_dir_remove(&p.dir);
}

static void what_cannot_be_copied_is_said(void **state)
{
    struct weir_err err = {0};
    struct place p;

    (void)state;
    set_out(&p);
    assert_int_equal(wr_tree_copy("/nowhere/at/all", p.to, &err), WEIR_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_int_equal(wr_tree_copy(p.from, p.from, &err), WEIR_IO); /* it is there already */
    wr_run_dir_remove(&p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_same_until_it_is_changed),
        cmocka_unit_test(what_cannot_be_copied_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
