import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export default async function (pi) {
  for (const [name, baseUrl] of [<providers>]) pi.registerProvider(name, { baseUrl });
  const server = spawn(<"weir">, ["mcp", "--store", <"store">],
    { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let last = 0;
  const hold = (how) => [server, server.stdin, server.stdout].forEach((x) => x[how]?.());
  const end = (why) => waiting.forEach((answer) => answer({ error: { message: why } }));
  server.on("error", (error) => end(String(error)));
  server.on("exit", () => end("weir mcp has ended"));
  server.stdin.on("error", () => {});
  createInterface({ input: server.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const say = (message) =>
    server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const ask = (method, params) => new Promise((resolve) => {
    const id = ++last;
    waiting.set(id, (answer) => {
      waiting.delete(id);
      if (!waiting.size) hold("unref");
      resolve(answer);
    });
    hold("ref");
    say({ id, method, params });
  });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {},
    clientInfo: { name: "pi", version: "1" } });
  say({ method: "notifications/initialized" });
  const list = await ask("tools/list", {});
  for (const tool of list.result?.tools ?? [])
    pi.registerTool({
      name: tool.name, label: tool.name, description: tool.description,
      parameters: tool.inputSchema,
      async execute(id, args) {
        const answer = await ask("tools/call", { name: tool.name, arguments: args });
        if (answer.error) throw new Error(answer.error.message);
        if (answer.result.isError) throw new Error(answer.result.content[0].text);
        return { content: answer.result.content, details: {} };
      },
    });
}
