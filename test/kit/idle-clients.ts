// Connects this many MCP clients, lets each list the tools once, says so, and holds them until it is ended.
import { mcpClient } from '../../src/server/mcp/client.testkit.ts'

const [url, token, by, count] = process.argv.slice(2) as [string, string, 'sse' | 'streamable', string]
const held: unknown[] = []
// Not all at once: a listener's queue refuses more connections than it holds.
while (held.length < Number(count)) {
  const some = Array.from({ length: 20 }, async () => {
    const connected = await mcpClient(url, token, by)
    await connected.client.listTools()
    return connected
  })
  held.push(...(await Promise.all(some)))
}
console.log('ready')
setInterval(() => held.length, 60_000)
