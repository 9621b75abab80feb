import { expect, test } from 'vitest'
import { EFFECTS } from '../../src/platform/effects.ts'
import { FULL, scaled } from '../kit/fleet.ts'
import { randomFrom } from '../kit/random.ts'
import {
  chain,
  conflict,
  HALF_SENT,
  looped,
  MOST_COMMITS,
  SCENARIOS,
  type Scenario,
  sentBack,
  spoken,
} from './scenarios/index.ts'
import { type Problem, verify } from './verify.ts'
import { type Harm, type Point, World } from './world.ts'

const AT_ONCE = 2
const MINUTES = 60_000
const SEED = 20_261
/**
 * In the full run, each effect is killed at its first few occurrences in a scenario, because they mean different
 * things.
 */
const TIMES = 3
/** Only so many points, for another engine beside the full suite. Undefined: all. */
const SAMPLE = process.env.FLEET_TEST_CHAOS_POINTS ? Number(process.env.FLEET_TEST_CHAOS_POINTS) : undefined

interface Run {
  scenario: Scenario
  harm: Harm
}
interface Ended extends Run {
  reached: Point[]
  killed: boolean
  problems: Problem[]
}

/** Cases that only the next server handles, and a moment within an effect. */
const MORE: readonly Run[] = [
  { scenario: chain, harm: { kills: ['spawn.agent before 1', 'claim.take before 1'] } },
  { scenario: chain, harm: { kills: ['spawn.agent before 1', 'claim.take after 1'] } },
  { scenario: spoken, harm: { moment: HALF_SENT } },
  // Project, mission, two comments, and then the commit that sends them.
  { scenario: sentBack, harm: { kills: ['commit.wish before 5'] } },
  { scenario: sentBack, harm: { kills: ['commit.wish after 5'] } },
  // The approval of a plan, and the moment between two rounds.
  { scenario: looped, harm: { kills: ['commit.wish before 5'] } },
  { scenario: looped, harm: { kills: ['commit.wish after 5'] } },
  { scenario: looped, harm: { kills: ['commit.loop after 2'] } },
]

/** Only those that are to run are declared, because here a test that is skipped counts as failed. */
if (SAMPLE === undefined) {
  test(
    'a server killed before and after every effect loses nothing and does nothing twice',
    atEveryPoint,
    scaled(20, 60) * MINUTES,
  )
  test(
    'a server killed at any instant, and again while it recovers, loses nothing and does nothing twice',
    atAnyInstant,
    scaled(10, 30) * MINUTES,
  )
} else {
  test('a server killed at some of the points loses nothing and does nothing twice', () => atSome(SAMPLE), 20 * MINUTES)
}

async function atEveryPoint(): Promise<void> {
  const surveys = await all(SCENARIOS.map(scenario => ({ scenario, harm: {} })))
  expectNoProblems(surveys)
  const runs = [...pointsToTry(surveys), ...MORE]
  const tried = new Set(runs.flatMap(pointsOf))
  const missing = EFFECTS.flatMap(name => [`${name} before`, `${name} after`]).filter(point => !tried.has(point))
  expect(missing, 'points that no scenario reaches').toEqual([])
  await killAt(runs)
}

async function atAnyInstant(): Promise<void> {
  const random = randomFrom(SEED)
  const upTo = (most: number) => 1 + Math.floor(random() * most)
  const runs = Array.from({ length: scaled(5, 50) }, (_, i): Run[] => [
    { scenario: i % 2 ? conflict : chain, harm: { afterMs: 300 + upTo(2500) } },
    { scenario: SCENARIOS[i % SCENARIOS.length]!, harm: { kills: [60, 12, 12].map(most => `any ${upTo(most)}`) } },
  ])
  expectNoProblems(await all(runs.flat()))
}

async function atSome(points: number): Promise<void> {
  const surveys = await all(MOST_COMMITS.map(scenario => ({ scenario, harm: {} })))
  expectNoProblems(surveys)
  const runs = sampleOf(pointsToTry(surveys), points)
  expect(runs).toHaveLength(points)
  await killAt(runs)
}

async function killAt(runs: readonly Run[]): Promise<void> {
  const ends = await all(runs)
  const problems = ends.flatMap(end => end.problems)
  const count = (kind: Problem['kind']) => problems.filter(problem => problem.kind === kind).length
  const points = new Set(ends.filter(end => end.killed).flatMap(pointsOf))
  console.log(`points ${points.size}, lost ${count('lost')}, doubled ${count('doubled')}`)
  expectNoProblems(ends)
  expect(ends.filter(end => !end.killed).map(nameOf), 'runs in which the server was not killed').toEqual([])
}

/** All commits first, because the engine writes them; then others, evenly. */
function sampleOf(runs: readonly Run[], most: number): Run[] {
  const [commits, others] = [true, false].map(isCommit =>
    runs.filter(run => pointsOf(run)[0]!.startsWith('commit.') === isCommit),
  ) as [Run[], Run[]]
  const room = Math.max(0, most - commits.length)
  const nth = (n: number): number => Math.floor((n * room) / others.length)
  return [...commits, ...others.filter((_, n) => nth(n) !== nth(n - 1))].slice(0, most)
}

/** Each point in one scenario. In the full run, in every scenario that reaches it, and several times. */
function pointsToTry(surveys: Ended[]): Run[] {
  const tried = new Set<string>()
  return surveys.flatMap(({ scenario, reached }) =>
    reached.flatMap(({ name, moment, nth }) => {
      const point = `${name} ${moment}`
      if (FULL ? nth > TIMES : tried.has(point)) return []
      tried.add(point)
      return [{ scenario, harm: { kills: [`${point} ${nth}`] } }]
    }),
  )
}

/** The points of a run, without their counts. */
const pointsOf = ({ harm }: Run): string[] =>
  [...(harm.kills ?? []).map(kill => kill.replace(/ \d+$/, '')), harm.moment].filter(point => point !== undefined)

async function all(runs: readonly Run[]): Promise<Ended[]> {
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
  const world = await World.make(scenario, harm)
  const problems: Problem[] = []
  try {
    await scenario.before?.(world)
    await world.start()
    problems.push(...(await verify(world, scenario, await scenario.play(world))))
  } catch (error) {
    problems.push(...[String(error), ...world.faults].map(text => ({ kind: 'lost' as const, text })))
  }
  const reached = world.reached()
  await world.remove()
  return { ...run, reached, killed: world.kills >= (harm.kills?.length ?? 1), problems }
}

const nameOf = ({ scenario, harm }: Run): string =>
  `${scenario.name}: ${harm.kills?.join(', then ') ?? harm.moment ?? harm.afterMs ?? 'unharmed'}`
function expectNoProblems(ends: readonly Ended[]): void {
  const problems = ends.flatMap(end => end.problems.map(({ kind, text }) => `${nameOf(end)}: ${kind}: ${text}`))
  expect(problems, problems.join('\n')).toEqual([])
}
