#!/bin/sh
# nginx and Caddy in front of the proxy, by the files in examples/: WEIR is the program. NGINX and
# CADDY name theirs; what is not installed is skipped.
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin
export NGINX=${NGINX:-$(command -v nginx)} CADDY=${CADDY:-$(command -v caddy)}
if [ -z "$NGINX$CADDY" ]; then
    echo 'skipped: neither nginx nor caddy is installed'
    exit 77
fi
command -v openssl >/dev/null || { echo 'skipped: openssl is not installed'; exit 77; }
python_cases tests/upstream/front_cases.py
