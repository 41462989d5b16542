#include "tests/condense_rows.h"

static const struct kept_case rows[] = {
    {"what fits stays", "a.c\nb.c\n", 1000, "all", NULL},
    {"of a list of paths one entry of each directory stays, and what is named",
     "*20 src/base/file_@.c\n"
     "*10 docs/page_@.md\n"
     "*20 src/json/file_@.c\n"
     "src/json/writer.c\n"
     "*20 src/json/more_@.c\n",
     400, "1-5 21 31 51 67-71", "look at the writer"},
    {"the headings of ls -R stay, the shallow ones first",
     ".:\n"
     "*20 file_@\n"
     "\n"
     "./src:\n"
     "*20 file_@\n"
     "\n"
     "./src/base:\n"
     "*20 file_@\n",
     240, "1-11 23 45 64-65", NULL},
    {"directories of ls -l stay over files",
     "total 48\n"
     "*20 -rw-r--r-- 1 root root 120 Nov 15 08:38 file_@\n"
     "drwxr-xr-x 2 root root 4096 Nov 15 08:38 src\n"
     "*20 -rw-r--r-- 1 root root 120 Nov 15 08:38 more_@\n",
     460, "1-3 22 39-42", NULL},
    {"the branches of a tree stay, and its total",
     ".\n"
     "├── src\n"
     "*20 │   ├── file_@.c\n"
     "│   └── base\n"
     "*20 │       ├── file_@.c\n"
     "└── docs\n"
     "*20     ├── page_@.md\n"
     "\n"
     "3 directories, 60 files\n",
     330, "1-5 23 44 63-66", NULL},
    {"what was fetched comes last",
     "*20 node_modules/pack_@/index.js\n"
     "*5 src/part_@/index.js\n"
     "*20 node_modules/zack_@/index.js\n",
     480, "1-6 21-25 43-45", NULL},
    {"a complaint of the tool stays, whatever the budget",
     "*20 file_@\n"
     "ls: cannot access 'x': No such file or directory\n"
     "*20 file_@\n",
     10, "21", NULL},
};

static void keeps_lines_by_worth(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_LIST, wr_condense_list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_lines_by_worth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
