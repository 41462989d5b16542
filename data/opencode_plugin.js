// Written by `weir hook opencode --settings`: what a tool printed is condensed before the model
// sees it. Whatever goes wrong, the result stays as it is.
import { spawn } from "node:child_process"

const [program, ...words] = "@WEIR@"
const patience = 5000 // ms

const ask = (event) =>
  new Promise((resolve) => {
    const hook = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], timeout: patience })
    let answer = ""
    hook.stdout.setEncoding("utf8")
    hook.stdout.on("data", (text) => (answer += text))
    hook.stdin.on("error", () => {})
    hook.on("error", () => resolve(""))
    hook.on("close", (code) => resolve(code === 0 ? answer : ""))
    hook.stdin.end(JSON.stringify(event))
  })

// Where the text of a result is: tools of MCP servers give a list of blocks.
const placeOf = (result) => {
  if (typeof result?.output === "string") return [result, "output"]
  const [block, ...rest] = result?.content ?? []
  const isText = block?.type === "text" && typeof block.text === "string"
  return isText && !rest.length && !result.isError ? [block, "text"] : [{}, ""]
}

export const Weir = async ({ client }) => {
  const mains = new Map()

  // A subagent's tools are not told, so what it reads stays whole.
  const isMain = async (id) => {
    if (!mains.has(id)) {
      const { data } = await client.session.get({ path: { id } })
      mains.set(id, Boolean(data) && !data.parentID)
    }
    return mains.get(id)
  }

  return {
    "tool.execute.after": async (input, output) => {
      try {
        const [place, key] = placeOf(output)
        const text = place[key]
        if (typeof text !== "string" || text.length < 300) return
        if (!(await isMain(input.sessionID))) return
        const code = output.metadata?.exit
        const answer = await ask({
          session_id: input.sessionID,
          tool_name: input.tool,
          tool_input: input.args ?? {},
          tool_response: text,
          failed: typeof code === "number" && code !== 0,
        })
        const said = answer ? JSON.parse(answer).output : undefined
        if (typeof said === "string" && said.length < text.length) place[key] = said
      } catch {}
    },
  }
}
