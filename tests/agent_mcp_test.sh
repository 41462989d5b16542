#!/bin/sh
# Tools of MCP servers in `weir agent`: real ones, and ones that misbehave.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/agent_mcp_cases.py
