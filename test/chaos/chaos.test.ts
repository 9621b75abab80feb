import { expect, test } from 'vitest'
import { EFFECTS } from '../../src/effects.ts'
import { FULL, scaled } from '../kit/fleet.ts'
import { HALF_SENT, SCENARIOS, type Scenario } from './scenarios.ts'
import { type Problem, verify } from './verify.ts'
import { type Harm, labelOf, type Point, World } from './world.ts'

const AT_ONCE = 2
const MINUTES = 60_000
const SEED = 20_261
/** How often one effect is tried in one scenario of the full run: the first times it is passed, which mean different things. */
const TIMES = 3

interface Run {
  scenario: Scenario
  harm: Harm
}
interface Ended extends Run {
  reached: Point[]
  killed: boolean
  problems: Problem[]
  ms: number
}

test(
  'the server is killed before and after every effect, and nothing is lost or done twice',
  async () => {
    const surveys = await all(SCENARIOS.map(scenario => ({ scenario, harm: {} })))
    expect(describe(surveys)).toEqual([])
    const missing = EFFECTS.filter(name => !surveys.some(({ reached }) => reached.some(point => point.name === name)))
    expect(missing, 'effects that no scenario reaches').toEqual([])

    const spoken = SCENARIOS.find(({ name }) => name.includes('message'))!
    const ends = await all([...pointsToTry(surveys), { scenario: spoken, harm: { moment: HALF_SENT } }])
    const problems = ends.flatMap(end => end.problems)
    const count = (kind: Problem['kind']) => problems.filter(problem => problem.kind === kind).length
    const points = new Set(
      ends
        .filter(end => end.killed)
        .map(({ harm }) => (harm.point ? `${harm.point.name} ${harm.point.moment}` : harm.moment)),
    )
    console.log(`points ${points.size}, lost ${count('lost')}, doubled ${count('doubled')}`)
    expect(describe(ends)).toEqual([])
    expect(ends.filter(end => !end.killed).map(nameOf), 'points that were not reached').toEqual([])
    expect(points.size).toBe(EFFECTS.length * 2 + 1)
  },
  scaled(10, 60) * MINUTES,
)

test(
  'the server is killed at any instant',
  async () => {
    const random = randomFrom(SEED)
    const [chain, conflict] = SCENARIOS as [Scenario, Scenario]
    const runs = Array.from({ length: scaled(5, 50) }, (_, i) => ({
      scenario: i % 2 ? conflict : chain,
      harm: { afterMs: Math.round(300 + random() * 2700) },
    }))
    expect(describe(await all(runs))).toEqual([])
  },
  scaled(5, 30) * MINUTES,
)

/** Each name and moment in one scenario; in the full run in all that reach it, and not only the first time. */
function pointsToTry(surveys: Ended[]): Run[] {
  const tried = new Set<string>()
  return surveys.flatMap(({ scenario, reached }) =>
    reached.flatMap(point => {
      const label = `${point.name} ${point.moment}`
      if (FULL ? point.nth > TIMES : tried.has(label)) return []
      tried.add(label)
      return [{ scenario, harm: { point } }]
    }),
  )
}

async function all(runs: Run[]): Promise<Ended[]> {
  const ends: Ended[] = []
  const queue = [...runs]
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) ends.push(await runOne(next))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return ends
}

async function runOne(run: Run): Promise<Ended> {
  const { scenario, harm } = run
  const started = performance.now()
  const world = await World.make(scenario, harm)
  const problems: Problem[] = []
  try {
    await scenario.before?.(world)
    await world.start()
    problems.push(...(await verify(world, scenario, await scenario.play(world))))
  } catch (error) {
    problems.push({ kind: 'lost', text: String(error) }, ...world.faults.map(text => ({ kind: 'lost' as const, text })))
  }
  const reached = world.reached()
  await world.remove()
  return { ...run, reached, killed: world.kills > 0, problems, ms: performance.now() - started }
}

const nameOf = ({ scenario, harm }: Run): string =>
  `${scenario.name}: ${harm.point ? labelOf(harm.point) : (harm.moment ?? harm.afterMs ?? 'unharmed')}`
const describe = (ends: Ended[]): string[] =>
  ends.flatMap(end => end.problems.map(({ kind, text }) => `${nameOf(end)}: ${kind}: ${text}`))

/** The same numbers in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
