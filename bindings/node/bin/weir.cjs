#!/usr/bin/env node
// The `weir` program of the package: its input, output, signals and exit code are this process's.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const target = `${process.platform}-${process.arch}`;
const program = process.env.WEIR ?? path.join(__dirname, '..', 'prebuilds', target, 'weir');
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
    console.error(`weir: ${program} cannot be run: ${error.message}`);
    process.exit(1);
});
child.on('exit', (code, signal) => {
    if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    } else {
        process.exit(code);
    }
});
