#!/bin/sh
# The MCP server on stdio and at /mcp, end to end on loopback: WEIR is the program.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/upstream/mcp_cases.py "$@"
