#include "lab/import.h"

#include "base/span.h"
#include "lab/test_import_case.h"

static const struct import_case cases[] = {
    {"claude: blocks of one output are one message, and results follow their calls", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'text','text':'I look'}]}}\n"
     "{'type':'assistant','uuid':'c','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t1','name':'Read','input':{'path':'x'}}]"
     "}}\n"
     "{'type':'assistant','uuid':'d','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t2','name':'Bash','input':{}}]}}\n"
     "{'type':'user','uuid':'e','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t2','content':'two'}]}}\n"
     "{'type':'user','uuid':'f','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t1','content':[{'type':'text','text':'one\\t1'}]}]}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     2, 1,
     "user: go\n"
     "assistant: I look [t1 Read {\\'path\\':\\'x\\'}] [t2 Bash {}]\n"
     "t1 Read: one\\t1\n"
     "t2 Bash: two",
     WR_IMPORT_NOTES},
    {"claude: signed thinking leaves, and is remembered of its output, also where it is kept",
     "claude-code",
     "{'type':'user','uuid':'a','message':{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','message':{'id':'m1','model':'claude-x','content':[{'type':'th"
     "inking','thinking':'hm','signature':'c2ln'}]}}\n"
     "{'type':'assistant','uuid':'c','message':{'id':'m1','model':'claude-x','content':[{'type':'to"
     "ol_use','id':'t1','name':'Read','input':{}}]}}\n"
     "{'type':'user','uuid':'d','message':{'content':[{'type':'tool_result','tool_use_id':'t1','con"
     "tent':'one'}]}}\n"
     "{'type':'system','subtype':'microcompact_boundary','uuid':'s','microcompactMetadata':{'comp"
     "actedToolIds':['t1']}}\n"
     "{'type':'assistant','uuid':'e','message':{'id':'m2','model':'claude-x','content':[{'type':'th"
     "inking','thinking':'not signed'},{'type':'text','text':'well'}]}}\n"
     "{'type':'user','uuid':'f','message':{'role':'user','content':'and'}}\n"
     "{'type':'assistant','uuid':'g','message':{'id':'m3','model':'claude-x','content':[{'type':'re"
     "dacted_thinking','data':'x'},{'type':'text','text':'so'}]}}\n"
     "{'type':'user','uuid':'h','message':{'role':'user','content':'then'}}\n"
     "{'type':'assistant','uuid':'z','message':{'id':'mz','model':'claude-x','content':[{'type':'te"
     "xt','text':'end'}]}}\n",
     4, 3,
     "user: go\n"
     "(thinks) assistant:  [t1 Read {}]\n"
     "t1 Read: [Old tool result content cleared]\n"
     "assistant: well\n"
     "user: and\n"
     "(thinks) assistant: so\n"
     "user: then",
     WR_IMPORT_NOTES},
    {"claude: after a compaction requests begin with the summary", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'text','text':'yes'}]}}\n"
     "{'type':'system','subtype':'compact_boundary','uuid':'s'}\n"
     "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'the summary'}}\n"
     "{'type':'assistant','uuid':'d','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m2','mod"
     "el':'claude-x','content':[{'type':'text','text':'on'}]}}\n"
     "{'type':'user','uuid':'e','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'more'}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     3, 2,
     "user: the summary\n"
     "assistant: on\n"
     "user: more",
     WR_IMPORT_NOTES},
    {"claude: a microcompaction clears the results it names", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t1','name':'Read','input':{}}]}}\n"
     "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t1','content':'long'}]}}\n"
     "{'type':'assistant','uuid':'d','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m2','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t2','name':'Read','input':{}}]}}\n"
     "{'type':'user','uuid':'e','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t2','content':'new'}]}}\n"
     "{'type':'system','subtype':'microcompact_boundary','uuid':'s','microcompactMetadata':{'comp"
     "actedToolIds':['t1']}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     3, 2,
     "user: go\n"
     "assistant:  [t1 Read {}]\n"
     "t1 Read: [Old tool result content cleared]\n"
     "assistant:  [t2 Read {}]\n"
     "t2 Read: new",
     WR_IMPORT_NOTES},
    {"claude: a preserved segment stands behind the summary", "claude-code",
     "{'type':'user','uuid':'a','message':{'content':'go'}}\n"
     "{'type':'assistant','uuid':'b','message':{'id':'m1','content':'one'}}\n"
     "{'type':'user','uuid':'c','message':{'content':'next'}}\n"
     "{'type':'assistant','uuid':'d','message':{'id':'m2','content':'two'}}\n"
     "{'type':'system','subtype':'compact_boundary','uuid':'s','compactMetadata':"
     "{'preservedSegment':{'headUuid':'c','anchorUuid':'e','tailUuid':'d'}}}\n"
     "{'type':'user','uuid':'e','message':{'content':'summary'}}\n"
     "{'type':'assistant','uuid':'f','message':{'id':'m3','content':'end'}}\n",
     3, 2, "user: summary\nuser: next\nassistant: two", WR_IMPORT_NOTES},
    {"claude: a side chain is left out, and said", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'user','uuid':'q','isSidechain':true,'message':{'content':'aside'}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     1, 0, "user: go", WR_IMPORT_SIDE_CHAIN},
    {"claude: a file that is one side chain is a session", "claude-code",
     "{'type':'user','uuid':'q','isSidechain':true,'message':{'content':'aside'}}\n"
     "{'type':'assistant','uuid':'r','isSidechain':true,'message':{'content':'done'}}\n",
     1, 0, "user: aside", WR_IMPORT_NOTES},
    {"claude: an entry that is there twice counts once", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     1, 0, "user: go", WR_IMPORT_ENTRY_REPEATED},
    {"claude: a picture becomes a line", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t1','name':'Read','input':{}}]}}\n"
     "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t1','content':[{'type':'image','source':{}}]}]}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     2, 1,
     "user: go\n"
     "assistant:  [t1 Read {}]\n"
     "t1 Read: [image omitted, 28 bytes]",
     WR_IMPORT_MEDIA_OMITTED},
    {"claude: a call without a result gets the words of its host", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1','mod"
     "el':'claude-x','content':[{'type':'tool_use','id':'t1','name':'Read','input':{}}]}}\n"
     "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'well?'}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     2, 1,
     "user: go\n"
     "assistant:  [t1 Read {}]\n"
     "t1 Read: [Tool result missing due to internal error]\n"
     "user: well?",
     WR_IMPORT_RESULT_MISSING},
    {"claude: a result without a call is left out", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{'type':"
     "'tool_result','tool_use_id':'t9','content':'lost'}]}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     1, 0, "user: go", WR_IMPORT_RESULT_ORPHAN},
    {"codex: items up to the token count are one output; what the model saw is kept", "codex",
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'session_meta','payload':{'base_instructions"
     "':{'text':'be good'}}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'turn_context','payload':{'model':'gpt-x'}}"
     "\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'user','content':[{'type':'input_text','text':'go'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'I run'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'function_"
     "call','name':'exec_command','arguments':'{}','call_id':'c1'}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'event_msg','payload':{'type':'token_count'}"
     "}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'function_"
     "call_output','call_id':'c1','output':'{\\'output\\':\\'7\\'}'}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'done'}]}}\n",
     2, 1,
     "system: be good\n"
     "user: go\n"
     "assistant: I run [c1 exec_command {}]\n"
     "c1 exec_command: {\\'output\\':\\'7\\'}",
     WR_IMPORT_NOTES},
    {"codex: a compaction puts its list in place of the history, behind the instructions", "codex",
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'session_meta','payload':{'base_instructions"
     "':{'text':'be good'}}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'user','content':[{'type':'input_text','text':'go'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'yes'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'event_msg','payload':{'type':'token_count'}"
     "}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'compacted','payload':{'message':'','replace"
     "ment_history':[{'type':'message','role':'user','content':[{'type':'input_text','text':'so f"
     "ar'}]},{'type':'compaction','encrypted_content':'x'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'on'}]}}\n",
     2, 1,
     "system: be good\n"
     "user: so far",
     WR_IMPORT_COMPACTION_OPAQUE},
    {"codex: an older compaction keeps what the user said, and the summary", "codex",
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'user','content':[{'type':'input_text','text':'go'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'yes'}]}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'event_msg','payload':{'type':'token_count'}"
     "}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'compacted','payload':{'message':'summary'}}"
     "\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'assistant','content':[{'type':'output_text','text':'on'}]}}\n",
     2, 1,
     "user: go\n"
     "user: summary",
     WR_IMPORT_NOTES},
    {"codex: items of 2025 stand on the line without an envelope", "codex",
     "{'id':'x','timestamp':'2025-07-01T00:00:00Z','instructions':null}\n"
     "{'type':'message','role':'user','content':[{'type':'input_text','text':'go'}]}\n"
     "{'type':'function_call','name':'shell','arguments':'{}','call_id':'c1'}\n"
     "{'type':'function_call_output','call_id':'c1','output':'ok'}\n"
     "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'done'}]}\n",
     2, 1,
     "user: go\n"
     "assistant:  [c1 shell {}]\n"
     "c1 shell: ok",
     WR_IMPORT_ENTRY_OTHER},
    {"copilot: what the model saw is transformedContent and result.content", "copilot-cli",
     "{'type':'system.message','data':{'content':'sys'},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'user.message','data':{'content':'go','transformedContent':'<t>go'},'timestamp':'20"
     "26-01-01T00:00:00Z'}\n"
     "{'type':'assistant.message','data':{'content':'','model':'m','toolRequests':[{'toolCallId':"
     "'t','name':'bash','arguments':{'a':1}}]},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'tool.execution_complete','data':{'toolCallId':'t','result':{'content':'short','det"
     "ailedContent':'long'}},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'assistant.message','data':{'content':'done'},'timestamp':'2026-01-01T00:00:00Z'}\n",
     2, 1,
     "system: sys\n"
     "user: <t>go\n"
     "assistant:  [t bash {\\'a\\':1}]\n"
     "t bash: short",
     WR_IMPORT_NOTES},
    {"copilot: after a compaction come the instructions and the summary", "copilot-cli",
     "{'type':'system.message','data':{'content':'sys'},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'user.message','data':{'content':'go'},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'assistant.message','data':{'content':'a'},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'session.compaction_complete','data':{'success':true,'summaryContent':'so far'},'ti"
     "mestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'user.message','data':{'content':'more'},'timestamp':'2026-01-01T00:00:00Z'}\n"
     "{'type':'assistant.message','data':{'content':'b'},'timestamp':'2026-01-01T00:00:00Z'}\n",
     2, 1,
     "system: sys\n"
     "user: so far\n"
     "user: more",
     WR_IMPORT_NOTES},
    {"pi: a compaction keeps from the entry it names on, behind the summary", "pi",
     "{'type':'session','version':3,'id':'s','cwd':'/x'}\n"
     "{'type':'message','id':'1','timestamp':'2026-01-01T00:00:00Z','message':{'role':'user','con"
     "tent':'go'}}\n"
     "{'type':'message','id':'2','timestamp':'2026-01-01T00:00:00Z','message':{'role':'assistant'"
     ",'model':'m','content':[{'type':'text','text':'a'}]}}\n"
     "{'type':'message','id':'3','timestamp':'2026-01-01T00:00:00Z','message':{'role':'user','con"
     "tent':'next'}}\n"
     "{'type':'message','id':'4','timestamp':'2026-01-01T00:00:00Z','message':{'role':'assistant'"
     ",'content':[{'type':'toolCall','id':'t','name':'ls','arguments':{}}]}}\n"
     "{'type':'message','id':'5','timestamp':'2026-01-01T00:00:00Z','message':{'role':'toolResult"
     "','toolCallId':'t','content':[{'type':'text','text':'f'}]}}\n"
     "{'type':'compaction','id':'6','summary':'S','firstKeptEntryId':'3'}\n"
     "{'type':'message','id':'7','timestamp':'2026-01-01T00:00:00Z','message':{'role':'assistant'"
     ",'content':[{'type':'text','text':'b'}]}}\n",
     3, 2,
     "user: The conversation history before this point was compacted into the following summary:"
     "\\n\\n<summary>\\nS\\n</summary>\n"
     "user: next\n"
     "assistant:  [t ls {}]\n"
     "t ls: f",
     WR_IMPORT_ENTRY_OTHER},
    {"pi: a command that the user ran is worded as pi words it", "pi",
     "{'type':'message','id':'1','timestamp':'2026-01-01T00:00:00Z','message':{'role':'bashExecut"
     "ion','command':'ls','output':'a','exitCode':2}}\n"
     "{'type':'message','id':'2','timestamp':'2026-01-01T00:00:00Z','message':{'role':'assistant'"
     ",'content':[{'type':'text','text':'a'}]}}\n",
     1, 0, "user: Ran `ls`\\n```\\na\\n```\\n\\nCommand exited with code 2", WR_IMPORT_NOTES},
    {"opencode: a part holds the call and its result; steps are outputs", "opencode",
     "{'info':{'id':'s'},'messages':[{'info':{'role':'user','time':{'created':1767225600000}},'pa"
     "rts':[{'type':'text','text':'go'}]},{'info':{'role':'assistant','modelID':'m','time':{'crea"
     "ted':1767225601000}},'parts':[{'type':'step-start'},{'type':'tool','callID':'t','tool':'rea"
     "d','state':{'status':'completed','input':{'p':1},'output':'text'}},{'type':'step-start'},{'"
     "type':'text','text':'done'}]}]}",
     2, 1,
     "user: go\n"
     "assistant:  [t read {\\'p\\':1}]\n"
     "t read: text",
     WR_IMPORT_NOTES},
    {"opencode: what was pruned is cleared in later requests", "opencode",
     "{'info':{},'messages':[{'info':{'role':'user','time':{'created':1767225600000}},'parts':[{'"
     "type':'text','text':'go'}]},{'info':{'role':'assistant','time':{'created':1767225601000}},'"
     "parts':[{'type':'tool','callID':'t','tool':'read','state':{'status':'completed','input':{},"
     "'output':'text','time':{'compacted':1767225605000}}}]},{'info':{'role':'assistant','time':{"
     "'created':1767225602000}},'parts':[{'type':'text','text':'seen'}]},{'info':{'role':'user','"
     "time':{'created':1767225606000}},'parts':[{'type':'text','text':'more'}]},{'info':{'role':'"
     "assistant','time':{'created':1767225607000}},'parts':[{'type':'text','text':'b'}]}]}",
     3, 2,
     "user: go\n"
     "assistant:  [t read {}]\n"
     "t read: [Old tool result content cleared]\n"
     "assistant: seen\n"
     "user: more",
     WR_IMPORT_NOTES},
    {"opencode: and not in earlier ones", "opencode",
     "{'info':{},'messages':[{'info':{'role':'user','time':{'created':1767225600000}},'parts':[{'"
     "type':'text','text':'go'}]},{'info':{'role':'assistant','time':{'created':1767225601000}},'"
     "parts':[{'type':'tool','callID':'t','tool':'read','state':{'status':'completed','input':{},"
     "'output':'text','time':{'compacted':1767225605000}}}]},{'info':{'role':'assistant','time':{"
     "'created':1767225602000}},'parts':[{'type':'text','text':'seen'}]},{'info':{'role':'user','"
     "time':{'created':1767225606000}},'parts':[{'type':'text','text':'more'}]},{'info':{'role':'"
     "assistant','time':{'created':1767225607000}},'parts':[{'type':'text','text':'b'}]}]}",
     3, 1,
     "user: go\n"
     "assistant:  [t read {}]\n"
     "t read: text",
     WR_IMPORT_NOTES},
    {"opencode: after a compaction requests begin with the question and the summary", "opencode",
     "{'info':{},'messages':[{'info':{'role':'user'},'parts':[{'type':'text','text':'go'}]},{'inf"
     "o':{'role':'assistant'},'parts':[{'type':'text','text':'a'}]},{'info':{'role':'user'},'part"
     "s':[{'type':'compaction'}]},{'info':{'role':'assistant','summary':true},'parts':[{'type':'t"
     "ext','text':'S'}]},{'info':{'role':'user'},'parts':[{'type':'text','text':'more'}]},{'info'"
     ":{'role':'assistant'},'parts':[{'type':'text','text':'b'}]}]}",
     3, 2,
     "user: What did we do so far?\n"
     "assistant: S\n"
     "user: more",
     WR_IMPORT_NOTES},
    {"mini-swe-agent: a block of bash is a call, the next message its result", "mini-swe-agent",
     "{'info':{'mini_version':'1','config':{'model':{'model_name':'m'}}},'messages':[{'role':'sys"
     "tem','content':'s'},{'role':'user','content':'go'},{'role':'assistant','content':'THOUGHT: "
     "x\\n\\n```bash\\nls -l\\n```\\n','extra':{'response':{'created':1767225600}}},{'role':'user"
     "','content':'<out>'},{'role':'assistant','content':'bye'}]}",
     2, 1,
     "system: s\n"
     "user: go\n"
     "assistant: THOUGHT: x [call1 bash {\\'command\\':\\'ls -l\\'}]\n"
     "call1 bash: <out>",
     WR_IMPORT_CALL_RENAMED},
    {"swe-agent: an action is a call named by its first word", "swe-agent",
     "{'trajectory':[],'history':[{'role':'user','content':'go'},{'role':'assistant','content':'t"
     "\\n```\\nopen a.py\\n```','thought':'t','action':'open a.py\\n'},{'role':'user','content':'"
     "[File]'},{'role':'assistant','content':'x','thought':'x','action':''}]}",
     2, 1,
     "user: go\n"
     "assistant: t [call1 open {\\'command\\':\\'open a.py\\\\n\\'}]\n"
     "call1 open: [File]",
     WR_IMPORT_CALL_RENAMED},
    {"openhands V0: a command is shown with where it ran and how it ended", "openhands",
     "[{'id':0,'source':'agent','action':'system','args':{'content':'sys'}},{'id':1,'source':'use"
     "r','action':'message','args':{'content':'go'}},{'id':2,'source':'agent','action':'run','arg"
     "s':{'command':'ls','thought':'look'},'tool_call_metadata':{'function_name':'execute_bash','"
     "tool_call_id':'c1','model_response':{'id':'r1','choices':[{'message':{'tool_calls':[{'id':'"
     "c1','function':{'arguments':'{\\'command\\': \\'ls\\'}'}}]}}]}}},{'id':3,'source':'agent','"
     "cause':2,'observation':'run','content':'a.py','extras':{'metadata':{'exit_code':0,'working_"
     "dir':'/w','prefix':'','suffix':''}}},{'id':4,'source':'agent','action':'message','args':{'c"
     "ontent':'done'}}]",
     2, 1,
     "system: sys\n"
     "user: go\n"
     "assistant: look [c1 execute_bash {\\'command\\': \\'ls\\'}]\n"
     "c1 execute_bash: a.py\\n[Current working directory: /w]\\n[Command finished with exit code "
     "0]",
     WR_IMPORT_NOTES},
    {"openhands V0: a condensation puts its summary in place of what was forgotten", "openhands",
     "[{'id':1,'source':'user','action':'message','args':{'content':'go'}},{'id':2,'source':'agen"
     "t','action':'read','args':{'path':'a'}},{'id':3,'source':'agent','cause':2,'observation':'r"
     "ead','content':'A'},{'id':4,'source':'agent','action':'read','args':{'path':'b'}},{'id':5,'"
     "source':'agent','cause':4,'observation':'read','content':'B'},{'id':6,'source':'agent','act"
     "ion':'condensation','args':{'forgotten_events_start_id':2,'forgotten_events_end_id':3,'summ"
     "ary':'read a'}},{'id':7,'source':'agent','action':'message','args':{'content':'x'}}]",
     3, 2,
     "user: go\n"
     "user: read a\n"
     "assistant:  [call2 read {\\'path\\':\\'b\\'}]\n"
     "call2 read: B",
     WR_IMPORT_NOTES},
    {"openhands V1: actions of one response are one output", "openhands",
     "[{'kind':'SystemPromptEvent','id':'a','source':'agent','system_prompt':{'type':'text','text"
     "':'sys'}},{'kind':'MessageEvent','id':'b','source':'user','llm_message':{'role':'user','con"
     "tent':[{'type':'text','text':'go'}]}},{'kind':'ActionEvent','id':'c','source':'agent','thou"
     "ght':[{'type':'text','text':'hm'}],'tool_name':'terminal','tool_call_id':'c1','tool_call':{"
     "'id':'c1','name':'terminal','arguments':'{}'},'llm_response_id':'r'},{'kind':'ActionEvent',"
     "'id':'d','source':'agent','thought':[],'tool_name':'grep','tool_call_id':'c2','tool_call':{"
     "'id':'c2','name':'grep','arguments':'{}'},'llm_response_id':'r'},{'kind':'ObservationEvent'"
     ",'id':'e','source':'environment','tool_name':'terminal','tool_call_id':'c1','observation':{"
     "'content':[{'type':'text','text':'out'}],'metadata':{'exit_code':1}}},{'kind':'AgentErrorEv"
     "ent','id':'f','source':'agent','tool_name':'grep','tool_call_id':'c2','error':'bad'},{'kind"
     "':'MessageEvent','id':'g','source':'agent','llm_message':{'role':'assistant','content':[{'t"
     "ype':'text','text':'done'}]}}]",
     2, 1,
     "system: sys\n"
     "user: go\n"
     "assistant: hm [c1 terminal {}] [c2 grep {}]\n"
     "c1 terminal: out\\n[Command finished with exit code 1]\n"
     "c2 grep: bad",
     WR_IMPORT_NOTES},
    {"openhands: a line of evaluation output is a session", "openhands",
     "{'instance_id':'i','metadata':{'llm_config':{'model':'m'}},'history':[[{'id':1,'source':'us"
     "er','action':'message','args':{'content':'go'}},{'id':2,'source':'agent','action':'message'"
     ",'args':{'content':'a'}}]]}\n"
     "{'history':[{'id':1,'source':'user','action':'message','args':{'content':'two'}},{'id':2,'s"
     "ource':'agent','action':'message','args':{'content':'b'}}]}",
     1, 0, "user: go", WR_IMPORT_NOTES},
    {"tau-bench: a run is a session", "tau-bench",
     "[{'task_id':0,'info':{},'traj':[{'role':'user','content':'hi'},{'role':'assistant','content"
     "':'yes'}]}]",
     1, 0, "user: hi", WR_IMPORT_NOTES},
    {"gemini: the model is given the output of a function response", "gemini-cli",
     "{'sessionId':'s','projectHash':'h','messages':[{'id':'1','timestamp':'2026-01-01T00:00:00Z'"
     ",'type':'user','content':'go'},{'id':'2','type':'gemini','model':'gemini-x','content':'','t"
     "oolCalls':[{'id':'t','name':'read_file','args':{'p':1},'result':[{'functionResponse':{'id':"
     "'t','name':'read_file','response':{'output':'text'}}}],'status':'success','resultDisplay':'"
     "nice'}]},{'id':'3','type':'gemini','content':'done'}]}",
     2, 1,
     "user: go\n"
     "assistant:  [t read_file {\\'p\\':1}]\n"
     "t read_file: text",
     WR_IMPORT_NOTES},
    {"gemini: a message written again takes its place, a rewind takes messages back", "gemini-cli",
     "{'sessionId':'s','projectHash':'h'}\n"
     "{'id':'1','type':'user','content':'go'}\n"
     "{'id':'2','type':'gemini','content':'a'}\n"
     "{'id':'2','type':'gemini','content':'ab'}\n"
     "{'id':'3','type':'user','content':'no'}\n"
     "{'$rewindTo':'3'}\n"
     "{'id':'4','type':'user','content':[{'text':'yes'}]}\n"
     "{'id':'5','type':'gemini','content':'c'}\n",
     2, 1,
     "user: go\n"
     "assistant: ab\n"
     "user: yes",
     WR_IMPORT_ENTRY_OTHER},
    {"gemini: compression leaves the list that is set", "gemini-cli",
     "{'sessionId':'s','projectHash':'h'}\n"
     "{'id':'1','type':'user','content':'go'}\n"
     "{'id':'2','type':'gemini','content':'a'}\n"
     "{'$set':{'messages':[{'id':'9','type':'user','content':'summary'}]}}\n"
     "{'id':'3','type':'user','content':'more'}\n"
     "{'id':'4','type':'gemini','content':'b'}\n",
     2, 1,
     "user: summary\n"
     "user: more",
     WR_IMPORT_ENTRY_OTHER},
    {"langchain: messages_to_dict()", "langchain",
     "[{'type':'system','data':{'content':'s','type':'system'}},{'type':'human','data':{'content'"
     ":'go'}},{'type':'ai','data':{'content':'','tool_calls':[{'name':'f','args':{'a':1},'id':'t'"
     ",'type':'tool_call'}],'response_metadata':{'model_name':'m'}}},{'type':'tool','data':{'cont"
     "ent':'r','tool_call_id':'t'}},{'type':'ai','data':{'content':[{'type':'text','text':'x'}]}}"
     "]",
     2, 1,
     "system: s\n"
     "user: go\n"
     "assistant:  [t f {\\'a\\':1}]\n"
     "t f: r",
     WR_IMPORT_NOTES},
    {"langchain: dumpd()", "langchain",
     "[{'lc':1,'type':'constructor','id':['langchain','schema','messages','HumanMessage'],'kwargs"
     "':{'content':'go'}},{'lc':1,'type':'constructor','id':['langchain','schema','messages','AIM"
     "essage'],'kwargs':{'content':'','additional_kwargs':{'tool_calls':[{'id':'t','function':{'n"
     "ame':'f','arguments':'{}'}}]}}},{'lc':1,'type':'constructor','id':['x','ToolMessage'],'kwar"
     "gs':{'content':'r','tool_call_id':'t'}},{'lc':1,'type':'constructor','id':['x','AIMessageCh"
     "unk'],'kwargs':{'content':'x'}}]",
     2, 1,
     "user: go\n"
     "assistant:  [t f {}]\n"
     "t f: r",
     WR_IMPORT_NOTES},
    {"chat: one message a line; a repeated id is replaced, and so is its result's", "chat",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'','tool_calls':[{'id':'x','type':'function','function':{'nam"
     "e':'f','arguments':'{}'}}]}\n"
     "{'role':'tool','tool_call_id':'x','name':'f','content':'1'}\n"
     "{'role':'assistant','content':'','tool_calls':[{'id':'x','type':'function','function':{'nam"
     "e':'f','arguments':'{}'}}]}\n"
     "{'role':'tool','tool_call_id':'x','name':'f','content':'2'}\n"
     "{'role':'assistant','content':'end'}",
     3, 2,
     "user: go\n"
     "assistant:  [x f {}]\n"
     "x f: 1\n"
     "assistant:  [call2 f {}]\n"
     "call2 f: 2",
     WR_IMPORT_CALL_RENAMED},
    {"chat: blocks of Anthropic's API, in an array", "chat",
     "[{'role':'user','content':[{'type':'text','text':'go'}]},{'role':'assistant','content':[{'t"
     "ype':'tool_use','id':'t','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_r"
     "esult','tool_use_id':'t','content':'r'},{'type':'text','text':'and'}]},{'role':'assistant',"
     "'content':'x'}]",
     2, 1,
     "user: go\n"
     "assistant:  [t f {}]\n"
     "t f: r\n"
     "user: and",
     WR_IMPORT_NOTES},
    {"chat: an unknown role is left out, and said", "chat",
     "[{'role':'user','content':'go'},{'role':'narrator','content':'x'},{'role':'assistant','cont"
     "ent':'x'}]",
     1, 0, "user: go", WR_IMPORT_ROLE_UNKNOWN},
    {"chat: a call with two results keeps the first", "chat",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'','tool_calls':[{'id':'x','type':'function','function':{'nam"
     "e':'f','arguments':'{}'}}]}\n"
     "{'role':'tool','tool_call_id':'x','name':'f','content':'1'}\n"
     "{'role':'tool','tool_call_id':'x','name':'f','content':'2'}\n"
     "{'role':'assistant','content':'end'}",
     2, 1,
     "user: go\n"
     "assistant:  [x f {}]\n"
     "x f: 1",
     WR_IMPORT_RESULT_ORPHAN},
    {"a log that breaks off inside a line is read up to there", "chat",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'end'}\n"
     "{'role':'user','con",
     1, 0, "user: go", WR_IMPORT_LINE_BROKEN},
    {"lines of another agent's log are left out", "claude-code",
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'timestamp':'2026-01-01T00:00:00.500Z','type':'response_item','payload':{'type':'message',"
     "'role':'user','content':[{'type':'input_text','text':'other'}]}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     1, 0, "user: go", WR_IMPORT_LINE_FOREIGN},
    {"a log whose first line is torn is still known", "claude-code",
     "er','uuid':'x'}\n"
     "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','isSidechain':false,'message':"
     "{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'z','timestamp':'2026-01-01T00:00:10Z','message':{'id':'mz','mod"
     "el':'claude-x','content':[{'type':'text','text':'end'}]}}\n",
     1, 0, "user: go", WR_IMPORT_LINE_BROKEN},
    {"an answer with nothing before it is no request", "chat",
     "{'role':'assistant','content':'hello'}\n"
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'x'}",
     1, 0,
     "assistant: hello\n"
     "user: go",
     WR_IMPORT_ANSWER_UNASKED},
};

static void logs_become_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_case(&cases[i]);
}

static void too_little_memory_is_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_memory(&cases[i]);
}

static void evaluation_output_gives_a_session_a_line(void **state)
{
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        bool has_two = strstr(cases[i].behaviour, "evaluation output") != NULL;
        assert_int_equal(wr_import_read(&import, &arena, quoted(&arena, cases[i].log), NULL),
                         WEIR_OK);
        assert_int_equal(import.sessions_count, has_two ? 2 : 1);
    }
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_become_requests),
        cmocka_unit_test(too_little_memory_is_a_status),
        cmocka_unit_test(evaluation_output_gives_a_session_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
