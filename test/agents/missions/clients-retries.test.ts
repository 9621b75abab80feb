import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually, FULL } from '../../kit/fleet.ts'
import { clientScenes, REAL_CLIENTS, type RealClient } from '../../kit/real-clients.ts'
import type { Scene } from '../../kit/scene.ts'
import { type Step, steps } from '../../model/index.ts'

const { sceneOf } = clientScenes()

const PARK_AFTER_S = 8
const STALL_AFTER_S = 8
const HOUR_MS = 3_600_000
const PATIENCE_MS = 90_000

/** What a provider with problems does. */
const TROUBLES: Record<string, Step[]> = {
  'a short 429': [{ fail: 429, times: 1, retryAfter: 3 }, { say: 'Done.' }],
  'a 429 for an hour': [{ fail: 429, retryAfter: 3600 }],
  'a 429 for ten seconds': [{ fail: 429, times: 1, retryAfter: 10 }, { say: 'Done.' }],
  'a storm of 500': [{ fail: 500 }],
  'a storm of 529': [{ fail: 529 }],
  'a 401': [{ fail: 401 }],
  'a 403': [{ fail: 403 }],
  'no answer': [{ hang: true }],
}
type Trouble = keyof typeof TROUBLES

/** The small part that always runs: one case for each rule. */
const ALWAYS: [client: string, trouble: Trouble][] = [
  ['claude', 'a short 429'],
  ['claude', 'a 401'],
  ['codex', 'a 429 for ten seconds'],
  ['codex', 'no answer'],
]

/** What a client handles itself or does not report, as measured. Everything else follows the rules. */
const CLAUDE: Partial<Record<Trouble, Expected>> = { 'a 429 for an hour': 'limited', 'a storm of 529': 'failed' }
const OWN_WAYS: Record<string, Partial<Record<Trouble, Expected>>> = {
  claude: CLAUDE,
  'claude (sdk)': CLAUDE,
  'claude-acp': CLAUDE,
  codex: { 'a storm of 500': 'told in words' },
  'gemini-acp': {
    ...{ 'a short 429': 'unnoticed', 'a 429 for an hour': 'limited', 'a 429 for ten seconds': 'unnoticed' },
    ...{ 'a storm of 500': 'silent', 'a storm of 529': 'silent' },
  },
  opencode: Object.fromEntries(
    Object.keys(TROUBLES)
      .filter(trouble => trouble !== 'a 401' && trouble !== 'no answer')
      .map(trouble => [trouble, 'told in words']),
  ),
}

/**
 * told: it reports that it retries; parked: it also gives its slot back until then; refused: a person has to sign in.
 */
type Expected =
  | 'told'
  | 'told in words'
  | 'parked'
  | 'limited'
  | 'refused'
  | 'failed'
  | 'stalled'
  | 'silent'
  | 'unnoticed'

const EXPECTED: Record<Trouble, Expected> = {
  'a short 429': 'told',
  'a 429 for an hour': 'parked',
  'a 429 for ten seconds': 'parked',
  'a storm of 500': 'told',
  'a storm of 529': 'told',
  'a 401': 'refused',
  'a 403': 'refused',
  'no answer': 'stalled',
}

const cells = new Map<string, string>()
afterAll(() => {
  const troubles = Object.keys(TROUBLES)
  const rows = REAL_CLIENTS.map(({ name }) => [name, ...troubles.map(each => cells.get(`${name} ${each}`) ?? '—')])
  const head = ['client', ...troubles]
  console.log([head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n'))
})

const isWanted = (name: string, trouble: Trouble): boolean =>
  FULL || ALWAYS.some(([client, each]) => client === name && each === trouble)

for (const client of REAL_CLIENTS) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  const troubles = Object.keys(TROUBLES).filter(trouble => isWanted(client.name, trouble))
  if (troubles.length)
    test.skipIf(!client.binary).each(troubles)(
      `${client.name}, %s: it is told, and holds no slot for nothing`,
      async trouble => {
        const scene = await sceneOf(client, {
          env: {
            // The client's default.
            CLAUDE_CODE_MAX_RETRIES: '10',
            FLEET_PARK_AFTER: String(PARK_AFTER_S),
            ...(trouble === 'no answer' && { FLEET_STALL_AFTER: String(STALL_AFTER_S), FLEET_STALL_POLICY: 'restart' }),
          },
        })
        asItComes(scene)
        // The model counts failures per script, so no two scripts are the same.
        const prompt = `Do it.\n${steps(...TROUBLES[trouble]!, { say: `Nothing more for ${client.name}.` })}`
        const { id } = await scene.fleet.mission(scene.project, prompt, { mission_type: 'review' })
        await CHECKS[OWN_WAYS[client.name]?.[trouble] ?? EXPECTED[trouble]!](scene, id, { client, trouble })
      },
      180_000,
    )
}

/** Removes the settings that keep other tests short. */
function asItComes({ fleet }: Scene): void {
  const { CODEX_HOME, GEMINI_CLI_HOME } = fleet.fleet.environment
  const without = (file: string, limit: RegExp) => writeFileSync(file, readFileSync(file, 'utf8').replace(limit, ''))
  if (CODEX_HOME) without(join(CODEX_HOME, 'config.toml'), /^.*_max_retries.*\n/gm)
  if (GEMINI_CLI_HOME) without(join(GEMINI_CLI_HOME, '.gemini', 'settings.json'), /,"maxAttempts":\d+/)
}

interface Case {
  client: RealClient
  trouble: Trouble
}

const CHECKS: Record<Expected, (scene: Scene, id: string, it: Case) => Promise<void>> = {
  async told(scene, id, it) {
    const status = /\d+$/.exec(it.trouble)?.[0] ?? '429'
    await saysThatItTries(scene, id, it, new RegExp(`^retrying \\(${status}\\)`))
  },
  async 'told in words'(scene, id, it) {
    await saysThatItTries(scene, id, it, /^retrying \(.*\)/)
  },
  async parked({ fleet }, id, it) {
    const first = await ended(fleet, id)
    const { status, status_reason, not_before, sessions } = await fleet.show(id)
    note(it, `${first.outcome}: ${first.outcome_reason}`)
    expect(first, first.outcome_reason ?? '').toMatchObject({ outcome: 'rate_limited', retrying: null })
    expect(fleet.processes(first.id)).toEqual([])
    if (it.trouble === 'a 429 for an hour') {
      expect({ status, code: status_reason?.code }).toEqual({ status: 'queued', code: 'rate_limited' })
      const wait = Date.parse(not_before!) - Date.parse(first.ended_at!)
      expect(wait).toBeGreaterThan(HOUR_MS - 60_000)
      expect(wait).toBeLessThan(HOUR_MS + 60_000)
      expect(sessions).toHaveLength(1)
      return
    }
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done.sessions.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'completed'])
    expect(done.sessions[1]!.conversation).toBe(first.conversation)
  },
  /** The client itself gives up, without saying when to try again. */
  async limited({ fleet }, id, it) {
    const first = await ended(fleet, id)
    note(it, `${first.outcome}: ${first.outcome_reason}`)
    expect(first.outcome, first.outcome_reason ?? '').toBe('rate_limited')
  },
  async refused({ fleet }, id, it) {
    const first = await ended(fleet, id)
    const seconds = (Date.parse(first.ended_at!) - Date.parse(first.started_at!)) / 1000
    note(it, `${first.outcome} after ${seconds.toFixed(0)} s: ${first.outcome_reason}`)
    expect(first.outcome).toBe('failed')
    expect(first.outcome_reason).toMatch(/sign in/i)
    // Most of it is the start. The useless retries would take three minutes.
    expect(seconds).toBeLessThan(60)
    expect((await fleet.show(id)).status).toBe('failed')
  },
  async failed({ fleet }, id, it) {
    const first = await ended(fleet, id)
    note(it, `${first.outcome}: ${first.outcome_reason}`)
    expect(first.outcome).toBe('failed')
  },
  async stalled({ fleet }, id, it) {
    const first = await ended(fleet, id)
    note(it, `${first.outcome}: ${first.outcome_reason}`)
    expect(first.outcome, first.outcome_reason ?? '').toBe('stalled')
    await fleet.call('cancel_mission', { mission_id: id })
  },
  /** It waits by itself, and then finishes. */
  async unnoticed({ fleet }, id, it) {
    const { sessions } = await fleet.until(id, 'done', 'failed', 'needs_input')
    note(it, `${sessions[0]!.outcome} without a word of it`)
    expect(sessions.map(({ outcome }) => outcome)).toEqual(['completed'])
  },
  /** Nothing is known except that it is running. A person sees for how long. */
  async silent({ fleet }, id, it) {
    note(it, 'says nothing')
    await eventually('it is at work', async () => (await fleet.show(id)).sessions[0]?.status === 'running')
    await fleet.call('cancel_mission', { mission_id: id })
  },
}

async function saysThatItTries({ fleet }: Scene, id: string, it: Case, words: RegExp): Promise<void> {
  const seen = await eventually(
    'it says that it tries again',
    async () => {
      const mission = await fleet.show(id)
      return mission.waits_for.some(({ kind }) => kind === 'retry') ? mission : undefined
    },
    async () => JSON.stringify((await fleet.show(id)).sessions),
    PATIENCE_MS,
  )
  note(it, seen.waits_for[0]!.text)
  expect(seen.status).toBe('running')
  expect(seen.waits_for[0]!.text).toMatch(words)
  expect(seen.sessions[0]!.retrying).toMatchObject({ why: expect.any(String), since: expect.any(String) })
  const listed = await fleet.fleetCommand(['mission', 'list'])
  const status = await fleet.fleetCommand(['status'])
  if (!TROUBLES[it.trouble]!.some(step => 'say' in step)) {
    expect(listed.stdout).toContain('retrying (')
    expect(status.stdout).toContain('retrying (')
    await fleet.call('cancel_mission', { mission_id: id })
    return
  }
  const done = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(done).toMatchObject({ status: 'done', waits_for: [] })
  expect(done.sessions.map(({ outcome, retrying }) => ({ outcome, retrying }))).toEqual([
    { outcome: 'completed', retrying: null },
  ])
  const kinds = (await fleet.events()).map(({ kind }) => kind)
  expect(kinds).toContain('retrying')
}

const ended = (fleet: Scene['fleet'], id: string) =>
  eventually(
    'its first session ends',
    async () => (await fleet.show(id)).sessions.find(({ status }) => status === 'ended'),
    async () => JSON.stringify((await fleet.show(id)).sessions),
    PATIENCE_MS,
  )

const note = ({ client, trouble }: Case, what: string): void => {
  cells.set(`${client.name} ${trouble}`, what.replaceAll('\n', ' ').slice(0, 160))
}
