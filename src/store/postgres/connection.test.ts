import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf } from './address.ts'
import { Connection } from './connection.ts'

const message = (kind: string, body: string): Buffer => {
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, Buffer.from(body, 'latin1')])
}
const LET_IN = message('R', '\0\0\0\0')
const READY = message('Z', 'I')
const SHUTTING_DOWN = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0')

test('a server that lets somebody in and shuts down in the same moment ends no process of the fleet', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([LET_IN, READY, SHUTTING_DOWN])))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const connection = new Connection(
    addressOf({ engine: 'postgresql', url: `postgresql://fleet@127.0.0.1:${port}/fleet` }),
  )
  onTestFinished(() => connection.close())
  await expect(connection.once('SELECT 1', [])).rejects.toThrow()
})
