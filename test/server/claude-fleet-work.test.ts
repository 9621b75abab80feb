import { beforeAll, expect, test } from 'vitest'
import { aCrew, type Crew, type CrewClient, OF_WORK } from '../kit/claude-fleet.ts'
import { eventually } from '../kit/fleet.ts'
import { aGitHub, WITH_GH } from '../kit/github.ts'
import type { Anything } from '../kit/known.ts'

// Bodies and paths are those that clients of claude-fleet send. Nothing of ours is added, unless a comment says so.

let crew: Crew
let lead: CrewClient
let ada: CrewClient
let stranger: CrewClient
/** In another team of the same project. */
let neighbour: CrewClient

beforeAll(async () => {
  let clean: () => Promise<void>
  crew = await aCrew(over => {
    clean = over
  }, WITH_GH)
  lead = await crew.aClient('chief', 'team-lead')
  ada = await crew.aClient('ada')
  const { scene, aClient } = crew
  const other = await scene.fleet.project((await scene.repository()).path, { name: 'secret' })
  await scene.fleet.call('create_team', { project_id: other.id, name: 'others' })
  await scene.fleet.call('create_team', { project_id: scene.project.id, name: 'next-door' })
  neighbour = await aClient('nosy', 'team-lead', undefined, 'next-door')
  stranger = await aClient('mole', 'team-lead', undefined, 'others')
  return () => clean()
})

const taskFor = (toHandle: string, subject: string, more: object = {}) => ({
  ...{ fromUid: lead.uid, toHandle, teamName: 'crew', subject },
  ...more,
})

test('tasks are given, read and resolved, and those that block one are named', async () => {
  const first = await lead.works('POST /tasks', {}, taskFor('ada', 'Dig the well', { description: 'Deep.' }))
  expect(first).toMatchObject({
    ...{ id: expect.any(String), teamName: 'crew', subject: 'Dig the well', description: 'Deep.' },
    ...{ ownerHandle: 'ada', ownerUid: ada.uid, status: 'open', blockedBy: [] },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  })
  const second = await lead.works('POST /tasks', {}, taskFor('ada', 'Draw water', { blockedBy: [first.id] }))
  expect(second).toMatchObject({ blockedBy: [first.id], status: 'blocked' })
  const early = await ada.ask('PATCH /tasks/{id}', { id: second.id }, { status: 'resolved' })
  expect(early).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/blocked by/), blockedBy: [first.id] },
  })
  expect(await ada.works('GET /tasks/{id}', { id: second.id })).toMatchObject({ status: 'blocked' })
  expect(await ada.works('PATCH /tasks/{id}', { id: first.id }, { status: 'resolved' })).toMatchObject({
    id: first.id,
    status: 'resolved',
  })
  expect(await ada.works('PATCH /tasks/{id}', { id: second.id }, { status: 'resolved' })).toMatchObject({
    status: 'resolved',
  })
  const all = await ada.works('GET /teams/{team}/tasks', { team: 'crew' })
  expect(all.map((each: Anything) => [each.subject, each.status])).toEqual([
    ['Draw water', 'resolved'],
    ['Dig the well', 'resolved'],
  ])
  expect(await ada.refused(400, 'POST /tasks', {}, taskFor('ada', 'Di'))).toMatch(/subject/)
  expect(await lead.refused(404, 'POST /tasks', {}, taskFor('zoe', 'Dig again'))).toMatch(/no member "zoe"/)
  expect(await lead.refused(404, 'GET /tasks/{id}', { id: 'f'.repeat(20) })).toMatch(/no task/)
})

test('nobody gives a task in the name of somebody else, and a worker takes its own only', async () => {
  expect(await ada.refused(403, 'POST /tasks', {}, taskFor('ada', 'Give ada the keys'))).toMatch(/you are ada/)
  expect(await ada.refused(403, 'POST /tasks', {}, taskFor('chief', 'Work for me', { fromUid: ada.uid }))).toMatch(
    /missions\.run/,
  )
  const open = await lead.works('POST /tasks', {}, taskFor('ada', 'Paint it'))
  const bob = await crew.aClient('painter')
  expect(await bob.refused(403, 'PATCH /tasks/{id}', { id: open.id }, { status: 'resolved' })).toMatch(/ada has/)
  expect(await bob.refused(409, 'PATCH /tasks/{id}', { id: open.id }, { status: 'in_progress' })).toMatch(/ada has/)
  expect(await ada.refused(400, 'PATCH /tasks/{id}', { id: open.id }, { status: 'blocked' })).toMatch(/blockedBy/)
  const back = await ada.works('PATCH /tasks/{id}', { id: open.id }, { status: 'open' })
  // It was open before, in their words, so nothing changed.
  expect(back).toMatchObject({ ownerHandle: 'ada', status: 'open' })
  await lead.works('PATCH /tasks/{id}', { id: open.id }, { status: 'resolved' })
})

test('work items are made, listed, bundled and dispatched', async () => {
  const one = await lead.works('POST /workitems', {}, { title: 'Saw the boards', description: 'Straight.' })
  expect(one).toMatchObject({
    ...{ title: 'Saw the boards', description: 'Straight.', status: 'pending', assignedTo: null, batchId: null },
    createdAt: expect.any(Number),
  })
  const batch = await lead.works('POST /batches', {}, { name: 'The roof', workItemIds: [one.id] })
  expect(batch).toMatchObject({ name: 'The roof', status: 'open', createdAt: expect.any(Number) })
  const two = await lead.works('POST /workitems', {}, { title: 'Nail them', assignedTo: 'ada', batchId: batch.id })
  expect(two).toMatchObject({ assignedTo: 'ada', batchId: batch.id })
  expect(await ada.works('GET /workitems', {}, { batch: batch.id })).toHaveLength(2)
  expect(await ada.works('GET /workitems', {}, { assignee: 'ada', status: 'pending' })).toMatchObject([{ id: two.id }])
  expect(await ada.works('GET /workitems/{id}', { id: one.id })).toMatchObject({ id: one.id, batchId: batch.id })
  expect((await lead.works('GET /batches')).map((each: Anything) => each.name)).toEqual(['The roof'])
  expect(await ada.refused(403, 'POST /batches/{id}/dispatch', { id: batch.id }, { workerHandle: 'ada' })).toMatch(
    /missions\.run/,
  )
  const sent = await lead.works('POST /batches/{id}/dispatch', { id: batch.id }, { workerHandle: 'ada' })
  expect(sent).toEqual({ batch: expect.objectContaining({ status: 'dispatched' }), dispatchedCount: 2 })
  for (const { id } of [one, two])
    expect(await ada.works('PATCH /workitems/{id}', { id }, { status: 'completed', actor: 'ada' })).toMatchObject({
      status: 'completed',
      assignedTo: 'ada',
    })
  expect(await ada.works('GET /batches/{id}', { id: batch.id })).toMatchObject({
    status: 'completed',
    workItems: [{ status: 'completed' }, { status: 'completed' }],
  })
  const three = await lead.works('POST /workitems', {}, { title: 'Sweep up' })
  const forged = { status: 'in_progress', actor: 'chief' }
  expect(await ada.refused(403, 'PATCH /workitems/{id}', { id: three.id }, forged)).toMatch(/you are ada/)
  expect(await ada.works('PATCH /workitems/{id}', { id: three.id }, { status: 'in_progress' })).toMatchObject({
    assignedTo: 'ada',
  })
  expect(await lead.works('PATCH /workitems/{id}', { id: three.id }, { status: 'cancelled' })).toMatchObject({
    status: 'cancelled',
  })
  expect(await ada.refused(404, 'GET /workitems/{id}', { id: batch.id })).toMatch(/no work item/)
})

test('a request for a member waits in the queue, is seen there, and is taken back', async () => {
  const wanted = { requesterHandle: 'ada', targetAgentType: 'worker', task: 'Carry stones', priority: 'high' }
  const made = await ada.works('POST /spawn-queue', {}, wanted)
  expect(made).toEqual({
    ...{ requestId: expect.any(String), status: 'pending' },
    ...{ targetAgentType: 'worker', task: 'Carry stones' },
  })
  expect(await ada.works('GET /spawn-queue/{id}', { id: made.requestId })).toMatchObject({
    ...{ id: made.requestId, requesterHandle: 'ada', targetAgentType: 'worker', status: 'pending', priority: 'high' },
    ...{ payload: { task: 'Carry stones' }, dependsOn: [], spawnedWorkerId: null },
  })
  expect(await lead.works('GET /spawn-queue/status')).toMatchObject({
    queue: { pending: 1 },
    limits: { current: 0, hard: 10, remaining: 10 },
  })
  const forged = { ...wanted, requesterHandle: 'chief' }
  expect(await ada.refused(403, 'POST /spawn-queue', {}, forged)).toMatch(/you are ada/)
  const kraken = { ...wanted, targetAgentType: 'kraken' }
  expect(await ada.refused(400, 'POST /spawn-queue', {}, kraken)).toMatch(/not known here: kraken/)
  expect(await ada.works('DELETE /spawn-queue/{id}', { id: made.requestId })).toEqual({
    success: true,
    id: made.requestId,
  })
  const gone = await ada.works('GET /spawn-queue/{id}', { id: made.requestId })
  expect(gone).toMatchObject({ status: 'rejected', processedAt: expect.any(Number) })
})

test('an outside worker registers with a token of its own, and as nobody else', async () => {
  const told = { handle: 'ada', teamName: 'crew', workingDir: crew.scene.repo.path }
  expect(await ada.works('POST /orchestrate/workers/register', {}, told)).toMatchObject({
    ...{ handle: 'ada', teamName: 'crew', state: 'ready', workingDir: crew.scene.repo.path },
  })
  expect(await ada.refused(403, 'POST /orchestrate/workers/register', {}, { handle: 'chief' })).toMatch(/you are ada/)
  const elsewhere = { handle: 'ada', workingDir: '/etc' }
  expect(await ada.refused(400, 'POST /orchestrate/workers/register', {}, elsewhere)).toMatch(/workingDir/)
  const { owner, send } = crew
  expect(await send(undefined, 'POST', '/orchestrate/workers/register', told)).toMatchObject({ status: 401 })
  const forged = await send(owner, 'POST', '/orchestrate/workers/register', told)
  expect([forged.status, forged.body.error]).toEqual([403, expect.stringMatching(/not in the team|you are/)])
})

test('finished work is pushed and proposed by role, and the worktree is looked at', async () => {
  const { scene } = crew
  const github = await aGitHub(scene.repo)
  await scene.fleet.call('update_project', { project_id: scene.project.id, landing: 'review' })
  await lead.works('POST /orchestrate/spawn', {}, { handle: 'bob' })
  expect(await lead.refused(409, 'POST /orchestrate/worktree/{handle}/push', { handle: 'bob' })).toMatch(
    /handed in no work/,
  )
  const { id } = await lead.works(
    'POST /tasks',
    {},
    taskFor('bob', 'Build it', { description: 'do: echo wall > wall' }),
  )
  const done = await scene.fleet.until(id, 'review')
  const status = await lead.works('GET /orchestrate/worktree/{handle}/status', { handle: 'bob' })
  expect(status).toMatchObject({ exists: expect.any(Boolean), branch: expect.any(String), handle: 'bob' })
  expect(await ada.refused(403, 'POST /orchestrate/worktree/{handle}/push', { handle: 'bob' })).toMatch(
    /missions\.land/,
  )
  const pushed = await lead.works('POST /orchestrate/worktree/{handle}/push', { handle: 'bob' })
  expect(pushed).toMatchObject({ success: true, handle: 'bob', branch: done.branch })
  expect(await github.git('show', `${pushed.branch}:wall`)).toBe('wall')
  const proposal = { title: 'A wall', body: 'It stands.' }
  const elsewhere = { ...proposal, base: 'release' }
  expect(await lead.refused(400, 'POST /orchestrate/worktree/{handle}/pr', { handle: 'bob' }, elsewhere)).toMatch(
    /base/,
  )
  expect(await ada.refused(403, 'POST /orchestrate/worktree/{handle}/pr', { handle: 'bob' }, proposal)).toMatch(
    /missions\.land/,
  )
  const asked = await lead.works('POST /orchestrate/worktree/{handle}/pr', { handle: 'bob' }, proposal)
  expect(asked).toMatchObject({ success: true, handle: 'bob' })
  const pull = await eventually('the pull request', () => github.pulls()[0])
  expect(pull).toMatchObject({ title: 'A wall', body: expect.stringMatching(/^It stands\./), base: 'main' })
})

test('a stranger of another team reaches nothing of this one', async () => {
  const task = await lead.works('POST /tasks', {}, taskFor('ada', 'A quiet matter'))
  const item = await lead.works('POST /workitems', {}, { title: 'A quiet item' })
  const batch = await lead.works('POST /batches', {}, { name: 'A quiet batch', workItemIds: [item.id] })
  const wanted = { requesterHandle: 'ada', targetAgentType: 'worker', task: 'Whisper' }
  const { requestId } = await ada.works('POST /spawn-queue', {}, wanted)
  for (const [route, values, body] of [
    ['GET /teams/{team}/tasks', { team: 'crew' }],
    ['POST /tasks', {}, taskFor('ada', 'Tell me', { fromUid: stranger.uid })],
    ['GET /tasks/{id}', { id: task.id }],
    ['PATCH /tasks/{id}', { id: task.id }, { status: 'resolved' }],
    ['GET /workitems/{id}', { id: item.id }],
    ['PATCH /workitems/{id}', { id: item.id }, { status: 'cancelled' }],
    ['GET /batches/{id}', { id: batch.id }],
    ['POST /batches/{id}/dispatch', { id: batch.id }, { workerHandle: 'ada' }],
    ['GET /spawn-queue/{id}', { id: requestId }],
    ['DELETE /spawn-queue/{id}', { id: requestId }],
    ['GET /orchestrate/worktree/{handle}/status', { handle: 'bob' }],
    ['POST /orchestrate/worktree/{handle}/push', { handle: 'bob' }],
    ['POST /orchestrate/worktree/{handle}/pr', { handle: 'bob' }, { title: 'x', body: 'x' }],
    ['POST /orchestrate/workers/register', {}, { handle: 'ada', teamName: 'crew' }],
  ] as const) {
    const said = await stranger.ask(route, values, body)
    expect([route, said.status], JSON.stringify(said.body)).toEqual([route, 404])
    expect(JSON.stringify(said.body)).not.toMatch(/quiet|Whisper|crew\b.*ada/)
  }
  for (const route of ['GET /workitems', 'GET /batches']) expect(await stranger.works(route)).toEqual([])
  expect(await stranger.works('GET /spawn-queue/status')).toMatchObject({
    queue: { pending: 0 },
    limits: { current: 0 },
  })
})

test('a token for one team reaches nothing of another team of the same project', async () => {
  const task = await lead.works('POST /tasks', {}, taskFor('ada', 'Next to you'))
  const { requestId } = await ada.works(
    'POST /spawn-queue',
    {},
    {
      ...{ requesterHandle: 'ada', targetAgentType: 'worker', task: 'Next' },
    },
  )
  const { id } = await ada.works('POST /mail', {}, { from: 'ada', to: 'chief', body: 'Next to you, too.' })
  for (const [route, values, body] of [
    ['GET /tasks/{id}', { id: task.id }],
    ['PATCH /tasks/{id}', { id: task.id }, { status: 'resolved' }],
    ['PATCH /workitems/{id}', { id: task.id }, { status: 'in_progress' }],
    ['GET /spawn-queue/{id}', { id: requestId }],
    ['DELETE /spawn-queue/{id}', { id: requestId }],
    ['POST /mail/{id}/read', { id }],
  ] as const) {
    const said = await neighbour.ask(route, values, body)
    expect([route, said.status], JSON.stringify(said.body)).toEqual([route, 404])
  }
})

test('a token for one team becomes none for another team, the project or the fleet', async () => {
  for (const teamName of ['crew', 'web', undefined]) {
    const asked = { handle: 'nosy', teamName, agentType: 'team-lead' }
    const { status, body } = await crew.send(neighbour.token, 'POST', '/auth', asked)
    expect([teamName, status >= 400, body.token]).toEqual([teamName, true, undefined])
  }
  const again = { handle: 'nosy', teamName: 'next-door', agentType: 'worker' }
  expect((await crew.send(neighbour.token, 'POST', '/auth', again)).status).toBe(200)
})

test('no route of claude-fleet for work was forgotten', () => {
  expect(crew.forgotten().filter(route => OF_WORK.test(route))).toEqual([])
})
