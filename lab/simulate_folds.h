/* simulate_folds.h -- odds fitted on all repositories but one and judged on that one, for each in
 * turn: what a policy is worth on work that nothing was fitted on.
 *
 * A report `held` has every session under odds that were fitted without its repository; `fitted`
 * has the same sessions under odds fitted on all of them. Where a figure differs by more than two
 * points between them, that is overfitting and is said. Of several policies each repository also
 * gets the one that the others would pick, which refits whatever tells the policies apart.
 */
#ifndef WR_LAB_SIMULATE_FOLDS_H
#define WR_LAB_SIMULATE_FOLDS_H

#include "lab/simulate_report.h"

/* The repositories of a list of files. */
struct wr_repositories { /* to be zeroed */
    char **names;        /* owned */
    uint32_t count, cap;
};

void wr_repositories_release(struct wr_repositories *repositories);

/* The number of the repository of a log: by the name of the folder its agent worked in (of a work
 * tree, that of its repository), else by the part of the file's name before its number. UINT32_MAX:
 * no memory. */
uint32_t wr_repositories_of(struct wr_repositories *repositories, weir_span folder,
                            const char *path);

struct wr_simulate_folds {
    struct wr_simulate_report *held, *fitted;
    const struct wr_repositories *repositories;
    const char *const *paths; /* of the files, and their repositories */
    const uint32_t *groups;
    size_t files_count;
};

void wr_simulate_folds_table(const struct wr_simulate_folds *folds, uint32_t columns,
                             struct wr_buf *out);
void wr_simulate_folds_json(const struct wr_simulate_folds *folds, struct wr_json_writer *writer);

#endif
