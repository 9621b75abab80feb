import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Beyond {
  /** The hosts outside this machine that a client requested. */
  asked: string[]
  /** The variables that make a client use the watch. */
  environment: Record<'HTTP_PROXY' | 'HTTPS_PROXY' | 'NO_PROXY', string>
  close(): Promise<void>
}

/** A proxy that blocks everything and records what was requested. */
export async function watchBeyondLoopback(): Promise<Beyond> {
  const asked: string[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(502).end()
  }).on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.on('error', () => {}).end('HTTP/1.1 502 No\r\n\r\n')
  })
  await new Promise<void>(listening => proxy.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return {
    asked,
    environment: { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '127.0.0.1' },
    close: () => new Promise(closed => proxy.close(() => closed()).closeAllConnections()),
  }
}
