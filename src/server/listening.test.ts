import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aFleet } from './server.testkit.ts'
import { serve } from './server.ts'
import { TOYS } from './toys.testkit.ts'

const quiet = { say: () => {} }

test('a taken port is refused with the name of who has it', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const refused = serve(await aFleet(), TOYS, { ...quiet, port })
  const by = existsSync('/proc/net/tcp') ? ` by .* \\(pid ${process.pid}\\)` : ''
  await expect(refused).rejects.toMatchObject({
    code: 'cannot_listen',
    exit: 1,
    message: expect.stringMatching(new RegExp(`Port ${port} is taken${by}`)),
  })
})

test('other machines are not let in without TLS, unless a person says so', async () => {
  const fleet = await aFleet()
  await expect(serve(fleet, TOYS, { ...quiet, port: 0, host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining('--allow-insecure'),
  })
  const server = await serve(fleet, TOYS, { ...quiet, port: 0, host: '0.0.0.0', allowInsecure: true })
  expect(server.url).toMatch(/^http:\/\/localhost:\d+$/)
  await server.close()
})

test('an address that is not of this machine and a certificate that cannot be read are refused by name', async () => {
  const fleet = await aFleet()
  await expect(serve(fleet, TOYS, { ...quiet, port: 0, host: '192.0.2.1', allowInsecure: true })).rejects.toMatchObject(
    { code: 'cannot_listen' },
  )
  await expect(
    serve(fleet, TOYS, { ...quiet, port: 0, tlsCert: '/nowhere/cert.pem', tlsKey: '/nowhere/key.pem' }),
  ).rejects.toMatchObject({ facts: { field: 'tls-cert' } })
  await expect(serve(fleet, TOYS, { ...quiet, port: 0, tlsKey: '/nowhere/key.pem' })).rejects.toMatchObject({
    facts: { field: 'tls-cert' },
  })
})

test('with a certificate it speaks TLS', async () => {
  const fleet = await aFleet()
  // A pair for tests only, kept in the repository because not every machine has openssl.
  const [cert, key] = ['cert', 'key'].map(part =>
    join(import.meta.dirname, `../../test/fixtures/localhost-${part}.pem`),
  )
  const server = await serve(fleet, TOYS, { ...quiet, port: 0, tlsCert: cert, tlsKey: key })
  onTestFinished(() => server.close())
  expect(server.url).toMatch(/^https:/)
  const sent = request(await server.signInUrl(), { rejectUnauthorized: false, agent: false }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  expect(response.statusCode).toBe(200)
})
