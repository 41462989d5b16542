#!/bin/sh
# The MCP server on stdio and at /mcp, end to end on loopback: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/mcp_cases.py "$@"
