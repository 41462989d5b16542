/* limits.h -- every cap of Weir in one place.
 *
 * A number here is a promise: no buffer, depth, count or wait grows past it, and reaching it is
 * WEIR_LIMIT, never a crash. docs/limits.md is generated from this file by tools/limits-page.
 */
#ifndef WR_BASE_LIMITS_H
#define WR_BASE_LIMITS_H

enum {
    /* json */
    WR_JSON_DEPTH_MAX = 512,                   /* containers inside one another */
    WR_JSON_NODES_MAX = 4 * 1024 * 1024,       /* values and keys of one document */
    WR_JSON_BODY_BYTES_MAX = 64 * 1024 * 1024, /* one document; larger bodies are not read */

    /* memory */
    WR_ARENA_CHUNK_BYTES = 64 * 1024,        /* what an arena asks the system for at once */
    WR_ARENA_BYTES_MAX = 1024 * 1024 * 1024, /* one request, all of it */

    /* transcript */
    WR_MEMO_BYTES_MAX = 64 * 1024 * 1024,      /* what a memo of handles holds before it forgets */
    WR_STARTS_COUNT_MAX = 64,                  /* bodies whose beginnings an engine knows */
    WR_STARTS_BYTES_MAX = 64 * 1024 * 1024,    /* and all that it keeps of them */
    WR_TEXT_MEMO_BYTES_MAX = 64 * 1024 * 1024, /* and one of texts that were made */
    WR_SEGMENTS_MAX = 1024 * 1024,             /* payloads of one request */

    /* base */
    WR_YAML_DEPTH_MAX = 64,          /* lists and pairs of a YAML text inside one another */
    WR_YAML_EVENTS_MAX = 256 * 1024, /* values, and beginnings and ends of lists and pairs, in it */

    /* condense */
    WR_SIGNALS_MAX = 1024 * 1024,   /* distinct signals of one text */
    WR_SIGNAL_TEXT_BYTES_MAX = 256, /* of a signal; longer ones are compared by their front */
    WR_OUTPUT_SNIFF_BYTES_MAX = 64 * 1024,         /* of a text, where its kind is sought */
    WR_TERMINAL_TEXT_BYTES_MAX = 16 * 1024 * 1024, /* a longer text is not rendered */
    WR_TERMINAL_ROWS_MAX = 512,                    /* how far up the cursor reaches */
    WR_TERMINAL_COLUMNS_MAX = 4096,                /* how far right it may be sent */
    WR_TERMINAL_STREAM_BYTES_MAX = 256 * 1024,     /* of a stream, its end */
    WR_TERMINAL_VALUE_BYTES_MAX = 64 * 1024,       /* of a value or an error, its front */
    WR_FOCUS_WORDS_MAX = 256,                      /* words sought in one text */
    WR_KEEP_LINE_BYTES_MAX = 1000, /* of a line that is kept; what is longer loses its middle */
    WR_EXEMPT_CONFIRMATION_BYTES_MAX = 8 * 1024, /* what is said of an edit; more shows the file */
    WR_OUTLINE_ITEMS_MAX = 256 * 1024, /* definitions of one file; later ones are not listed */
    WR_OUTLINE_DEPTH_MAX = 64,         /* definitions inside one another; deeper ones are not */
    WR_OUTLINE_LINE_BYTES_MAX = 512,   /* of a line, where a definition is sought */

    /* policy */
    WR_METER_MEMO_COUNT = 16 * 1024,            /* texts whose counts a meter remembers */
    WR_METER_SEEN_COUNT = 64 * 1024,            /* and segments of bodies */
    WR_METER_EXACT_BYTES_MAX = 4 * 1024 * 1024, /* tokens of a longer one are estimated */
    WR_STAGE_PARAMS_MAX = 16,                   /* parameters of one stage */
    WR_STAGE_TOOLS_MAX = 32,                    /* tools one stage has rules for */
    WR_POLICY_STAGES_MAX = 12,                  /* stages of one policy */
    WR_POLICY_NAME_BYTES_MAX = 64,              /* its name */
    WR_TOOLS_BYTES_MAX = 1024,      /* what a session says of tools whose results stay whole, */
    WR_TOOLS_LEARNED_BYTES = 16,    /* and of that, for what was learnt */
    WR_POLICY_WHAT_BYTES_MAX = 512, /* and what it says of itself */
    WR_POLICIES_MAX = 64,           /* policies of one YAML text */
    WR_POLICIES_OLDER_MAX = 8, /* earlier readings of that text that sessions may still be under */
    WR_POLICIES_BYTES_MAX = 256 * 1024,              /* that text */
    WR_POLICIES_MEMORY_BYTES_MAX = 16 * 1024 * 1024, /* and what is kept of it */
    WR_FACT_RANGES_MAX = 8,                          /* line ranges kept of one file in a summary */
    WR_FACT_MESSAGES_MAX = 3,                        /* messages of one failure */
    WR_FACT_PLACES_MAX = 8,                          /* files one failure names */
    WR_FACT_STEPS_MAX = 5,                           /* next steps */
    WR_FACT_ITEMS_MAX = 256,                         /* items of a plan */
    WR_FACT_LINE_CHARS_MAX = 240,                    /* a sentence or a message in a summary */
    WR_FACT_COMMAND_CHARS_MAX = 120,                 /* a command line in a summary */
    WR_CONDENSE_TOKENS_MIN = 300,                    /* a shorter result is never condensed */
    WR_CONDENSE_BYTES_MAX = 2 * 1024 * 1024,         /* a longer one keeps its head and tail */
    WR_CONDENSE_LINES_MAX = 64 * 1024,               /* and one of more lines */
    WR_FOLD_GAIN_TOKENS_MIN = 32,                    /* a form that saves less is not taken */
    WR_FOLD_INSERTS_MAX = 4096,                      /* messages one fold puts in */
    WR_ORDER_BYTES_MAX = 512,                        /* what a user says of a session, one line */
    WR_ORDER_PINS_MAX = 64,                          /* pins of one session */
    WR_ODDS_LEARNED_PCT_MAX = 500,                   /* of the table's odds of a blind quote */
    WR_ORDERS_SAID_MAX = 4096,                       /* all that is ever said of one session */
    WR_FOLD_STATE_BYTES_MAX = 64 * 1024 * 1024,      /* a fold that is kept for the next request */

    /* engine */
    WR_OUTPUT_BYTES_MAX = 128 * 1024 * 1024,    /* one request as it leaves */
    WR_API_ANSWERS_MAX = 1024,                  /* answers that one request may ask for (`n`) */
    WR_CACHE_MARKERS_MAX = 4,                   /* the provider refuses a fifth */
    WR_PLAN_PIECES_MAX = 200,                   /* pieces that a plan lists, of each kind */
    WR_PLAN_HOLDS_MAX = 64,                     /* results that it lists of one summary */
    WR_MARKS_HELD_MAX = 256,                    /* marks that wait for the store to open again */
    WR_MARKS_LOOK_BACK_TURNS = 64,              /* how far back the last request sent is sought */
    WR_PROJECT_NEW_MS_MAX = 25,                 /* for what is new in a request, unless told */
    WR_PROJECT_MS_MAX = 2000,                   /* for all of it, unless told; then it goes exact */
    WR_FOLD_MEMO_COUNT_MAX = 64,                /* folds an engine keeps; the least used goes */
    WR_FOLD_MEMO_BYTES_MAX = 128 * 1024 * 1024, /* and all of them together */

    /* tokens */
    WR_TOKENS_PIECE_BYTES_MAX =
        64 * 1024 * 1024,                    /* one piece of a streamed text, kept until it ends */
    WR_TOKENS_TABLE_COUNT_MAX = 1024 * 1024, /* tokens of a table that a user names */
    WR_TOKENS_TABLE_BYTES_MAX = 64 * 1024 * 1024, /* its file */
    WR_TOKENS_TOKEN_BYTES_MAX = 4096,             /* one token of it */

    /* models */
    WR_MODELS_TEXT_BYTES_MAX = 4 * 1024 * 1024, /* a registry, read whole */
    WR_MODELS_OVERRIDE_BYTES_MAX = 256 * 1024,  /* a user's YAML */
    WR_MODELS_COUNT_MAX = 4096,                 /* models, families or aliases of one registry */
    WR_MODELS_BYTES_MAX = 32 * 1024 * 1024,     /* memory of one registry */
    WR_MODEL_NAME_BYTES_MAX = 256,              /* a name; what is longer is no name of ours */
    WR_MODEL_TIERS_MAX = 4,                     /* price tiers of one model */
    WR_MODEL_PATTERNS_MAX = 8,                  /* patterns of one family */
    WR_MODEL_TOKENS_MAX = 1000 * 1000 * 1000,   /* a window, or one field of a usage */
    WR_MODEL_PRICE_MAX = 1000 * 1000 * 1000,    /* micro-dollars a million tokens: 1,000 USD */
    WR_WINDOW_TOKENS_MIN = 256, /* a smaller window in an error text is not believed */
    WR_SERVER_BODY_BYTES_MAX = 4 * 1024 * 1024, /* what a local server says about itself */
    WR_OVERFLOW_TEXT_BYTES_MAX = 8 * 1024,      /* of an error body, the part that is read */
    WR_IMAGE_HEADER_BYTES_MAX = 1024 * 1024,    /* how far into an image its size is sought */
    WR_CALIBRATION_MODELS_MAX = 64,             /* models calibrated at once; the oldest goes */
    WR_LEDGER_CALIBRATIONS_MAX = 256,           /* models that a store knows the count of */
    WR_CALIBRATION_TEXT_BYTES_MAX = 256 * 1024, /* a saved calibration */
    WR_NEAR_COUNT_PCT_MIN = 90,  /* of our count: below it a server near by has cut the prompt */
    WR_NEAR_LOADED_PCT_MAX = 95, /* of its window: from there on it may have */

    /* transcript */
    WR_SHELL_TEXT_BYTES_MAX = 1024 * 1024, /* a longer command line is one run, unread */
    WR_SHELL_SCRIPTS_MAX = 4,              /* `sh -c` inside `sh -c` */
    WR_SHELL_GROUPS_MAX = 64,              /* groups and substitutions inside one another */
    WR_SHELL_TOKENS_MAX = 32 * 1024,       /* words and operators of one command line */
    WR_SHELL_REDIRECTS_MAX = 16,           /* of one command */
    WR_SHELL_HEREDOCS_MAX = 16,            /* begun on one line */
    WR_SHELL_EFFECTS_MAX = 256,            /* of one command line */
    WR_SHELL_RANGES_MAX = 16,              /* line ranges one command prints */
    WR_PATH_PARTS_MAX = 64,                /* names in a path that are looked at */
    WR_STALE_PARTS_MAX = 16,               /* and by which parts of it others are found */
    WR_STALE_PATH_BYTES_MAX = 4096,        /* a longer path may be any file */
    WR_TOOL_NAME_BYTES_MAX = 256,          /* a longer name is no tool of ours */
    WR_TOOL_ARGUMENTS_BYTES_MAX = 16 * 1024 * 1024, /* of one call; larger ones give no handles */
    WR_TOOL_PATHS_MAX = 256,                        /* files one call names */
    WR_TOOL_RESULT_HEAD_BYTES = 4 * 1024,           /* of a result, where headers are sought */
    WR_TOOL_RESULT_TAIL_BYTES = 4 * 1024,           /* and footers */
    WR_TOOL_RESULT_CUT_BYTES_MAX = 1024 * 1024,     /* and the mark of a cut in the middle */

    /* store */
    WR_STORE_PATH_BYTES_MAX = 16 * 1024,            /* of the store's file, as a URI */
    WR_STORE_NAME_BYTES_MAX = 512,                  /* a tenant, a session, a model */
    WR_STORE_MARK_BYTES_MAX = 4 * 1024,             /* a mark's value */
    WR_STORE_PIN_BYTES_MAX = 64 * 1024,             /* a pin's value */
    WR_STORE_ARTIFACT_BYTES_MAX = 64 * 1024 * 1024, /* one original: as large as a body */
    WR_STORE_BATCH_COUNT_MAX = 1024 * 1024,         /* artifacts, marks or pins of one commit */
    WR_STORE_BUSY_MS = 1000,                        /* a locked store is waited for, unless told */
    WR_STORE_AWAY_MS = 1500,                        /* a database is waited for, unless told */
    WR_STORE_START_MS = 10000,                      /* and by a server that starts */
    WR_STORE_GC_MS = 10 * 60 * 1000,                /* and for what is to leave */
    WR_STORE_KEEP_MS = 10000,                       /* a database is given for rows of requests */
    WR_STORE_KNOWN_BYTES_MAX = 8 * 1024 * 1024,     /* that a connection knows of a session */
    WR_STORE_CHUNK_BYTES = 1024 * 1024,             /* of an original in one row of a database */
    WR_STORE_TOUCH_MS = 100,                   /* between two writes of when a session was used */
    WR_STORE_ROOM_BYTES = 256 * 1024,          /* that must fit where a disk was full */
    WR_STORE_WAL_BYTES_MAX = 16 * 1024 * 1024, /* of the log that is kept between checkpoints */
    WR_STORE_EXPIRED_COUNT_MAX = 1024 * 1024,  /* handles remembered as expired; the oldest go */
    WR_STORE_MEMORY_BYTES_MAX = 256 * 1024 * 1024, /* a store in memory, unless told */
    WR_LEDGER_LINE_BYTES_MAX = 256 * 1024,         /* a request's row: its line of the log */
    WR_LEDGER_REPORT_BYTES_MAX =
        4 * 1024 * 1024,                         /* a session's last report; a longer is not kept */
    WR_LEDGER_SAID_BYTES_MAX = 16 * 1024 * 1024, /* a body that is kept as it came, or was sent */
    WR_LEDGER_ROWS_MAX = 4096,                   /* added at once */
    WR_LEDGER_NOTES_MAX = 128,                   /* of a session; the oldest give way */
    WR_LEDGER_NOTE_BYTES_MAX = 256 * 1024,       /* a note for a later process */
    WR_RECALL_RANGES_MAX = 64,                   /* line ranges of one recall */
    WR_RECALL_PATTERN_BYTES_MAX = 4 * 1024,      /* a pattern */
    WR_RECALL_CONTEXT_LINES_MAX = 1000,          /* lines shown around a match, each side */
    WR_RECALL_STEPS_MAX = 500 * 1000 * 1000,     /* a search, all its lines together */
    WR_RECALL_LINE_STEPS_MIN = 20 * 1000,        /* and what every line may take of it */
    WR_RECALL_LINE_STEPS_MAX = 10 * 1000 * 1000, /* at most */
    WR_RECALL_MATCH_BYTES_MAX = 16 * 1024 * 1024, /* memory of one match */
    WR_RECALL_PAGE_TOKENS_MAX = 8 * 1024,         /* a page for the tool */
    WR_OWN_RECALLS_MAX = 4, /* by the proxy itself, for one answer; more are refused in words */
    WR_OWN_MEMO_BYTES_MAX = 32 * 1024 * 1024, /* of exchanges that a thread remembers */
    WR_OWN_ID_BYTES_MAX = 512,                /* of an answer, to be found again */
    WR_OWN_LEGS_MAX = 6,                      /* times that a provider is asked for one answer */
    WR_OWN_QUIET_MS = 5000, /* a stream that has nothing to say between legs sends a sign of life */

    /* session */
    WR_SESSION_PATH_BYTES_MAX = 4096,             /* a path below a session's directory */
    WR_SESSION_NAME_BYTES_MAX = 128,              /* of a session, a skill or a note */
    WR_JOURNAL_LINE_BYTES_MAX = 64 * 1024 * 1024, /* one event */
    WR_JOURNAL_CALLS_MAX = 256,                   /* calls of one answer */
    WR_JOURNAL_ITEMS_MAX = 1024,                  /* items of one answer */
    WR_JOURNAL_KEPT_MAX = 4096,                   /* messages that a cut names as kept */
    WR_THREAD_BYTES_MAX = 1024 * 1024 * 1024,     /* what a session holds in memory */
    WR_STATE_TEXT_CHARS_MAX = 200,                /* of a message in state.yaml, its front */
    WR_STATE_HELD_MAX = 64 * 1024,         /* messages a checkpoint names; more: it has none */
    WR_STATE_BYTES_MAX = 64 * 1024 * 1024, /* a checkpoint that is read */
    WR_PAST_PART_BYTES = 16 * 1024 * 1024, /* of a past that is summarised, read at once */
    WR_PIECES_BYTES_MAX = 1024 * 1024,     /* what tools or a prompt are made of, in a line */
    WR_SETTINGS_BYTES_MAX = 64 * 1024,     /* a session's configuration */
    WR_SESSION_REFUSALS_MAX = 2,           /* overflows in a row that are compacted for */
    WR_SESSION_IMAGE_BYTES_MAX = 5 * 1024 * 1024,   /* of one image: more is refused by providers */
    WR_SESSION_IMAGES_BYTES_MAX = 20 * 1024 * 1024, /* of one request; providers refuse 32 MB */
    WR_SESSION_IMAGES_MAX = 16,                     /* images of one message of the user */
    WR_SESSION_TOOLS_COUNT_MAX = 1024,              /* tools of one session */
    WR_ACTOR_MESSAGES_DEFAULT = 1000,               /* messages held where no window is known */
    WR_PROMPT_SECTIONS_MAX = 256,                   /* sections of one prompt */
    WR_PROMPT_FILE_BYTES_MAX = 1024 * 1024,         /* AGENT.md, a skill, a note */
    WR_PROMPT_SKILLS_MAX = 512,                     /* skills of one agent */
    WR_PROMPT_TROUBLES_MAX = 64,                    /* files that could not be read, told apart */
    WR_PROMPT_LINE_CHARS_MAX = 1024,                /* a description in an index */
    WR_SUBAGENT_ANSWER_TOKENS = 2000,               /* what a parent gets of it, unless told */

    /* quality */
    WR_QUALITY_FAILED_EDIT_BYTES_MAX = 4096, /* of a result that says that an edit does not fit */
    WR_QUALITY_LOOK_BACK_CALLS = 512,   /* calls or results among which an earlier one is sought */
    WR_QUALITY_MISSING_BYTES_MAX = 512, /* of a recall's result that may say it found nothing */
    WR_QUALITY_BLOCKS_MAX = 16 * 1024,  /* segments of one prompt that are remembered */
    WR_QUALITY_TABLE_BLOCKS_MAX = 1024 * 1024, /* and of all prompts; the oldest give way */
    WR_QUALITY_PROMPTS_MAX = 1024,     /* prompts remembered for the next of their session */
    WR_QUALITY_BUCKET_BYTES_MAX = 480, /* a learning bucket's name */
    WR_QUALITY_BUCKETS_MAX = 4096,     /* buckets that are looked at */
    WR_REPORT_NAMES_MAX = 256,         /* agents or models of one report; the rest is "other" */
    WR_REPORT_HOURS_MAX = 64 * 1024,   /* hours of one report that had requests */
    WR_QUALITY_SAMPLES_MAX = 256,      /* samples that wait to be kept; one more is lost */

    /* ledger */
    WR_TALLY_LANES_MAX = 1024 * 1024, /* sessions remembered while rows are added up */

    /* net */
    WR_NET_HEAD_BYTES_MAX = 64 * 1024, /* of a request or an answer: first line and headers */
    WR_NET_HEADERS_MAX = 200,          /* headers of one message */
    WR_NET_CHUNK_EXTRA_BYTES_MAX = 16 * 1024, /* of a body: chunk extensions and trailers, all */
    WR_NET_BODY_BYTES_MAX = 32 * 1024 * 1024, /* a longer body is streamed through unread */
    WR_NET_QUEUED_BYTES_MAX = 64 * 1024, /* bytes waiting for a slow reader: the writer pauses */
    WR_NET_QUEUED_BYTES_LOW = 16 * 1024, /* and goes on below this */
    WR_NET_CONNECTIONS_MAX = 8192,       /* open at once; one more is answered 503 */
    WR_NET_REFUSED_MAX = 8,              /* of those at once; the next wait to be accepted */
    WR_NET_FDS_KEPT = 48, /* descriptors for all but clients and upstreams: store, logs, those 8 */
    WR_NET_HEAD_MS_MAX = 15 * 1000,              /* for a client to send the head of a request */
    WR_NET_BODY_IDLE_MS_MAX = 60 * 1000,         /* between two pieces of its body */
    WR_NET_KEEP_MS_MAX = 120 * 1000,             /* between two requests of one connection */
    WR_NET_WRITE_IDLE_MS_MAX = 600 * 1000,       /* for a client that takes no byte of its answer */
    WR_NET_REPLAYED_BYTES_MAX = 4 * 1024 * 1024, /* of an unread body, kept to be sent again */
    WR_NET_CONNECT_MS_MAX = 30 * 1000,           /* to reach the upstream */
    WR_NET_UPSTREAM_CONNECTIONS_MAX = 256,       /* idle ones that are kept for the next request */
    WR_NET_TLS_RECORD_BYTES = 16 * 1024,         /* plain text of one record of TLS */
    WR_NET_EVENT_BYTES_MAX = 1024 * 1024,        /* one event of a stream, where it is read along */
    WR_NET_FRAME_HEADERS_BYTES_MAX = 128 * 1024, /* of one frame of an AWS event stream */
    WR_NET_FRAMES_SOUGHT_MAX = 4096, /* of them, whose events have not come out again yet */
    WR_SSE_NAME_BYTES_MAX = 256,     /* the name of an event */
    WR_NET_DECODED_BYTES_MAX = 64 * 1024 * 1024, /* a compressed body, unpacked */

    /* otel */
    WR_OTEL_HEADERS_MAX = 16,              /* headers that are sent along */
    WR_OTEL_RESOURCE_MAX = 16,             /* attributes of the resource */
    WR_OTEL_INTERVAL_MS = 10 * 1000,       /* between two exports, unless told */
    WR_OTEL_INTERVAL_MS_MAX = 3600 * 1000, /* that may be told */
    WR_OTEL_TIMEOUT_MS = 10 * 1000,        /* for the receiver's answer, unless told */
    WR_OTEL_SPANS_MAX = 2048,              /* spans that wait; one more is dropped and counted */
    WR_OTEL_BATCH_SPANS = 512,             /* that do not wait for the interval's end */
    WR_OTEL_BYTES_MAX = 8 * 1024 * 1024,   /* of one export */
    WR_OTEL_ANSWER_BYTES_MAX = 64 * 1024,  /* of what the receiver says to it */
    WR_OTEL_TRIES_MAX = 5,                 /* of one batch of spans; then it is dropped */
    WR_OTEL_BACKOFF_MS_MAX = 60 * 1000,    /* between two of them, whatever the receiver asks */
    WR_OTEL_SERIES_MAX = 256,              /* series of metrics; all others are counted as one */
    WR_OTEL_DRAIN_MS_MAX = 2 * 1000,       /* for the last export, once told to stop */

    /* mcp */
    WR_MCP_LINE_BYTES_MAX = 64 * 1024 * 1024, /* one message on stdin */
    WR_MCP_BODY_BYTES_MAX = 1024 * 1024,      /* one message over HTTP */
    WR_MCP_DEPTH_MAX = 64,                    /* containers inside one another in a message */
    WR_MCP_ID_BYTES_MAX = 1024,               /* of a request's id; a longer one is refused */
    WR_MCP_ANSWER_BYTES_MAX = 1024 * 1024,    /* one answer */
    WR_MCP_PAGE_BYTES_MAX = 36 * 1024,        /* a page: Codex cuts results at 40,000 bytes */
    WR_MCP_CALLS_MAX = 64, /* calls over HTTP that wait or run; one more is answered 503 */

    /* what users and teams have spent */
    WR_SPEND_HOLD_MS = 2 * 60 * 60 * 1000, /* after which a request that never ended has ended */
    WR_SPEND_KEEP_DAYS = 400,              /* that counters of past periods are kept */

    /* proxy */
    WR_PROXY_CONFIG_BYTES_MAX = 256 * 1024, /* weir.yaml */
    WR_PROXY_RELOADS_MAX = 1024,            /* times that it is read again */
    WR_PROXY_UPSTREAMS_MAX = 32,            /* upstreams it may name */
    WR_PROXY_PLACES_MAX = 8,                /* places of one upstream */
    WR_PROXY_PLACED_MAX = 16 * 1024,        /* sessions whose place is remembered */
    WR_PROXY_REST_MS = 15 * 1000,           /* that a place is not asked after it failed */
    WR_PROXY_REST_MS_MAX = 15 * 60 * 1000,  /* the longest, whatever it asks for itself */
    WR_PROXY_WEIGHT_MAX = 1000,             /* of a place */
    WR_PROXY_TOKENS_MAX = 256,              /* access tokens it may name */
    WR_PROXY_USERS_MAX = 1024,              /* users it may name */
    WR_PROXY_USER_TOKENS_MAX = 4096,        /* tokens of all of them together */
    WR_PROXY_USER_NAME_BYTES_MAX = 32,      /* of a user's or a team's name */
    WR_PROXY_SHARES_MAX = 1024,             /* sets of labels that its metrics tell apart */
    WR_PROXY_BUDGETS_MAX = 256,             /* budgets of users and teams it may name */
    WR_PROXY_GATE_JOBS_MAX = 4096, /* requests whose budget is being asked; one more is refused */
    WR_PROXY_KEY_PATHS_MAX = 32,   /* other paths that a key which Weir holds is shown at */
    WR_PROXY_ORIGINS_MAX = 64,     /* origins of pages it may allow */
    WR_PROXY_HOSTS_MAX = 64,       /* names of itself it may allow on loopback */
    WR_PROXY_RULES_MAX = 64,       /* rules of its rollout */
    WR_PROXY_SESSIONS_MAX = 16 * 1024, /* sessions whose mode is remembered */
    WR_PROXY_SESSION_BYTES_MAX = 256,  /* of a session's name; a longer one is hashed */
    WR_PROXY_ANSWER_BYTES_MAX =
        4 * 1024 * 1024,                 /* of an answer that is no stream, where it is read */
    WR_PROXY_CALLS_MAX = 64,             /* calls kept of one answer */
    WR_PROXY_CALL_BYTES_MAX = 64 * 1024, /* of a call's arguments; longer ones are not kept */
    WR_PROXY_ANSWERS_MAX = 1024,         /* answers whose calls are kept */
    WR_PROXY_ANSWERS_BYTES_MAX = 16 * 1024 * 1024, /* and all of them together */
    WR_PROXY_THREADS = 2,                          /* that project, where the store is a file */
    WR_PROXY_DATABASE_THREADS = 24,                /* and where it is a database */
    WR_PROXY_JOBS_MAX = 256,   /* requests waiting for a projection; one more is exact */
    WR_PROXY_DEADLINE_MS = 25, /* for what is new in a request; past it that stays whole */
    WR_PROXY_DEPARTURES_MAX =
        4096, /* conversations whose last request left otherwise than marked */
    WR_PROXY_PROJECT_MS_MAX = 2000,    /* for a projection; past it the request goes as it came */
    WR_PROXY_DRAIN_MS_MAX = 30 * 1000, /* for open requests, once told to stop */
    WR_PROXY_LISTEN_MS_MAX = 2 * 1000, /* for a port to be free: one killed leaves it a moment */
    WR_PROXY_LOG_BYTES_MAX = 16 * 1024 * 1024, /* of the log before it is rotated */
    WR_PROXY_LOG_FILES_MAX = 5,                /* rotated logs that are kept */
    WR_PROXY_LEDGER_ROWS_MAX = 4096,           /* rows that wait for the store; one more is lost */
    WR_PROXY_LEDGER_BYTES_MAX = 32 * 1024 * 1024, /* and all of them together */
    WR_PROXY_SAID_BYTES_MAX = 64 * 1024 * 1024,   /* bodies that wait to be kept */
    WR_PROXY_LEDGER_GROUP_MAX = 256,              /* rows of one commit */
    WR_PROXY_LEDGER_MS = 200,                     /* that the first of them waits for others */
    WR_PROXY_NOTE_WAIT_MS = 1000,                 /* for another node to keep what it answered */
    WR_PROXY_NOTE_WAITERS_MAX = 4, /* threads that wait so; ids that nobody gave cannot take all */
    WR_PROXY_SHADOW_BYTES_MAX = 64 * 1024 * 1024,   /* originals held for shadow decisions */
    WR_TRAFFIC_SESSIONS_MAX = 256 * 1024,           /* sessions that the page lists */
    WR_TRAFFIC_INDEX_BYTES_MAX = 256 * 1024 * 1024, /* of their names and words */
    WR_TRAFFIC_READ_MS = 250,                       /* of rows read for one answer */
    WR_TRAFFIC_INDEXES_MAX = 16,                    /* tenants whose sessions are in memory */
    WR_TRAFFIC_CALLS_MAX = 64,                      /* calls of the page that wait */
    WR_TRAFFIC_BODY_BYTES_MAX = 64 * 1024,          /* a call of the page */
    WR_TRAFFIC_ANSWER_BYTES_MAX = 64 * 1024 * 1024, /* and its answer */
    WR_TRAFFIC_STREAMS_MAX = 64,                    /* pages that listen to what happens */
    WR_TRAFFIC_POLL_MS = 500,                       /* between two looks for new rows for those */
    WR_TRAFFIC_PAGE_MAX = 200,                      /* sessions in one answer */
    WR_TRAFFIC_HITS_MAX = 200,                      /* lines that a search in originals gives */
    WR_SIDECAR_CALLS_MAX = 64,                      /* calls about sessions that wait */
    WR_STEER_CALLS_MAX = 64,                        /* calls that say something of a session */
    WR_STEER_BODY_BYTES_MAX = 64 * 1024,            /* one of them */
    WR_SIDECAR_BODY_BYTES_MAX = 32 * 1024 * 1024,   /* a call about a session */
    WR_SIDECAR_ANSWER_BYTES_MAX = 96 * 1024 * 1024, /* and its answer */
    WR_CALL_PAGE_CALLS_MAX = 256,                   /* calls of the library over HTTP that wait */
    WR_CALL_PAGE_BODY_BYTES_MAX = 64 * 1024 * 1024, /* one of them */
    WR_CALL_PAGE_ANSWER_BYTES_MAX = 192 * 1024 * 1024, /* and its answer */

    /* install */
    WR_INSTALL_FILE_BYTES_MAX = 16 * 1024 * 1024, /* a settings file that is edited */
    WR_INSTALL_FILES_MAX = 32,                    /* that one install changes */

    /* agent */
    WR_AGENT_TOOL_BYTES_MAX = 512 * 1024 * 1024,   /* memory of one call of a tool */
    WR_AGENT_FILE_BYTES_MAX = 64 * 1024 * 1024,    /* a file that is read or changed */
    WR_AGENT_READ_BYTES_MAX = 256 * 1024,          /* of one reading, listing or search */
    WR_AGENT_READ_LINES = 2000,                    /* lines of one reading, unless told */
    WR_AGENT_MATCH_BYTES_MAX = 400,                /* of a line that a search shows */
    WR_AGENT_FOLDERS_MAX = 100 * 1000,             /* folders of one search, entries of one list */
    WR_AGENT_GREP_LINES = 1000 * 1000,             /* lines among which a search divides its work */
    WR_AGENT_PROCESSES_MAX = 256,                  /* commands at once; ended ones make room */
    WR_AGENT_OUTPUT_BYTES_MAX = 256 * 1024 * 1024, /* that one may print; then it is ended */
    WR_AGENT_ANSWER_BYTES_MAX = 32 * 1024 * 1024,  /* a model's answer */
    WR_AGENT_BLOCKS_MAX = 1024,                    /* its blocks, or its calls */
    WR_AGENT_TRIES_MAX = 4,                        /* of one request to a provider */
    WR_AGENT_RETRY_S_MAX = 120,                    /* between them; a longer wait is an error */
    WR_AGENT_IDLE_S_MAX = 30 * 60,                 /* without a byte of an answer: it broke off */
    WR_AGENT_UNDO_BYTES_MAX = 64 * 1024 * 1024,    /* of files as they were before changes */
    WR_AGENT_PASTE_BYTES_SHOWN = 1000,             /* of a pasted line; a longer one is a word */
    WR_AGENT_TYPED_BYTES_MAX = 64 * 1024,          /* of the line that is typed; then it is full */
    WR_AGENT_QUIET_MS = 500,                       /* without a key before a question is asked */
    WR_AGENT_HISTORY_LINES_MAX = 1000,             /* lines that Up and Ctrl+R find */
    WR_AGENT_HISTORY_LINE_BYTES_MAX = 16 * 1024,   /* a longer line is not kept for them */
    WR_AGENT_HISTORY_BYTES_MAX = 4 * 1024 * 1024,  /* of the file that keeps them */
    WR_AGENT_LARGE_RESULT_BYTES = 80 * 1000,       /* from here on a result is a file too */
    WR_AGENT_CHOICES_MAX = 500,                    /* names that Tab offers */
    WR_AGENT_SUMMARY_BYTES_MAX = 2 * 1024 * 1024,  /* of a conversation that a model summarises */
    WR_AGENT_MCP_SERVERS_MAX = 32,                 /* servers of tools that --config names */
    WR_AGENT_MCP_PAIRS_MAX = 32,                   /* variables or headers of one */
    WR_AGENT_MCP_TOOLS_MAX = 240,                  /* tools of all of them; more are left out */
    WR_AGENT_MCP_PAGES_MAX = 64,                   /* of one server's list of tools */
    WR_AGENT_MCP_BYTES_MAX = 64 * 1024 * 1024,     /* one message of a server */
    WR_AGENT_MCP_REPLIES_BYTES_MAX = 64 * 1024,    /* to its own requests, while it reads none */
    WR_AGENT_MCP_LOG_BYTES_MAX = 1024 * 1024,      /* of what it logs; then that begins anew */
    WR_AGENT_MCP_START_S = 30,                     /* until a server has listed its tools */
    WR_AGENT_MCP_CALL_S = 120,                     /* for a call of a tool, unless told */
    WR_AGENT_MCP_CALL_S_MAX = 3600,                /* the most that can be told */
    WR_AGENT_WAIT_S = 30,                          /* for a command to end, unless told */
    WR_AGENT_WAIT_S_MAX = 600,                     /* the most that can be told */

    /* compare */
    WR_COMPARE_FILES_MAX = 500 * 1000,        /* files of a working directory that is copied */
    WR_COMPARE_TREE_MIB_MAX = 8 * 1024,       /* and how large it may be, in MiB */
    WR_COMPARE_DEPTH_MAX = 64,                /* folders in one another */
    WR_COMPARE_TASKS_MAX = 64,                /* tasks of one suite */
    WR_COMPARE_SESSIONS_MAX = 128 * 1024,     /* of one holdout */
    WR_COMPARE_RUNS_MAX = 1000,               /* of one task in each arm */
    WR_COMPARE_CHECK_MS_MAX = 10 * 60 * 1000, /* for a check to end */
    WR_COMPARE_END_MS_MAX = 10 * 1000,        /* for an agent that is told to end, to do so */
    WR_COMPARE_MEMORY_BYTES_MAX = 256 * 1024 * 1024, /* what is kept of all runs */

    /* launch */
    WR_LAUNCH_LOCK_BYTES_MAX = 16 * 1024, /* of the file by which a server is found */
    WR_LAUNCH_SETTINGS_BYTES_MAX =
        1024 * 1024, /* of an agent's own settings, where they are read */
    WR_LAUNCH_MEMORY_BYTES_MAX = 16 * 1024 * 1024, /* for starting one agent */
    WR_LAUNCH_START_MS_MAX = 60 * 1000,            /* for a server to begin to serve */
    WR_LAUNCH_HEALTH_MS_MAX = 5 * 1000,            /* for a server to say that it is well */
    WR_LAUNCH_ROWS_MS_MAX = 5 * 1000,              /* for the last rows of a run to be written */
    WR_LAUNCH_UPSTREAM_MS_MAX = 10 * 1000,         /* for an upstream to answer the doctor */
    WR_LAUNCH_RECALL_MS_MAX = 10 * 1000,           /* for a recall server to answer the doctor */
    WR_LAUNCH_RUN_DIRS_MAX = 1024,                 /* folders of runs that are looked at */
    WR_LAUNCH_RUN_DEPTH_MAX = 64,                  /* folders in one another in a run's folder */
    WR_LAUNCH_RUN_FOLDERS_MAX = 100000,            /* that are taken away with it */

    /* hook */
    WR_HOOK_SESSION_BYTES_MAX = 128, /* of a session's name; the rest of a longer one is cut */
    WR_HOOK_BYTES_MIN = 300,    /* of a result that is looked at: no shorter one is condensed */
    WR_HOOK_MS = 2000,          /* for all of it, unless told; past it the result stays whole */
    WR_HOOK_MS_MAX = 60 * 1000, /* the most that can be told */
    WR_HOOK_PARENTS_MAX = 8,    /* shells between an agent and what it starts */

    /* the laboratory */
    WR_RIVAL_ANSWER_MS_MAX = 120 * 1000, /* for a proxy under test to answer one request */
    WR_RIVAL_BODIES_MAX = 64,            /* that it may send on for one request */
    WR_SIMULATE_STORE_BYTES_MAX =
        1024 * 1024 * 1024,                       /* originals of one session under one policy */
    WR_PROMPT_CACHE_KEYS_MAX = 64 * 1024,         /* places of a simulated cache; a power of two */
    WR_EVIDENCE_STRINGS_MAX = 64 * 1024 * 1024,   /* strings of one session that are indexed */
    WR_SESSION_TOOLS_MAX = 4096,                  /* tools of one session that are offered */
    WR_SESSION_COMPACTIONS_MAX = 1024,            /* of one session; later ones are not seen */
    WR_IMPORT_FILE_BYTES_MAX = 512 * 1024 * 1024, /* a log file, as it lies and inflated */
    WR_IMPORT_LINE_BYTES_MAX = 64 * 1024 * 1024,  /* a longer line of a log is skipped */
    WR_IMPORT_SNIFF_LINES_MAX = 64,               /* of a log, where its format is sought */
    WR_IMPORT_CONTENT_DEPTH_MAX = 8,              /* blocks of content inside one another */
    WR_IMPORT_PATH_BYTES_MAX = 4096,              /* a longer path is not walked */
    WR_IMPORT_DEPTH_MAX = 32,                     /* folders inside one another */
    WR_IMPORT_FILES_MAX = 1024 * 1024,            /* files of one walk */

    /* own recall */
    WR_JOINED_LEGS_MAX = 64, /* answers of a provider that a client is shown as one */
    WR_OWN_MEMBERS_MAX = 32, /* members of the messages that such an answer is joined from */
};

#endif
