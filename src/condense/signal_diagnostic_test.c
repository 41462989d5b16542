#include "tests/signal_check.h"

#define P WR_OUTPUT_PROCESS
#define G WR_OUTPUT_LOG

static const struct signal_case compilers_rows[] = {
    {"gcc: message and place", P, "a.c:3:5: error: 'x' undeclared (first use in this function)\n",
     "E:'x' undeclared (first use in this function) | L:a.c:3:5"},
    {"gcc: a warning is a warning", P,
     "src/a.c:10:1: warning: unused variable 'y' [-Wunused-variable]\n",
     "W:unused variable 'y' [-Wunused-variable] | L:src/a.c:10:1"},
    {"gcc: a fatal error", P, "a.c:1:10: fatal error: foo.h: No such file or directory\n",
     "E:foo.h: No such file or directory | L:a.c:1:10"},
    {"gcc: warnings that end the build", P, "cc1: all warnings being treated as errors\n",
     "E:cc1: all warnings being treated as errors"},
    {"dash: a command that is not there", P, "/bin/sh: 1: nope: not found\n",
     "E:/bin/sh: 1: nope: not found"},
    {"ruby: a method that is not there", P, "undefined method `foo' for nil (NoMethodError)\n",
     "E:undefined method `foo' for nil (NoMethodError)"},
    {"glibc: a smashed stack", P, "*** stack smashing detected ***: terminated\n",
     "C:*** stack smashing detected ***: terminated"},
    {"prose that says not found is no signal", P, "the page was not found by anyone today\n", ""},
    {"gcc: a note is no signal", P, "a.c:2:7: note: declared here\n", ""},
    {"gcc: context lines are no signals", P,
     "a.c: In function 'main':\n    3 |   return x;\n      |          ^\n", ""},
    {"gcc: without a file", P, "gcc: error: unrecognized command-line option '-foo'\n",
     "E:gcc: error: unrecognized command-line option '-foo'"},
    {"clang: how many", P, "1 warning and 2 errors generated.\n", "N:1 warning, 2 errors"},
    {"clang: one", P, "1 error generated.\n", "N:1 error"},
    {"clang: colours do not matter", P,
     "\x1b[1ma.c:3:5: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1mexpected ';'\x1b[0m\n",
     "E:expected ';' | L:a.c:3:5"},
    {"rustc: error, code and place", P,
     "error[E0308]: mismatched types\n  --> src/main.rs:4:18\n   |\n4  |     let x: i32 = "
     "\"a\";\n",
     "E:[E0308]: mismatched types | L:src/main.rs:4:18"},
    {"rustc: warning", P, "warning: unused import: `std::fs`\n --> src/lib.rs:1:5\n",
     "W:unused import: `std::fs` | L:src/lib.rs:1:5"},
    {"rustc: the closing line", P,
     "error: could not compile `x` (bin \"x\") due to 2 previous errors\n",
     "E:could not compile `x` (bin \"x\") due to 2 previous errors"},
    {"rustc: a second place", P, "  ::: src/other.rs:9:1\n", "L:src/other.rs:9:1"},
    {"rust: panic with its message below", P,
     "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3\nnote: run "
     "with x\n",
     "C:index out of bounds: the len is 3 | L:src/main.rs:2:5"},
    {"rust: panic on one line", P, "thread 'main' panicked at 'boom', src/main.rs:2:5\n",
     "C:'boom', src/main.rs:2:5 | L:src/main.rs:2:5"},
    {"go build: no word of severity", P, "# example.com/x\n./x.go:12:3: undefined: foo\n",
     "E:undefined: foo | L:x.go:12:3"},
    {"go build: import", P, "./main.go:5:2: \"os\" imported and not used\n",
     "E:\"os\" imported and not used | L:main.go:5:2"},
    {"go vet", P, "vet: ./x.go:9:2: undeclared name: y\n", "E:undeclared name: y | L:x.go:9:2"},
    {"go: panic and its top", P,
     "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 "
     "[running]:\nmain.f(...)\n"
     "\t/app/main.go:12 +0x1d\nmain.main()\n\t/app/main.go:20 +0x1d\n",
     "C:runtime error: index out of range [5] with length 3 | S:/app/main.go:12 +<hex>"},
    {"tsc: parentheses", P,
     "src/i.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
     "E:TS2322: Type 'string' is not assignable to type 'number'. | L:src/i.ts:12:7"},
    {"tsc: pretty", P,
     "src/s.ts:44:13 - error TS2345: Argument of type 'undefined' is not assignable.\n",
     "E:TS2345: Argument of type 'undefined' is not assignable. | L:src/s.ts:44:13"},
    {"tsc: how many", P, "Found 3 errors in 2 files.\n", "N:3 errors"},
    {"tsc: none found", P, "Found 0 errors. Watching for file changes.\n", ""},
    {"eslint: rows below a path", P,
     "/repo/src/app.ts\n  12:5  error  Unexpected any  no-explicit-any\n  14:1  warning  "
     "Missing return  x/y\n",
     "E:Unexpected any no-explicit-any | L:/repo/src/app.ts:12:5 | W:Missing return x/y | "
     "L:/repo/src/app.ts:14:1"},
    {"a linter with a sign", P, "  \xc3\x97 Import statements could be sorted:\n",
     "E:Import statements could be sorted:"},
    {"eslint: how many", P, "\xe2\x9c\x96 3 problems (2 errors, 1 warning)\n",
     "N:3 problems, 2 errors, 1 warning"},
    {"javac", P, "Foo.java:12: error: cannot find symbol\n",
     "E:cannot find symbol | L:Foo.java:12"},
    {"kotlin", P, "e: file:///app/Main.kt:3:9 Unresolved reference: x\n",
     "E:Unresolved reference: x | L:/app/Main.kt:3:9"},
    {"dotnet", P, "/a/B.cs(12,5): error CS0103: The name 'x' does not exist [/a/B.csproj]\n",
     "E:CS0103: The name 'x' does not exist [/a/B.csproj] | L:/a/B.cs:12:5"},
    {"dotnet: a clean build counts nothing", P,
     "Build succeeded.\n    0 Warning(s)\n    0 Error(s)\n", ""},
    {"msvc", P, "main.cpp(7): error C2065: 'x': undeclared identifier\n",
     "E:C2065: 'x': undeclared identifier | L:main.cpp:7"},
    {"mypy", P,
     "pkg/a.py:3: error: Incompatible types  [assignment]\nSuccess: no issues found in 4 "
     "source files\n",
     "E:Incompatible types [assignment] | L:pkg/a.py:3"},
    {"flake8 and ruff", P, "a.py:1:1: F401 'os' imported but unused\n",
     "E:F401 'os' imported but unused | L:a.py:1:1"},
    {"linker", P,
     "/usr/bin/ld: main.o: undefined reference to `foo'\ncollect2: error: ld returned 1 exit "
     "status\n",
     "E:/usr/bin/ld: main.o: undefined reference to `foo' | E:collect2: error: ld returned 1 "
     "exit status | X:1"},
    {"macOS linker", P, "Undefined symbols for architecture arm64:\n",
     "E:Undefined symbols for architecture arm64:"},
    {"make", P, "make[1]: *** [Makefile:12: all] Error 2\n",
     "E:*** [Makefile:12: all] Error 2 | X:2"},
    {"the same ending without make's stars is no exit code", P, "[Makefile:12: all] Error 2\n",
     "E:2"},
    {"make: no rule", P, "make: *** No rule to make target 'x'.  Stop.\n",
     "E:make: *** No rule to make target 'x'. Stop."},
    {"cmake", P, "CMake Error at CMakeLists.txt:5 (find_package):\n",
     "E:at CMakeLists.txt:5 (find_package): | L:CMakeLists.txt:5"},
    {"ninja", P, "FAILED: obj/a.o \nninja: build stopped: subcommand failed.\n",
     "E:FAILED: obj/a.o | E:ninja: build stopped: subcommand failed."},
    {"maven", P,
     "[ERROR] Failed to execute goal on project x: Could not resolve dependencies\n[INFO] "
     "BUILD FAILURE\n",
     "E:Failed to execute goal on project x: Could not resolve dependencies | E:BUILD FAILURE"},
    {"gradle", P, "> Task :app:compileJava FAILED\n\nFAILURE: Build failed with an exception.\n",
     "E:Task :app:compileJava FAILED | E:Build failed with an exception."},
    {"a build that went well", P,
     "   Compiling errors v0.1.0\n    Finished dev [unoptimized] target(s) in 0.5s\n", ""},
};

static void compilers(void **state)
{
    (void)state;
    signal_check(compilers_rows, WR_COUNT_OF(compilers_rows));
}

static const struct signal_case exceptions_rows[] = {
    {"python: the exception and its innermost frame", P,
     "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    f()\n  "
     "File \"b.py\", line 3, in f\n"
     "    raise ValueError(\"failed: bad\")\nValueError: failed: bad\n",
     "E:Traceback (most recent call last): | E:ValueError: failed: bad | S:File \"b.py\", line "
     "3, in f"},
    {"python: a chain gives both", P,
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: "
     "'x'\n\nDuring handling of the above "
     "exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "
     "\"b.py\", line 2, in g\n"
     "RuntimeError: y\n",
     "E:Traceback (most recent call last): | E:KeyError: 'x' | S:File \"a.py\", line 1, in f | "
     "E:RuntimeError: y | "
     "S:File \"b.py\", line 2, in g"},
    {"python: a traceback that is cut off keeps its last frame", P,
     "  File \"a.py\", line 1, in f\n  File \"b.py\", line 2, in g\n",
     "S:File \"b.py\", line 2, in g"},
    {"python: an exception of a library", P, "requests.exceptions.ConnectTimeout: pool timed out\n",
     "E:requests.exceptions.ConnectTimeout: pool timed out"},
    {"python: a warning with its place", P, "a.py:3: DeprecationWarning: use y\n",
     "W:DeprecationWarning: use y | L:a.py:3"},
    {"node: exception and top frame only", P,
     "TypeError: Cannot read properties of undefined (reading 'id')\n    at build "
     "(/r/s.ts:44:13)\n"
     "    at main (/r/m.ts:9:5)\n",
     "E:TypeError: Cannot read properties of undefined (reading 'id') | S:build "
     "(/r/s.ts:44:13)"},
    {"node: missing module", P,
     "Error: Cannot find module './x'\n    at node:internal/modules/cjs/loader:1143:15\n",
     "E:Cannot find module './x' | S:node:internal/modules/cjs/loader:1143:15"},
    {"node: two errors, two tops", P,
     "Error: a\n    at f (a.js:1:2)\n    at g (a.js:3:4)\nError: b\n    at h (b.js:5:6)\n",
     "E:a | S:f (a.js:1:2) | E:b | S:h (b.js:5:6)"},
    {"java: exception, cause, tops", P,
     "Exception in thread \"main\" java.lang.RuntimeException: outer\n\tat "
     "a.B.c(B.java:3)\n\tat a.B.main(B.java:9)\n"
     "Caused by: java.io.IOException: inner\n\tat a.D.e(D.java:7)\n\t... 2 more\n",
     "E:Exception in thread \"main\" java.lang.RuntimeException: outer | S:a.B.c(B.java:3) | "
     "E:Caused by: java.io.IOException: inner | S:a.D.e(D.java:7)"},
    {"ruby", P,
     "a.rb:3:in `f': undefined method `x' for nil:NilClass (NoMethodError)\n\tfrom a.rb:7:in "
     "`<main>'\n",
     "E:undefined method `x' for nil:NilClass (NoMethodError) | L:a.rb:3 | S:from a.rb:7:in "
     "`<main>'"},
    {"php", P, "PHP Fatal error:  Uncaught Error: Call to undefined function f() in /a/x.php:12\n",
     "E:Uncaught Error: Call to undefined function f() in /a/x.php:12 | L:/a/x.php:12"},
    {"php: spelt place", P, "PHP Warning:  Undefined variable $x in /a/x.php on line 12\n",
     "W:Undefined variable $x in /a/x.php on line 12 | L:/a/x.php:12"},
    {"dotnet: frame", P,
     "Unhandled exception. System.NullReferenceException: Object reference not set.\n"
     "   at A.B.C() in /a/P.cs:line 5\n   at A.B.D() in /a/P.cs:line 9\n",
     "E:Unhandled exception. System.NullReferenceException: Object reference not set. | "
     "S:A.B.C() in /a/P.cs:line 5"},
    {"sanitizer", P,
     "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200001\n"
     "    #0 0x4f1234 in main /a/x.c:12:3\n",
     "C:==12==ERROR: AddressSanitizer: heap-use-after-free on address <hex> | S:#<n> <hex> in "
     "main /a/x.c:12:3"},
    {"segmentation fault", P, "./run.sh: line 3: 1234 Segmentation fault      (core dumped) ./x\n",
     "C:./run.sh: line 3: 1234 Segmentation fault (core dumped) ./x"},
    {"code shown by a tool is no error", P,
     "    raise ValueError(\"failed to load\")\n    throw new Error('failed');\n", ""},
    {"a comment about failure is no error", P, "// this is called when the request failed\n", ""},
};

static void exceptions(void **state)
{
    (void)state;
    signal_check(exceptions_rows, WR_COUNT_OF(exceptions_rows));
}

static const struct signal_case tools_rows[] = {
    {"npm", P, "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm WARN deprecated x@1: old\n",
     "E:code ELIFECYCLE | E:errno 1 | W:deprecated x@1: old"},
    {"npm, newer", P, "npm error Missing script: \"build\"\n", "E:Missing script: \"build\""},
    {"yarn", P, "error Command failed with exit code 1.\n",
     "E:Command failed with exit code 1. | X:1"},
    {"pip", P, "ERROR: No matching distribution found for foo\n",
     "E:No matching distribution found for foo"},
    {"docker build", P,
     "ERROR: failed to solve: process \"/bin/sh -c make\" did not complete: exit code: 2\n",
     "E:failed to solve: process \"/bin/sh -c make\" did not complete: exit code: 2 | X:2"},
    {"docker daemon", P, "Error response from daemon: No such container: x\n",
     "E:response from daemon: No such container: x"},
    {"git", P, "fatal: not a git repository (or any of the parent directories): .git\n",
     "E:not a git repository (or any of the parent directories): .git"},
    {"git: conflict", P,
     "CONFLICT (content): Merge conflict in src/a.c\nAutomatic merge failed; fix conflicts and "
     "then commit the result.\n",
     "E:CONFLICT (content): Merge conflict in src/a.c | "
     "E:Automatic merge failed; fix conflicts and then commit the result."},
    {"git: push", P,
     " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to "
     "'origin'\n",
     "E:[rejected] main -> main (fetch first) | E:failed to push some refs to 'origin'"},
    {"kubectl", P, "Error from server (NotFound): pods \"x\" not found\n",
     "E:from server (NotFound): pods \"x\" not found"},
    {"kubectl: a pod in a loop", P, "web-1   0/1   CrashLoopBackOff   12%  3m\n",
     "E:web-1 0/1 CrashLoopBackOff <n>% <time>"},
    {"terraform", P,
     "\xe2\x95\xb7\n\xe2\x94\x82 Error: Unsupported argument\n\xe2\x94\x82 \n\xe2\x94\x82   on "
     "main.tf line 12, in resource \"x\":\n",
     "E:Unsupported argument | L:main.tf:12"},
    {"shell: unknown command", P, "bash: line 1: foo: command not found\n",
     "E:bash: line 1: foo: command not found"},
    {"shell: no such file", P, "cat: x.txt: No such file or directory\n",
     "E:cat: x.txt: No such file or directory"},
    {"permission", P, "mkdir: cannot create directory '/x': Permission denied\n",
     "E:mkdir: cannot create directory '/x': Permission denied"},
    {"connection", P, "curl: (7) Failed to connect to localhost port 8080: Connection refused\n",
     "E:curl: (7) Failed to connect to localhost port 8080: Connection refused"},
    {"killed", P, "Killed\n", "C:Killed"},
    {"time ran out", P, "Command timed out after 120 seconds\n",
     "C:Command timed out after <time>"},
    {"memory ran out", P, "fatal error: runtime: out of memory\n", "E:runtime: out of memory"},
    {"memory ran out, in words", P, "java: Out of memory\n", "C:java: Out of memory"},
    {"exit code of a tool's header, zero too", P,
     "Exit code: 0\nWall time: 1.2 seconds\nOutput:\nhello\n", "X:0"},
    {"exit code in words", P, "Process exited with code 3\n", "X:3"},
    {"exit code of a shell's echo", P, "EXIT: 1\n", "X:1"},
    {"exit code in brackets", P, "[exit 1]\n[exit 130] make\n", "X:1 | X:130"},
    {"a way out is no code", P, "[exit 1 of 3]\nexit 1 is to the left\n", ""},
    {"exit code of a driver", P, "step 3: rc=12\nrc=-9\n", "X:12 | X:-9"},
    {"part of another word is none", P, "src=1 rc=x arc=2 rc = 3\n", ""},
    {"elixir: an exception", P, "** (RuntimeError) boom\n    (app 0.1.0) lib/a.ex:3: A.f/1\n",
     "E:(RuntimeError) boom | S:(app 0.1.0) lib/a.ex:3: A.f/1"},
    {"exit code of a footer", P, "[Command finished with exit code 2]\n", "X:2"},
    {"exit status of cargo", P, "process didn't exit successfully: `x` (exit status: 101)\n",
     "X:101"},
    {"exit status of systemd", P, "x.service: Main process exited, code=exited, status=1/FAILURE\n",
     "X:1"},
    {"return code in a tag", P, "<returncode>1</returncode>\n", "X:1"},
    {"exit of a script is no exit code", P, "test -f x || exit 1\n", ""},
    {"bars of progress are looked at piece by piece", P, " 10%\r 20%\rerror: disk full\n",
     "E:disk full"},
    {"windows line ends", P, "error: a\r\nwarning: b\r\n", "E:a | W:b"},
    {"binary noise", P, "\x01\x02\xff\xfe\x80 error\x00 xx", ""},
};

static void tools(void **state)
{
    (void)state;
    signal_check(tools_rows, WR_COUNT_OF(tools_rows));
}

static const struct signal_case logs_rows[] = {
    {"level behind a time", G, "2024-01-02T03:04:05Z ERROR db: connection lost\n",
     "E:db: connection lost"},
    {"level in brackets", G, "[2024-01-02 03:04:05] [ERROR] disk full\n", "E:disk full"},
    {"the time does not count", G, "2024-01-02 03:04:05 ERROR x\n2025-02-03 13:14:15,678 ERROR x\n",
     "E:x"},
    {"a warning", G, "12:00:01 WARN slow query took 12ms\n", "W:slow query took <time>"},
    {"critical", G, "2024-01-02 CRITICAL: raid degraded\n", "C:raid degraded"},
    {"info is nothing", G, "2024-01-02 03:04:05 INFO started on port 8080\n", ""},
    {"info that says it failed", G, "2024-01-02 03:04:05 INFO request failed: bad token\n",
     "E:request failed: bad token"},
    {"journal", G, "Jan 02 12:00:00 host sshd[123]: error: kex protocol\n", "E:kex protocol"},
    {"journal: the process id does not count", G,
     "Jan 02 12:00:00 host app[1]: error: x\nJan 03 12:00:00 host app[2]: error: x\n", "E:x"},
    {"kernel", G, "[12345.678] Out of memory: Killed process 4321 (java)\n",
     "C:Out of memory: Killed process <n> (java)"},
    {"nginx error log", G,
     "2024/01/02 03:04:05 [error] 12#12: *1 open() \"/x\" failed (2: No such file or "
     "directory)\n",
     "E:12#<n>: *1 open() \"/x\" failed (2: No such file or directory)"},
    {"access log", G, "1.2.3.4 - - [02/Jan/2024:03:04:05 +0000] \"GET /x HTTP/1.1\" 500 12\n",
     "E:1.2.3.4 - - [<time>] \"GET /x HTTP/1.1\" 500 12"},
    {"access log: what went well", G,
     "1.2.3.4 - - [02/Jan/2024:03:04:05 +0000] \"GET /x HTTP/1.1\" 200 500\n", ""},
    {"logfmt", G, "time=\"2024-01-02T03:04:05Z\" level=error msg=\"cannot bind\" port=80\n",
     "E:\"cannot bind\" port=80"},
    {"logfmt that is well", G, "time=x level=info msg=\"errors=0\"\n", ""},
    {"klog", G, "E0102 03:04:05.678901    1 reflector.go:12] watch failed\n", "E:watch failed"},
    {"json lines", G,
     "{\"level\":\"error\",\"ts\":1700000000,\"msg\":\"boom\"}\n{\"level\":\"info\",\"msg\":"
     "\"ok\"}\n",
     "E:boom | E:level\":\"error"},
    {"hashes and ids do not count", G,
     "ERROR commit 1a2b3c4d5e not found for 123e4567-e89b-12d3-a456-426614174000\n"
     "ERROR commit 9f8e7d6c5b not found for 00000000-e89b-12d3-a456-42661417400a\n",
     "E:commit <hex> not found for <hex>"},
    {"names of temporary files do not count", G,
     "ERROR no /tmp/tmpab12/x.sock\nERROR no /tmp/tmpzz99/x.sock\n", "E:no /tmp/<tmp>/x.sock"},
    {"counters do not count", G, "ERROR attempt 3 [12/40] lost\nERROR attempt 4 [13/40] lost\n",
     "E:attempt <n> [<n>/<n>] lost"},
    {"other numbers do", G, "ERROR expected 400\nERROR expected 200\n",
     "E:expected 400 | E:expected 200"},
    {"ports the system chose do not", G, "ERROR from 10.0.0.1:54321\nERROR from 10.0.0.1:54399\n",
     "E:from 10.0.0.1:<n>"},
};

static void logs(void **state)
{
    (void)state;
    signal_check(logs_rows, WR_COUNT_OF(logs_rows));
}

static const struct signal_case what_is_no_signal_rows[] = {
    {"no errors, counted", P, "0 errors\n", ""},
    {"no errors, in words", P, "no errors found\n", ""},
    {"no errors, with a colon", P, "errors: 0\nErrors: 0\nerror: none\nerror=null\n", ""},
    {"none failed", P, "0 failed\nfailed: 0\nno failures\nfailed=0 changed=2\n", ""},
    {"identifiers", P,
     "error_handler called\nErrorBoundary mounted\nuse on_error here\nfailed_count\n", ""},
    {"names of files", P,
     "src/errors.go\nsrc/error/mod.rs\nerror.log\n-rw-r--r-- 1 u u 12 Jan  1 10:00 errors.go\n",
     ""},
    {"options", P, "  --error-limit <n>   how many\n  --fail-fast         stop early\n", ""},
    {"phrases about errors", P,
     "Improve error handling\nError handling was improved\nadd error messages\n", ""},
    {"numbered source", P, "    12\tif err != nil { return fmt.Errorf(\"failed: %w\", err) }\n",
     ""},
    {"numbered source with an arrow", P, "    12\xe2\x86\x92  throw new Error('failed')\n", ""},
    {"a list of files", P, "total 12\ndrwxr-xr-x 2 u u 4096 Jan 1 10:00 failed-jobs\n", ""},
    {"a place in a sentence", P, "listening on localhost:8080 and example.com:443\n", ""},
    {"times are no places", P, "12:34:56 started\n2024-01-02T03:04:05 ok\n", ""},
    {"a history", P, "1a2b3c4 Add warnings for failed agents\n", ""},
    {"tests that passed", P,
     "(pass) sync > returns an error when it failed [0.1ms]\n\xe2\x9c\x93 fails when "
     "permission denied\n",
     ""},
    {"the client's own cut", P, "Warning: truncated output (original token count: 21770)\n", ""},
    {"a heading", P, "======== FAILURES ========\n", ""},
    {"plain text", P, "hello\nworld\n", ""},
    {"nothing", P, "", ""},
    {"a blank line", P, "\n\n", ""},
};

static void what_is_no_signal(void **state)
{
    (void)state;
    signal_check(what_is_no_signal_rows, WR_COUNT_OF(what_is_no_signal_rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compilers), cmocka_unit_test(exceptions),        cmocka_unit_test(tools),
        cmocka_unit_test(logs),      cmocka_unit_test(what_is_no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
