import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { NODE, ROOT } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

const binary = binaryOf('mcp-inspector')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('the official inspector', () => {
  test('lists and calls tools on each of the ways in, and finds no fault with their inputs', async () => {
    const { fleet, repo } = await aScene({ start: false })
    const { url } = await fleet.start()
    const { path: home } = fleet.fleet.home
    const token = await fleet.fleet.keys.ownerToken()
    const inspect = async (...args: string[]) => {
      const env = { PATH: process.env.PATH, HOME: fleet.root }
      const { stdout } = await promisify(execFile)(NODE, [binary!, '--cli', ...args], { env })
      return JSON.parse(stdout)
    }
    const header = ['--header', `Authorization: Bearer ${token}`]
    const ways = [
      [`${url}/mcp`, ...header],
      [`${url}/mcp/sse`, '--transport', 'sse', ...header],
      ['-e', `FLEET_HOME=${home}`, NODE, join(ROOT, 'bin/fleet.js'), 'mcp'],
    ]
    for (const way of ways) {
      const { tools } = await inspect(...way, '--method', 'tools/list', '--strict')
      expect(tools.map(({ name }: { name: string }) => name)).toContain('wait_for_mission')
    }
    const call = ['--method', 'tools/call', '--tool-name']
    const [http] = ways as [string[]]
    const made = await inspect(
      ...http,
      ...call,
      'create_worker',
      '--tool-arg',
      `repo_path=${repo.path}`,
      'task_name=it',
      'executor=shell',
      'prompt=echo 1 > 1.txt',
    )
    const { worker_id } = JSON.parse(made.content[0].text)
    const waited = await inspect(...http, ...call, 'wait_for_mission', '--tool-arg', `mission_id=${worker_id}`)
    expect(JSON.parse(waited.content[0].text)).toMatchObject({ answer: 'over', status: 'done' })
  })
})
