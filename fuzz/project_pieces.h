/* project_pieces.h -- what fuzz_project makes requests of: messages and items of each API. Text
 * goes in where a piece has $T, an id for $I, a marker for $M. */
#ifndef WR_FUZZ_PROJECT_PIECES_H
#define WR_FUZZ_PROJECT_PIECES_H

static const char *const chat_messages[] = {
    "{\"role\":\"user\",\"content\":\"$T\"}",
    "{\"content\" : \"$T\", \"role\":\"assistant\"}",
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"$I\",\"type\":\"function\","
    "\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"make\\\"}\"}}]}",
    "{\"role\":\"assistant\",\"reasoning_content\":\"r\",\"content\":\"$T\",\"tool_calls\":[{"
    "\"id\":\"$I\","
    "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}},{\"id\":\"$I\",\"custom\":{\"input\":"
    "\"x\"}}]}",
    "{\"role\":\"tool\",\"tool_call_id\":\"$I\",\"content\":\"$T\"}",
    "{\"role\":\"tool\",\"tool_call_id\":\"$I\",\"content\":[{\"type\":\"text\",\"text\":\"$T\"$M},"
    "{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":\"$T\"$M}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$T\"$M},{\"type\":\"text\","
    "\"text\":\"$T\"$M},"
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}$M}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$T\"},{\"type\":\"text\","
    "\"text\":\"$T\"$M}]$M}",
    "{\"role\":\"system\",\"content\":\"$T\"$M}",
    "{\"role\":\"user\",\"content\":\"$T\",\"content\":\"again\"}",
    "{\"role\":\"nobody\",\"content\":[]}",
};

static const char *const response_items[] = {
    "{\"role\":\"user\",\"content\":\"$T\"}",
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
    "\"$T\"$M}]}",
    "{\"type\":\"reasoning\",\"id\":\"rs_$I\",\"summary\":[],\"encrypted_content\":\"e\"}",
    "{\"type\":\"function_call\",\"call_id\":\"$I\",\"name\":\"bash\",\"arguments\":\"{}\"}",
    "{\"type\":\"custom_tool_call\",\"call_id\":\"$I\",\"name\":\"apply_patch\",\"input\":\"x\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"$I\",\"output\":\"$T\"}",
    "{\"type\":\"custom_tool_call_output\",\"call_id\":\"$I\",\"output\":[{\"type\":\"input_text\","
    "\"text\":\"$T\"$M},"
    "{\"type\":\"input_image\"},{\"type\":\"input_text\",\"text\":\"$T\"$M}]}",
    "{\"type\":\"shell_call\",\"call_id\":\"$I\",\"action\":{\"commands\":[\"ls\"]}}",
    "{\"type\":\"shell_call_output\",\"call_id\":\"$I\",\"output\":[{\"stdout\":\"$T\",\"stderr\":"
    "\"$T\"},"
    "{\"outcome\":{\"type\":\"exit\",\"exit_code\":1},\"stdout\":\"$T\"}]}",
    "{\"type\":\"item_reference\",\"id\":\"$I\"}",
    "{\"type\":\"compaction\",\"encrypted_content\":\"e\"}",
    "{\"type\":\"mcp_approval_request\",\"id\":\"$I\"}",
    "{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"$I\",\"approve\":true}",
    "{\"type\":\"web_search_call\",\"id\":\"w\"}",
    "{\"type\":\"unheard_of\",\"call_id\":\"$I\"}",
};

static const char *const messages_messages[] = {
    "{\"role\":\"user\",\"content\":\"$T\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$T\"$M},{\"type\":\"image\","
    "\"source\":{}$M}]}",
    "{\"role\":\"assistant\",\"content\":\"$T\"}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":"
    "\"$I\"},"
    "{\"type\":\"text\",\"text\":\"$T\"$M},{\"type\":\"tool_use\",\"id\":\"$I\",\"name\":\"bash\","
    "\"input\":{}$M}]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"$I\",\"name\":\"read\","
    "\"input\":{}$M},"
    "{\"type\":\"tool_use\",\"id\":\"$I\",\"name\":\"read\",\"input\":{\"cache_control\":{}}}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"$I\",\"content\":"
    "\"$T\"$M},"
    "{\"type\":\"tool_result\",\"tool_use_id\":\"$I\",\"content\":[{\"type\":\"text\",\"text\":\"$"
    "T\"$M},"
    "{\"type\":\"text\",\"text\":\"$T\"$M}]},{\"type\":\"text\",\"text\":\"$T\"$M}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"$I\"}]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"server_tool_use\",\"id\":\"$I\"},"
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"$I\"},{\"type\":\"redacted_thinking\","
    "\"data\":\"d\"}]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"compaction\",\"content\":\"c\"$M}]}",
    "{\"role\":\"system\",\"content\":\"$T\"}",
};

/* Calls without an id have a name of their own, so that no result with an id may be theirs. */
static const char *const gemini_contents[] = {
    "{\"role\":\"user\",\"parts\":[{\"text\":\"$T\"}]}",
    "{\"parts\":[{\"text\":\"$T\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"A\"}}]}",
    "{\"role\":\"model\",\"parts\":[{\"text\":\"$T\"}]}",
    "{\"role\":\"model\",\"parts\":[{\"text\":\"t\",\"thought\":true},{\"text\":\"$T\","
    "\"thoughtSignature\":\"s\"},{\"functionCall\":{\"id\":\"$I\",\"name\":\"bash\",\"args\":"
    "{\"command\":\"ls\"}},\"thoughtSignature\":\"s\"}]}",
    "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"$I\",\"name\":\"read\"}},"
    "{\"functionCall\":{\"id\":\"$I\",\"name\":\"read\",\"args\":{}}}]}",
    "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"$I\",\"name\":\"read\","
    "\"response\":{\"output\":\"$T\"}}},{\"functionResponse\":{\"name\":\"bash\",\"id\":\"$I\","
    "\"response\":{\"content\":[{\"type\":\"text\",\"text\":\"$T\"},{\"type\":\"text\","
    "\"text\":\"$T\"}]}}},{\"text\":\"$T\"}]}",
    "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"glob\"}},{\"functionCall\":{"
    "\"name\":\"glob\"}}]}",
    "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"glob\",\"response\":{"
    "\"stdout\":\"$T\",\"stderr\":\"$T\"}}},{\"function_response\":{\"name\":\"glob\","
    "\"response\":{\"n\":1,\"note\":\"$T\"}}}]}",
    "{\"role\":\"function\",\"parts\":[{\"functionResponse\":{\"name\":\"glob\",\"response\":{"
    "\"error\":\"$T\"}}}]}",
    "{\"role\":\"model\",\"parts\":[{\"executableCode\":{}},{\"codeExecutionResult\":{}}]}",
    "{\"role\":\"nobody\",\"parts\":[]}",
};

#endif
