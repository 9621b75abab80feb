import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface McpLab {
  url: string
  /** The input of each call of the tool `echo`, and its authorization. */
  calls: { text: string; authorization: string | undefined }[]
  close(): Promise<void>
}

const ECHO = {
  name: 'echo',
  description: 'Says it back',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}

/** The smallest MCP server over HTTP: one tool that returns its input. */
export async function startMcpLab(): Promise<McpLab> {
  const calls: McpLab['calls'] = []
  const answers: Record<
    string,
    (params: { arguments?: { text: string }; protocolVersion?: string }, by?: string) => unknown
  > = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'lab', version: '1' },
    }),
    'tools/list': () => ({ tools: [ECHO] }),
    'tools/call': (params, authorization) => {
      const text = params.arguments?.text ?? ''
      calls.push({ text, authorization })
      return { content: [{ type: 'text', text: `echo: ${text}` }] }
    },
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = body ? JSON.parse(body) : {}
    if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end()
    // A client that asks for something newer waits for seconds unless it gets an error at once.
    const answer = answers[method]
    const reply = answer
      ? { result: answer(params ?? {}, request.headers.authorization) }
      : { error: { code: -32601, message: `There is no ${method}.` } }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
