import { expect, test } from 'vitest'
import { itemsIn, requestFor } from './wire.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const read = async (...chunks: Uint8Array[]) => (await Array.fromAsync(itemsIn(ReadableStream.from(chunks)))).flat()

test('events arrive whole, however the bytes are cut', async () => {
  const whole = bytes(
    'retry: 1000\n\nid: 1\nevent: text\ndata: {"text":"ü"}\n\n:\n\nid: 2\nevent: ping\ndata: null\n\nid: 3\nevent: end\ndata: {}\n\n',
  )
  const expected = [
    { cursor: '1', kind: 'text', data: { text: 'ü' } },
    { cursor: '2', kind: 'ping', data: null },
    { cursor: '3', kind: 'end', data: {} },
  ]
  expect(await read(whole)).toEqual(expected)
  expect(await read(...Array.from(whole, byte => Uint8Array.of(byte)))).toEqual(expected)
})

test('what arrives together is handed over together', async () => {
  const two = bytes('event: a\ndata: 1\n\nevent: b\ndata: 2\n\n')
  expect(await Array.fromAsync(itemsIn(ReadableStream.from([two, two])))).toEqual([
    [expect.objectContaining({ data: 1 }), expect.objectContaining({ data: 2 })],
    [expect.objectContaining({ data: 1 }), expect.objectContaining({ data: 2 })],
  ])
})

test('a reader that stops lets go of the stream', async () => {
  let cancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull: controller => controller.enqueue(bytes('data: 1\n\n')),
    cancel: () => {
      cancelled = true
    },
  })
  for await (const _ of itemsIn(endless)) break
  expect(cancelled).toBe(true)
})

test('an unfinished event is none', async () => {
  expect(await read(bytes('id: 1\nevent: text\ndata: {}'))).toEqual([])
})

test('fields travel in the path, then in the query or the body', () => {
  expect(requestFor('GET /api/missions/:mission_id/events', { mission_id: 'a/b', limit: 5, after: undefined })).toEqual(
    { method: 'GET', address: '/api/missions/a%2Fb/events?limit=5' },
  )
  expect(requestFor('GET /api/x', { list: ['a', 'b'] }).address).toBe('/api/x?list=a&list=b')
  expect(requestFor('POST /api/missions/:mission_id/retry', { mission_id: 'm', message: 'x' })).toEqual({
    method: 'POST',
    address: '/api/missions/m/retry',
    body: '{"message":"x"}',
  })
  expect(requestFor('DELETE /api/missions/:mission_id', { mission_id: 'm' })).toEqual({
    method: 'DELETE',
    address: '/api/missions/m',
  })
})
