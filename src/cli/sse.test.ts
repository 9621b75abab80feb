import { expect, test } from 'vitest'
import { requestFor } from './client-http.ts'
import { serverSentEvents } from './sse.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function read(...chunks: Uint8Array[]) {
  async function* body() {
    yield* chunks
  }
  return Array.fromAsync(serverSentEvents(body()))
}

test('events arrive whole, however the bytes are cut', async () => {
  const whole = bytes(
    'retry: 1000\n\nid: 1\nevent: text\ndata: {"text":"ü"}\n\n: ping\nid: 2\n\nid: 3\nevent: end\ndata: {}\n\n',
  )
  const expected = [
    { id: '1', event: 'text', data: '{"text":"ü"}' },
    { id: '3', event: 'end', data: '{}' },
  ]
  expect(await read(whole)).toEqual(expected)
  expect(await read(...Array.from(whole, byte => Uint8Array.of(byte)))).toEqual(expected)
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
