import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { isPrivate, post } from './posting.ts'

/** Answers with these statuses in turn, and then with the last of them. */
async function aServer(...statuses: number[]) {
  const heard: { body: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    heard.push({ body: Buffer.concat(chunks).toString(), headers: request.headers })
    response.writeHead(statuses[Math.min(heard.length, statuses.length) - 1]!, { location: '/elsewhere' })
    response.end('heard')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard }
}

const quickly = { body: '{}', allowPrivate: true, backOffMs: 1 }

test('what was not heard is sent again, the same each time', async () => {
  const { url, heard } = await aServer(503, 429, 200)
  expect(await post({ ...quickly, url, body: '{"a":1}', headers: { 'x-a': 'b' } })).toEqual({
    status: 200,
    text: 'heard',
  })
  expect(heard.map(each => [each.body, each.headers['x-a']])).toEqual(Array(3).fill(['{"a":1}', 'b']))
})

test('tries are bounded, and what will not get better is not tried again', async () => {
  const always = await aServer(500)
  await expect(post({ ...quickly, url: always.url, tries: 4 })).rejects.toThrow('It answered 500.')
  expect(always.heard).toHaveLength(4)
  for (const status of [400, 404, 302]) {
    const never = await aServer(status)
    await expect(post({ ...quickly, url: never.url })).rejects.toThrow(`It answered ${status}.`)
    expect(never.heard).toHaveLength(1)
  }
})

test.each(['127.0.0.1', '[::1]', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
  'private addresses are refused, also as %s',
  async host => {
    const { url, heard } = await aServer(200)
    const other = url.replace('127.0.0.1', host)
    await expect(post({ url: other, body: '{}', backOffMs: 1 })).rejects.toThrow('is a private address')
    expect(heard).toEqual([])
  },
)

test('what is private and what is not', () => {
  const inside = ['10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1']
  const embedding = ['::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2001:0:1::1']
  for (const each of [...inside, ...embedding, '::', '::1', 'fd00::1', 'fe80::1', 'fec0::1', '::ffff:10.0.0.1', 'name'])
    expect([each, isPrivate(each)]).toEqual([each, true])
  for (const each of [
    '1.1.1.1',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
    '2001:4860:4860::8888',
    '64:ff9b:2::1',
  ])
    expect([each, isPrivate(each)]).toEqual([each, false])
})
