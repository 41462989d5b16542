#!/usr/bin/env python3
"""Calls a program with the address that `weir run` has put into the environment.

    through.py PROGRAM WORDS...    BASE in a word becomes the address of the server, without /v1

The clients here are told their address as a word, so that one program serves every kind of play.
"""
import os
import sys

BASE = os.environ['OPENAI_BASE_URL'].removesuffix('/v1')

if __name__ == '__main__':
    WORDS = [os.environ['GOOGLE_GEMINI_BASE_URL'] if word == 'GEMINI' else
             word.replace('BASE', BASE) for word in sys.argv[1:]]
    os.execvp(WORDS[0], WORDS)
