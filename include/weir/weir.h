/* weir.h -- all of libweir's public interface. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include "weir/api.h"
#include "weir/call.h"
#include "weir/condense.h"
#include "weir/engine.h"
#include "weir/handle.h"
#include "weir/models.h"
#include "weir/prompt.h"
#include "weir/recall.h"
#include "weir/request.h"
#include "weir/segment.h"
#include "weir/session.h"
#include "weir/span.h"
#include "weir/status.h"
#include "weir/store.h"
#include "weir/tokens.h"
#include "weir/version.h"

#endif
