import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const LINE = { files: { 'line.txt': 'original\n' } }

/** Two agents change one line at once. The second one is sent back, and then runs this script. */
async function twoOnOneLine(scene: Scene, whenInConflict: string) {
  const { fleet, project, gate } = scene
  const gates = [gate('red'), gate('blue')]
  const script = (colour: string, mine: number): string =>
    `if [ "$FLEET_REASON" = conflict ]; then ${whenInConflict}; exit; fi
     ${gates[mine]!.wait}; echo ${colour} > line.txt; echo "it is ${colour}"`
  const missions = [await fleet.mission(project, script('red', 0)), await fleet.mission(project, script('blue', 1))]
  await eventually('both at work', () => gates.every(one => one.reached()))
  for (const one of gates) one.open()
  const shown = await Promise.all(
    missions.map(({ id }) => eventually(`${id} landed or in conflict`, () => settled(scene, id))),
  )
  expect(shown.filter(mission => mission.result === 'landed')).toHaveLength(1)
  const [first, second] = shown[0]!.result === 'landed' ? [shown[0]!, shown[1]!] : [shown[1]!, shown[0]!]
  return { first, second, colour: first.id === missions[0]!.id ? 'red' : 'blue' }
}

async function settled({ fleet }: Scene, id: string) {
  const mission = await fleet.show(id)
  const told = (await fleet.events()).some(event => event.mission_id === id && event.kind === 'conflict')
  return mission.status === 'done' || told ? mission : undefined
}

test('the agent resolves its conflict itself, and it lands', async () => {
  const scene = await aScene({ repository: LINE })
  const { fleet, repo } = scene
  const held = scene.gate('resolving')
  const resolve = `cp line.txt "$FLEET_ARTIFACT_DIR/seen"; cp "$FLEET_PROMPT_FILE" "$FLEET_ARTIFACT_DIR/told"; ${held.wait}; echo red and blue > line.txt`
  const { first, second, colour } = await twoOnOneLine(scene, resolve)

  await eventually('the agent is at it again', () => held.reached())
  const running = await eventually('its session to be known as running', async () => {
    const mission = await fleet.show(second.id)
    return mission.sessions[1]?.status === 'running' ? mission : undefined
  })
  expect(running.sessions).toMatchObject([{ reason: 'first' }, { reason: 'conflict' }])
  expect(running.report?.summary).toMatch(/^it is (red|blue)$/)
  expect(running.sessions[1]!.worktree).toBe(running.sessions[0]!.worktree)
  expect(running.branch).toBe(running.sessions[0]!.branch)
  const mine = colour === 'red' ? 'blue' : 'red'
  expect(await fleet.call('get_conflict', { mission_id: second.id })).toMatchObject({
    in_conflict: true,
    work: { session_id: running.sessions[0]!.id, branch: running.branch, worktree: running.sessions[0]!.worktree },
    base: { branch: 'main', commit: await repo.tip() },
    files: [
      {
        path: 'line.txt',
        kind: 'contents',
        regions: [{ line: 1, base: colour, work: mine }],
        landed: [{ commit: await repo.tip(), mission_id: first.id, title: first.title, subject: first.title }],
      },
    ],
    rounds: { used: 1, left: 1 },
    told: [{ session_id: running.sessions[1]!.id, outcome: null, text: expect.stringContaining('- line.txt') }],
  })
  held.open()

  const resolved = await fleet.until(second.id, 'done', 'review', 'needs_input')
  expect(resolved.result).toBe('landed')
  expect(await fleet.call('get_conflict', { mission_id: second.id })).toMatchObject({ in_conflict: false, files: [] })
  expect(await repo.read('line.txt')).toBe('red and blue\n')
  expect(await repo.git('log', '--merges', '--format=%h', 'main')).toBe('')
  const artifacts = join(fleet.fleet.home.task(second.id), 'artifacts')
  const seen = await readFile(join(artifacts, 'seen'), 'utf8')
  expect(seen).toContain('<<<<<<<')
  expect(seen).toContain(colour)
  expect(await readFile(join(artifacts, 'told'), 'utf8')).toContain('- line.txt')
})

test('an agent that leaves the conflict as it is: a person resolves it in the worktree, and it lands', async () => {
  const scene = await aScene({ repository: LINE })
  const { fleet, repo } = scene
  const { second, colour } = await twoOnOneLine(scene, 'echo I do not know')

  const waiting = await fleet.until(second.id, 'needs_input', 'review', 'failed', 'done')
  expect(waiting.status_reason).toMatchObject({
    code: 'conflict',
    text: expect.stringContaining('line.txt'),
    try: expect.stringContaining(`fleet conflict ${second.id}`),
  })
  expect(waiting.sessions).toHaveLength(2)
  expect(await repo.readOn('main', 'line.txt')).toBe(colour)
  const { worktree, branch } = waiting.sessions.at(-1)!
  expect(await readFile(join(worktree!, 'line.txt'), 'utf8')).toContain('<<<<<<<')
  expect(await repo.readOn(branch!, 'line.txt')).toBe(colour === 'red' ? 'blue' : 'red')
  expect(waiting.report).not.toBe(null)

  // Landing is refused while the file still has conflict markers.
  await expect(fleet.land(second.id)).rejects.toThrow(/merge under way.*line\.txt/)
  expect(await repo.readOn('main', 'line.txt')).toBe(colour)

  await writeFile(join(worktree!, 'line.txt'), 'settled by a person\n')
  await fleet.land(second.id)
  expect((await fleet.until(second.id, 'done', 'review', 'needs_input')).result).toBe('landed')
  expect(await repo.read('line.txt')).toBe('settled by a person\n')
  await eventually('its worktree is gone', async () => !(await fleet.show(second.id)).sessions.at(-1)!.worktree_kept)
  expect(existsSync(worktree!)).toBe(false)
  expect(await fleet.call('clean', { older_than_hours: 0 })).toMatchObject({ worktrees: [] })
})

test('a merge that a person backs out of holds nothing any more', async () => {
  const scene = await aScene({ repository: LINE })
  const { fleet } = scene
  const { second } = await twoOnOneLine(scene, 'echo I do not know')
  const { worktree } = (await fleet.until(second.id, 'needs_input', 'review')).sessions.at(-1)!

  await runGit(worktree!, ['merge', '--abort'])
  expect((await fleet.call<{ candidate: object }>('get_review', { mission_id: second.id })).candidate).toBeTruthy()

  expect((await fleet.show(second.id)).sessions.at(-1)).toMatchObject({ left_behind: null })
  await fleet.call('delete_mission', { mission_id: second.id })
  expect(existsSync(worktree!)).toBe(false)
})

test('an agent that backs out of the merge is asked twice, then a person decides', async () => {
  const scene = await aScene({ repository: LINE })
  const { fleet, repo } = scene
  const { second, colour } = await twoOnOneLine(scene, 'git merge --abort; echo I will not')

  const waiting = await fleet.until(second.id, 'needs_input', 'review', 'failed', 'done')
  expect(waiting.status_reason).toMatchObject({
    code: 'conflict',
    try: expect.stringContaining(`fleet conflict ${second.id}`),
  })
  expect(waiting.sessions.map(session => session.reason)).toEqual(['first', 'conflict', 'conflict'])
  const { worktree, branch } = waiting.sessions[0]!
  expect(existsSync(worktree!)).toBe(true)
  expect(await repo.readOn(branch!, 'line.txt')).toBe(colour === 'red' ? 'blue' : 'red')

  await runGit(worktree!, ['merge', '--quiet', 'main']).catch(() => 'in conflict')
  await writeFile(join(worktree!, 'line.txt'), 'merged by hand\n')
  await fleet.land(second.id)
  expect((await fleet.until(second.id, 'done', 'review', 'needs_input')).result).toBe('landed')
  expect(await repo.read('line.txt')).toBe('merged by hand\n')
})
