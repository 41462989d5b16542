#include "condense/search_line.h"
#include "condense/signal_scanner.h"

static const weir_span NOTHING = {"", 0};

void wr_signal_search(struct wr_signal_scanner *scanner, weir_span line)
{
    if (wr_signal_complaint(scanner, line))
        return;
    struct wr_search_line read = wr_search_line_read(line);
    switch (read.kind) {
    case WR_SEARCH_ROW:
        if (wr_signal_ask_context(scanner) == WR_CONTEXT_PATH)
            read.path = scanner->context_path;
        wr_signal_add_place(scanner, read.path, read.number, NOTHING);
        break;
    case WR_SEARCH_HEADING:
        wr_signal_set_context(scanner, WR_CONTEXT_PATH, read.path);
        break;
    case WR_SEARCH_MATCH:
    case WR_SEARCH_FILE_MATCH:
        wr_signal_add_place(scanner, read.path, read.number, NOTHING);
        break;
    case WR_SEARCH_OTHER:
        break;
    }
}
