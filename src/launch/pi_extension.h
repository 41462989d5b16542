/* pi_extension.h -- the extension by which pi is pointed at Weir and given its tools.
 *
 * pi speaks no MCP, but its extensions may redirect providers and register tools: this one asks
 * `weir mcp` for its tools and hands the calls on, so that they are the same as everywhere.
 */
#ifndef WR_LAUNCH_PI_EXTENSION_H
#define WR_LAUNCH_PI_EXTENSION_H

#define WR_PI_EXTENSION                                                                           \
    "import { spawn } from \"node:child_process\";\n"                                             \
    "import { createInterface } from \"node:readline\";\n"                                        \
    "\n"                                                                                          \
    "export default async function (pi) {\n"                                                      \
    "  for (const [name, baseUrl] of [<providers>]) pi.registerProvider(name, { baseUrl });\n"    \
    "  const server = spawn(<\"weir\">, [\"mcp\", \"--store\", <\"store\">],\n"                   \
    "    { stdio: [\"pipe\", \"pipe\", \"ignore\"] });\n"                                         \
    "  const waiting = new Map();\n"                                                              \
    "  let last = 0;\n"                                                                           \
    "  const hold = (how) => [server, server.stdin, server.stdout].forEach((x) => x[how]?.());\n" \
    "  const end = (why) => waiting.forEach((answer) => answer({ error: { message: why } }));\n"  \
    "  server.on(\"error\", (error) => end(String(error)));\n"                                    \
    "  server.on(\"exit\", () => end(\"weir mcp has ended\"));\n"                                 \
    "  server.stdin.on(\"error\", () => {});\n"                                                   \
    "  createInterface({ input: server.stdout }).on(\"line\", (line) => {\n"                      \
    "    const message = JSON.parse(line);\n"                                                     \
    "    waiting.get(message.id)?.(message);\n"                                                   \
    "  });\n"                                                                                     \
    "  const say = (message) =>\n"                                                                \
    "    server.stdin.write(JSON.stringify({ jsonrpc: \"2.0\", ...message }) + \"\\n\");\n"       \
    "  const ask = (method, params) => new Promise((resolve) => {\n"                              \
    "    const id = ++last;\n"                                                                    \
    "    waiting.set(id, (answer) => {\n"                                                         \
    "      waiting.delete(id);\n"                                                                 \
    "      if (!waiting.size) hold(\"unref\");\n"                                                 \
    "      resolve(answer);\n"                                                                    \
    "    });\n"                                                                                   \
    "    hold(\"ref\");\n"                                                                        \
    "    say({ id, method, params });\n"                                                          \
    "  });\n"                                                                                     \
    "  await ask(\"initialize\", { protocolVersion: \"2025-11-25\", capabilities: {},\n"          \
    "    clientInfo: { name: \"pi\", version: \"1\" } });\n"                                      \
    "  say({ method: \"notifications/initialized\" });\n"                                         \
    "  const list = await ask(\"tools/list\", {});\n"                                             \
    "  for (const tool of list.result?.tools ?? [])\n"                                            \
    "    pi.registerTool({\n"                                                                     \
    "      name: tool.name, label: tool.name, description: tool.description,\n"                   \
    "      parameters: tool.inputSchema,\n"                                                       \
    "      async execute(id, args) {\n"                                                           \
    "        const answer = await ask(\"tools/call\", { name: tool.name, arguments: args });\n"   \
    "        if (answer.error) throw new Error(answer.error.message);\n"                          \
    "        if (answer.result.isError) throw new Error(answer.result.content[0].text);\n"        \
    "        return { content: answer.result.content, details: {} };\n"                           \
    "      },\n"                                                                                  \
    "    });\n"                                                                                   \
    "}\n"

#endif
