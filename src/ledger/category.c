#include "ledger/category.h"

const char *wr_category_name(enum wr_category category)
{
    static const char *const names[] = {
#define X(name, text) text,
        WR_CATEGORY_MAP(X)
#undef X
    };
    return names[category];
}
