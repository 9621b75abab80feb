import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js'

export interface Connected {
  client: Client
  /** The text a tool answers with, and whether it failed. */
  call(
    tool: string,
    input?: object,
    options?: { onprogress?: (step: { message?: string }) => void; signal?: AbortSignal },
  ): Promise<{ text: string; isError: boolean }>
  close(): Promise<void>
}

/** A client of the official SDK at an address of ours. */
export async function mcpClient(
  url: string,
  token: string,
  by: 'streamable' | 'sse' = 'streamable',
  capabilities: ClientCapabilities = {},
): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport =
    by === 'sse'
      ? new SSEClientTransport(new URL(url), {
          requestInit,
          eventSourceInit: {
            fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...requestInit.headers } }),
          },
        })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit })
  await client.connect(transport)
  return {
    client,
    call: async (name, input = {}, options) => {
      const answer = await client.callTool({ name, arguments: input as Record<string, unknown> }, undefined, options)
      const [content] = answer.content as { type: string; text: string }[]
      return { text: content?.text ?? '', isError: answer.isError === true }
    },
    close: () => client.close(),
  }
}
