import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../clients/clients.ts'
import { eventually } from '../kit/fleet.ts'
import { prompt } from '../kit/mission-scenarios.ts'
import { aScene } from '../kit/scene.ts'
import { startModel } from '../model/index.ts'

const MIB = 1024 * 1024
const MOST_MIB = 250
/** The memory of one client, with some reserve. On a small machine fewer clients are started. */
const CLIENT_MIB = 300
const SESSIONS = Math.min(20, Math.floor(totalmem() / MIB / 2 / CLIENT_MIB))

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

const residentMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')

describe.skipIf(!binary)('the real client, idle', () => {
  test('20 idle sessions: the server stays small, and has one wrapper for each and nothing else', async () => {
    const model = await startModel()
    const { fleet, project } = await aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        FLEET_MAX_CONCURRENT: String(SESSIONS),
      },
    })
    const settings = { tool_preset: 'review', approvals: 'ask' }
    const script = prompt({ write: 'asked.txt', content: 'x' }, { say: 'Never said.' })
    for (let made = 0; made < SESSIONS; made++) await fleet.mission(project, script, settings)
    const questions = () => fleet.call<{ questions: { session_id: string }[] }>('list_inbox')
    const asked = await eventually(
      'every agent waits for an answer',
      async () => {
        const { questions: open } = await questions()
        return open.length === SESSIONS ? open : undefined
      },
      async () => `${(await questions()).questions.length} of ${SESSIONS}`,
      120_000,
    )

    const { server } = await fleet.call<{ server: { pid: number } }>('system_status')
    const spawner = Number(/\d+/.exec(readFileSync(`${fleet.fleet.home.path}/spawner`, 'utf8'))?.[0])
    const sessions = asked.map(({ session_id }) => fleet.processes(session_id).map(commandOf))
    for (const commands of sessions) {
      expect(commands.filter(command => command.includes('wrapper.sh'))).toHaveLength(1)
      expect(commands.filter(command => !/wrapper\.sh|^\S*claude /.test(command))).toEqual([])
    }
    const [own, helper] = [residentMib(server.pid), residentMib(spawner)]
    console.warn(
      `With ${SESSIONS} idle sessions of the real Claude client the server takes ${own.toFixed(0)} MiB, its spawner ${helper.toFixed(0)} MiB.`,
    )
    expect(own + helper).toBeLessThan(MOST_MIB)
    for (const { session_id } of asked) for (const pid of fleet.processes(session_id)) process.kill(pid, 'SIGKILL')
    await model.close()
  }, 180_000)
})
