/* embed.h -- data/models.json as it was when the library was built. */
#ifndef WR_MODELS_EMBED_H
#define WR_MODELS_EMBED_H

#include "weir/span.h"

weir_span wr_models_embedded(void);

#endif
