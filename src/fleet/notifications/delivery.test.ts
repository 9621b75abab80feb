import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Notification, NotificationSettings } from '../../domain/records/notification.ts'
import { aFleet } from '../fleet.testkit.ts'
import { deliver } from './delivery.ts'

/** A mail server that greets, and then never finishes an answer and is never silent. */
async function aTricklingServer() {
  const server = createServer((socket: Socket) => {
    socket.write('220 mail.example.com\r\n')
    socket.on('error', () => undefined)
    socket.once('data', () => {
      const trickle = setInterval(() => socket.write('250-One moment please\r\n'), 5)
      socket.on('close', () => clearInterval(trickle))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

test('a mail server that says a little all the time is given up, and its connection is closed', async () => {
  const { server, port } = await aTricklingServer()
  const fleet = aFleet()
  const now = fleet.now()
  const settings = NotificationSettings.parse({
    id: 'notifications',
    updated_at: now,
    email: {
      ...{ on: true, host: '127.0.0.1', port, security: 'none', allow_private: true },
      ...{ from: 'fleet@example.com', to: 'you@example.com' },
    },
  })
  const notification = Notification.parse({
    ...{ id: 'n1', channel: 'email', device_id: null, event: '', need: 'test', title: 'Failed', about: '', detail: '' },
    ...{ path: '/', status: 'waiting', due_at: now, created_at: now, updated_at: now },
  })
  const closed = new Promise(resolve => server.once('connection', socket => socket.once('close', resolve)))
  expect(await deliver(fleet, settings, notification, { mailLimitMs: 200 })).toEqual({
    ok: false,
    said: 'The mail server took too long.',
    again: true,
  })
  await closed
})
