/* references.h -- values of weir.yaml that stand elsewhere: in a variable or in a file.
 *
 *   store: ${WEIR_STORE}                       anywhere in a value; ${NAME:-text} where it may be
 * unset metrics_token: {file: /run/secrets/t}      in place of a whole value: what the file holds,
 * trimmed
 *
 * They are resolved in the document before it is read, never in its text: what a variable holds is
 * a value and cannot become YAML. $${ is ${ as it stands. The keys of providers (`key`, `sign`)
 * have their own places, and `models` and `aliases` are read by another reader: those are left as
 * they are.
 */
#ifndef WR_PROXY_REFERENCES_H
#define WR_PROXY_REFERENCES_H

#include "base/yaml.h"

/* A variable that is not set, or a file that cannot be read, is an error at its place. */
WEIR_MUST_USE weir_status wr_references_resolve(struct wr_yaml *yaml);

#endif
