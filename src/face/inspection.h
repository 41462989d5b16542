/* inspection.h -- what a request consists of: its segments and their totals, as JSON. */
#ifndef WR_FACE_INSPECTION_H
#define WR_FACE_INSPECTION_H

#include "json/write.h"
#include "policy/meter.h"
#include "weir/request.h"

enum {
    WR_KINDS_COUNT = WEIR_KIND_OTHER + 1,
    WR_CLASSES_COUNT = WEIR_CLASS_DROPPABLE_DUPLICATE + 1,
};

struct wr_tally {
    uint64_t segments, bytes, tokens;
};

struct wr_inspection {
    struct weir_request *request;
    struct wr_measure measured;
    const char *method, *confidence;
    size_t body_bytes;
    struct wr_tally all, by_kind[WR_KINDS_COUNT], by_class[WR_CLASSES_COUNT];
};

/* Counts every segment by `meter`, which has been told how. What is measured lives as long as the
 * request. WEIR_NOMEM, WEIR_LIMIT. */
WEIR_MUST_USE weir_status wr_inspection_make(struct wr_inspection *in, struct weir_request *request,
                                             struct wr_meter *meter, size_t body_bytes);

/* The members of an object that is already open. */
void wr_inspection_write(struct wr_json_writer *w, const struct wr_inspection *in);

/* Both. */
WEIR_MUST_USE weir_status wr_inspection_members(struct wr_json_writer *w,
                                                struct weir_request *request,
                                                struct wr_meter *meter, size_t body_bytes);

#endif
