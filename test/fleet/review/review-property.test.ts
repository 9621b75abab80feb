import { existsSync } from 'node:fs'
import { appendFile, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Refusal } from '../../../src/domain/errors.ts'
import { runGit, type TestRepository } from '../../../src/git/testkit.ts'
import type { MissionView } from '../../../src/operations/views.ts'
import { eventually, FULL } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

/**
 * Random histories with dependencies, stages, policies, landings, people and late processes. Whatever happens, only the
 * commit that was shown and approved lands, or its merge with the base branch.
 * More rounds: FLEET_REVIEW_ROUNDS=200 npx vitest run test/fleet/review/review-property.test.ts. One round again:
 * FLEET_REVIEW_SEED=<seed>.
 */
const ROUNDS = Number(process.env.FLEET_REVIEW_ROUNDS ?? (FULL ? 60 : 5))
const SEED = Number(process.env.FLEET_REVIEW_SEED ?? Date.now() % 1_000_000)

const SHARED = ['alpha.txt', 'beta.txt', 'gamma.txt']
const LINES = Array.from({ length: 12 }, (_, n) => `line ${n}`).join('\n')
const OPEN = ['queued', 'running', 'landing']

interface Made {
  id: string
  /** A file that only this mission writes. */
  mark: string
  /** Whether somebody has to approve it. */
  asks: boolean
}
interface Shown {
  text: string
  files: { path: string }[]
  base: string
}
interface Round {
  scene: Scene
  repo: TestRepository
  made: Made[]
  /** By mission and candidate. */
  shown: Map<string, Shown>
  random: Random
}

class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
  chance = (percent: number): boolean => this.below(100) < percent
  one = <T>(of: readonly T[]): T => of[this.below(of.length)]!
}

function scriptOf(random: Random, mark: string, n: number): string {
  const lines = [`echo ${mark} > ${mark}`]
  const at = 1 + random.below(12)
  if (random.chance(60)) lines.push(`sed -i '${at}s/.*/by ${mark}/' ${random.one(SHARED)} 2>/dev/null || true`)
  if (random.chance(20)) lines.push(`git mv -k ${random.one(SHARED)} moved-${n}.txt 2>/dev/null || true`)
  if (random.chance(15)) lines.push(`rm -f ${random.one(SHARED)}`)
  if (random.chance(30)) lines.push("git add -A; git commit -qm 'of its own'; echo more >> own.txt")
  // In a conflict it takes one side or gives up.
  const merges = random.chance(50) ? 'git checkout --ours . 2>/dev/null; git add -A' : 'git merge --abort'
  return `if [ "$FLEET_REASON" = conflict ]; then ${merges}; exit 0; fi\n${lines.join('\n')}`
}

async function makeMissions(round: Round, project: { id: string }, policy: string): Promise<void> {
  const { scene, random, made } = round
  const count = 3 + random.below(3)
  for (let n = 0; n < count; n++) {
    const mark = `mark-${n}.txt`
    const landing = random.one(['auto', 'review', 'never', null])
    const depends_on = made.filter(() => random.chance(45)).map(({ id }) => id)
    const start_from = depends_on.length ? random.one(['base', 'branch', 'branch']) : 'base'
    const fields = { title: `mission ${n}`, landing, depends_on, start_from }
    const { id } = await scene.fleet.mission(project, scriptOf(random, mark, n), fields)
    made.push({ id, mark, asks: (landing ?? policy) !== 'auto' })
  }
}

async function makeStages(round: Round, project: { id: string }, policy: string): Promise<void> {
  const { scene, random, made } = round
  const count = 2 + random.below(2)
  const stages = Array.from({ length: count }, (_, n) => ({
    name: `stage${n}`,
    prompt: scriptOf(random, `stage-${n}.txt`, n),
    depends_on: n ? [n - 1] : [],
  }))
  const input = { name: 'flow', project_id: project.id, task_prompt: 'x', stages }
  const { id } = await scene.fleet.call<{ id: string }>('create_workflow', input)
  const flow = await scene.fleet.call<{ stages: { mission_id: string }[] }>('get_workflow', { workflow_id: id })
  for (const [n, { mission_id }] of flow.stages.entries()) {
    await eventually('its mission', () => scene.fleet.fleet.store.get('missions', mission_id))
    // The last stage covers the work of the stages before it.
    made.push({ id: mission_id, mark: `stage-${n}.txt`, asks: n === count - 1 && policy !== 'auto' })
  }
}

const standing = async ({ scene, made }: Round): Promise<MissionView[]> =>
  (await scene.fleet.call<{ missions: MissionView[] }>('list_missions', { ids: made.map(({ id }) => id), limit: 100 }))
    .missions

/** Waits until nothing is running. A mission whose dependency waits for a person counts as at rest. */
const atRest = (round: Round): Promise<MissionView[]> =>
  eventually(
    'everything at rest',
    async () => {
      const all = await standing(round)
      const busy = all.some(
        ({ status, waits_for }) =>
          OPEN.includes(status) && !waits_for.some(({ kind }) => ['review', 'blocked', 'dependencies'].includes(kind)),
      )
      return busy ? undefined : all
    },
    async () => JSON.stringify((await standing(round)).map(({ id, status, waits_for }) => ({ id, status, waits_for }))),
  )

/** A person looks, and the test records what was shown. */
async function look({ scene, repo, shown }: Round, mission_id: string): Promise<string | undefined> {
  const base = await repo.tip()
  const diff = await scene.fleet.call<Shown & { candidate: string | null }>('diff_mission', { mission_id })
  if (!diff.candidate) return undefined
  // If the base branch moved in between, nobody has seen that state.
  if ((await repo.tip()) === base) shown.set(`${mission_id} ${diff.candidate}`, { ...diff, base })
  return diff.candidate
}

async function disturb({ repo, random }: Round, mission: MissionView, worktree: string | null): Promise<void> {
  const what = random.below(5)
  if (what === 0) await repo.commit('by a person', { [`person-${random.below(1000)}.txt`]: 'mine\n' })
  if (what === 1) {
    const file = random.one(SHARED)
    await repo.commit('by a person', { [file]: `${LINES}\nperson ${random.below(1000)}\n` })
  }
  if (what === 2 && worktree && existsSync(worktree))
    await appendFile(join(worktree, `late-${mission.id}.txt`), 'late\n')
}

async function act(round: Round, mission: MissionView): Promise<void> {
  const { scene, random } = round
  const { fleet } = scene
  const expected = await look(round, mission.id)
  const session = mission.session_id && (await fleet.fleet.store.get('sessions', mission.session_id))
  await disturb(round, mission, session ? session.value.worktree : null)
  const wanted = random.chance(85) ? expected : random.one([undefined, await round.repo.tip()])
  const refusal = await fleet.call('land_mission', { mission_id: mission.id, expected: wanted }).then(
    () => undefined,
    error => error,
  )
  if (refusal && !(refusal instanceof Refusal)) throw refusal
  if (!refusal) expect(wanted, 'nothing lands without the id that was shown').toBe(expected)
}

const landable = ({ status, result, branch, status_reason }: MissionView): boolean =>
  branch !== null &&
  (status === 'review' ||
    (status === 'needs_input' && status_reason?.code !== 'question') ||
    (status === 'done' && result === 'kept'))

async function play(round: Round): Promise<void> {
  for (let turn = 0; turn < 12; turn++) {
    const waiting = (await atRest(round)).filter(landable)
    if (!waiting.length) return
    if (turn > 3 && round.random.chance(20)) return
    await act(round, round.random.one(waiting))
  }
  await atRest(round)
}

/** Checks what landed with another git, in a clone. */
async function judge({ scene, repo, made, shown }: Round): Promise<number> {
  const clone = await mkdtemp(join(repo.root, 'clone-'))
  const git = (...args: string[]) => runGit(clone, args)
  await git('init', '--quiet', '--bare')
  await git('fetch', '--quiet', repo.path, '+refs/*:refs/all/*')
  const files = new Set(await repo.filesOn('main'))
  let landings = 0
  for (const { id, mark, asks } of made) {
    const { landed, past_landings } = await scene.fleet.show(id)
    const all = [...past_landings, ...(landed ? [landed] : [])]
    if (asks && files.has(mark)) expect(all, `${mark} is on main`).not.toEqual([])
    for (const each of all) {
      if (each.with) continue
      landings++
      const { candidate, commit, onto, approved } = each
      await git('fetch', '--quiet', repo.path, candidate!)
      expect(await git('rev-parse', `${commit}^@`)).toBe(onto)
      const parted = await git('merge-base', onto, candidate!)
      const tree = await git('rev-parse', `${commit}^{tree}`)
      if (asks) expect(approved, `${id} was let land`).not.toBe(null)
      const seen = approved && shown.get(`${id} ${candidate}`)
      if (approved) expect(seen, `${candidate} was shown`).toBeTruthy()
      const paths = (await git('diff-tree', '-r', '--name-only', '--no-renames', onto, commit)).split('\n')
      const offered = (await git('diff-tree', '-r', '--name-only', '--no-renames', parted, candidate!)).split('\n')
      if (parted === onto) {
        expect(tree).toBe(await git('rev-parse', `${candidate}^{tree}`))
        expect(paths).toEqual(offered)
        if (seen && seen.base === onto)
          expect(seen.text).toBe(`${await git('diff-tree', '-p', '-r', '-M', onto, commit)}\n`)
      } else expect(tree).toBe((await git('merge-tree', '--write-tree', onto, candidate!)).split('\n')[0])
      // Nothing landed with it that needed an approval and had none.
      for (const other of made)
        if (other.asks && other.id !== id && paths.includes(other.mark))
          expect.fail(`${other.id} rode along with ${id}`)
    }
  }
  return landings
}

test(`${ROUNDS} random histories from seed ${SEED}: what lands is what was shown`, {
  timeout: 60_000 + ROUNDS * 40_000,
}, async () => {
  const scene = await aScene()
  let landings = 0
  for (let n = 0; n < ROUNDS; n++) {
    const random = new Random(SEED + n)
    const repo = await scene.repository({ files: Object.fromEntries(SHARED.map(file => [file, `${LINES}\n`])) })
    await repo.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
    const policy = random.one(['auto', 'review', 'never'])
    const project = await scene.fleet.project(repo.path, { name: `round ${n}`, landing: policy })
    const round: Round = { scene, repo, made: [], shown: new Map(), random }
    try {
      await (random.chance(35) ? makeStages : makeMissions)(round, project, policy)
      await play(round)
      landings += await judge(round)
    } catch (error) {
      throw new Error(`seed ${SEED + n} (FLEET_REVIEW_SEED=${SEED + n} FLEET_REVIEW_ROUNDS=1)`, { cause: error })
    }
  }
  expect(landings).toBeGreaterThan(0)
})
