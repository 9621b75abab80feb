import { execFile } from 'node:child_process'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { aServer } from '../../../../src/server/server.testkit.ts'
import { NODE, ROOT } from '../../../kit/fleet.ts'
import { EXPECTED } from './offer.ts'

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

test('the official conformance suite passes on the code that offers the fleet', async () => {
  const front = await aFront()
  const { server, fleet } = await aServer([], {
    endpoints: [{ path: '/mcp', offer: () => EXPECTED }],
    allowedHosts: [`localhost:${front.port}`],
  })
  front.leadTo(server.url, await fleet.keys.ownerToken())

  const args = ['server', '--suite', 'all', '--url', `http://localhost:${front.port}/mcp`]
  const baseline = ['--expected-failures', join(import.meta.dirname, 'not-offered.yml')]
  const { stdout } = await promisify(execFile)(NODE, [SUITE, ...args, ...baseline]).catch(
    (failure: { stdout: string; stderr: string }) => {
      throw new Error(`${failure.stdout}\n${failure.stderr}`)
    },
  )
  expect(stdout.match(/^✓ .*: [1-9]\d* passed, 0 failed$/gm)?.length, stdout).toBeGreaterThan(20)
})

/** Adds the token, which the suite cannot send. All other headers stay as they are. */
async function aFront(): Promise<{ port: number; leadTo(url: string, token: string): void }> {
  let [target, token] = [new URL('http://127.0.0.1'), '']
  const front = createServer((incoming, outgoing) => {
    const { hostname, port } = target
    const { method, url: path, headers } = incoming
    const sent = request({ hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${token}` } })
    sent.on('response', response => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    // The suite hangs up on some streams before they are answered.
    sent.on('error', () => outgoing.destroy())
    incoming.pipe(sent)
    outgoing.once('close', () => sent.destroy())
  })
  await new Promise<void>(listening => front.listen(0, 'localhost', listening))
  onTestFinished(() => void front.close().closeAllConnections())
  return {
    port: (front.address() as AddressInfo).port,
    leadTo: (url, secret) => {
      target = new URL(url)
      token = secret
    },
  }
}
