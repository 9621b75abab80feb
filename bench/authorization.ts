import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aMission, aProject } from '../src/domain/samples.testkit.ts'
import { makeFleet } from '../src/fleet/fleet.ts'
import { addPrincipal } from '../src/fleet/people/principals.ts'
import { makeToken } from '../src/fleet/people/tokens.ts'
import { put } from '../src/fleet/records.ts'
import { authorize } from '../src/operations/authorize.ts'
import { operationNamed } from '../src/operations/index.ts'
import type { Caller, Principal } from '../src/operations/operation.ts'
import { openHome } from '../src/platform/home.ts'
import { memoryKeys } from '../src/platform/keys.ts'
import { callerOf } from '../src/server/auth.ts'
import { openStore } from '../src/store/index.ts'
import { type Bench, median, ms, type Row } from './figure.ts'

const PROJECTS = 50
const MISSIONS = 20
const DEMANDED_MS = 0.2

const OWNER: Caller = { kind: 'owner' }
const PERSON: Principal = {
  ...{ kind: 'person', id: 'ada', name: 'Ada', limit: null },
  grants: [{ role: 'team-lead', project_id: 'p7' }],
}

/** What it costs to decide whether somebody may ask, and to give them the fleet as they see it. */
export const authorization: Bench = async scale => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const home = openHome(root)
  const store = await openStore({ engine: 'sqlite', file: home.storeFile }, { migrate: true })
  const fleet = makeFleet({ home, keys: memoryKeys(), store, environment: {} })
  try {
    for (let p = 0; p < PROJECTS; p++) {
      const missions = Array.from({ length: MISSIONS }, (_, m) => aMission({ id: `p${p}-m${m}`, project_id: `p${p}` }))
      const project = aProject({ id: `p${p}`, name: `p${p}`, path: `/p${p}` })
      await store.commit({
        changes: [put('projects', project, 'absent'), ...missions.map(each => put('missions', each, 'absent'))],
      })
    }
    const rows: Row[] = []
    // One record is read to know its project; without it, nothing but a promise is left.
    const reading = await timed(
      scale.of(5000, 500),
      async n => void (await store.get('missions', `p7-m${n % MISSIONS}`)),
    )
    const nothing = await timed(scale.of(5000, 500), async () => {})
    for (const [who, caller] of [
      ['the owner', OWNER],
      [`a person in 1 of ${PROJECTS} projects`, PERSON],
    ] as const) {
      const named = await timed(scale.of(5000, 500), async n => {
        const input = { mission_id: `p7-m${n % MISSIONS}` }
        await authorize(operationNamed('land_mission')!, { fleet, caller }, input)
      })
      const listed = await timed(scale.of(5000, 500), async () => {
        await authorize(operationNamed('list_missions')!, { fleet, caller }, {})
      })
      rows.push(row(`authorize a command about a mission, ${who}, median`, named, reading))
      rows.push(row(`authorize a list, ${who}, median`, listed, nothing))
    }
    const ask = { operation: 'bench', actor: 'person' }
    const person = await addPrincipal(fleet, ask, { kind: 'person', name: 'Ada', grants: [...PERSON.grants] })
    const { token } = await makeToken(fleet, ask, person, { name: 'bench', grants: null, expires_at: null })
    const known = await timed(scale.of(5000, 500), async () => void (await callerOf(fleet, `Bearer ${token}`)))
    rows.push(row('know who asks, by the token of a person, median', known, reading))
    return rows
  } finally {
    await fleet.close()
    rmSync(root, { recursive: true, force: true })
  }
}

async function timed(times: number, run: (n: number) => Promise<void>): Promise<number> {
  const took: number[] = []
  for (let n = -100; n < times; n++) {
    const began = performance.now()
    await run(Math.abs(n))
    if (n >= 0) took.push(performance.now() - began)
  }
  return median(took)
}

const row = (figure: string, measured: number, floor: number): Row => ({
  ...{ figure, measured: `${measured.toFixed(4)} ms`, floor: `${floor.toFixed(4)} ms` },
  ...{ demanded: `< ${ms(DEMANDED_MS)}`, met: measured < DEMANDED_MS },
})
