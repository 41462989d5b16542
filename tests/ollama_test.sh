#!/bin/sh
# Ollama's own API through the proxy, on loopback: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/ollama_cases.py
