import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { NODE, ROOT, scaled } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

const RUNS = 6
const BRIDGES = 5
const ROUNDS = scaled(2, 8)

test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
  'round %i: several fleet run with no server share the one that comes first, and all tell how it ended',
  async () => {
    const { fleet, repository } = await aScene({ start: false })
    // It is not a project yet. Creating it is part of the race.
    const repo = await repository()
    const runs = await Promise.all(
      Array.from({ length: RUNS }, (_, n) =>
        fleet.fleetCommand(['run', `echo ${n} >file-${n}.txt`, '--agent', 'shell', '--landing', 'auto'], {
          cwd: repo.path,
        }),
      ),
    )
    try {
      expect(runs.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual(Array(RUNS).fill(0))
      for (let n = 0; n < RUNS; n++) expect(await repo.readOn('main', `file-${n}.txt`)).toBe(String(n))
    } finally {
      await fleet.fleetCommand(['down'])
    }
  },
)

test('several fleet mcp with no server all answer', async () => {
  const { fleet } = await aScene({ start: false })
  const env = { PATH: process.env.PATH!, HOME: fleet.root, FLEET_HOME: fleet.fleet.home.path }
  const ask = async (): Promise<string> => {
    const child = spawn(NODE, [`${ROOT}/bin/fleet.js`, 'mcp'], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', chunk => {
      complaint += chunk
    })
    child.stdin.on('error', () => {})
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })}\n`)
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(([text]) => text as string),
      once(child, 'exit').then(([code]) => `exit ${code}: ${complaint}`),
    ])
    child.stdin.end()
    return line
  }
  try {
    const answers = await Promise.all(Array.from({ length: BRIDGES }, ask))
    expect(answers.filter(answer => !answer.includes('"tools"'))).toEqual([])
  } finally {
    await fleet.fleetCommand(['down'])
  }
})
