/* tau-bench: a result file is an array of runs, each with `traj`, a list of chat messages. */
#include "lab/import_reader.h"

static bool claims_tau(wr_node document)
{
    wr_node run = wr_node_first(document);
    return wr_node_has(run, "traj", WR_JSON_ARRAY) && wr_node_has(run, "info", WR_JSON_OBJECT);
}

static weir_status read_tau_log(struct wr_importer *in)
{
    wr_node runs = wr_import_root(in);
    WR_NODE_EACH(run, runs)
    {
        struct wr_draft draft;
        wr_import_begin_draft(in, &draft);
        WR_NODE_EACH(message, wr_node_get(run, "traj"))
        wr_import_chat_message(in, &draft, message);
        wr_import_end_draft(in, &draft);
        if (in->status)
            break;
    }
    return in->status;
}

const struct wr_import_format wr_import_tau = {"tau-bench", NULL, claims_tau, read_tau_log,
                                               WEIR_DIALECT_CHAT};
