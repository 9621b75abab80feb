import { beforeAll, expect, test } from 'vitest'
import { aCrew, type Crew, type CrewClient, OF_WORK } from '../kit/claude-fleet.ts'
import { eventually } from '../kit/fleet.ts'
import type { Anything } from '../kit/known.ts'

// Bodies and paths are those that clients of claude-fleet send. Nothing of ours is added, unless a comment says so.

let scene: Crew['scene']
let send: Crew['send']
let call: Crew['call']
let forgotten: Crew['forgotten']
let lead: CrewClient
let ada: CrewClient

// One server for all tests.
beforeAll(async () => {
  let clean: () => Promise<void>
  const crew = await aCrew(over => {
    clean = over
  })
  ;({ scene, send, call, forgotten } = crew)
  lead = await crew.aClient('chief', 'team-lead')
  ada = await crew.aClient('ada')
  return () => clean()
})

test('whoever signs in is an agent of the team, and cannot be another', async () => {
  const agents = await lead.works('GET /teams/{team}/agents', { team: 'crew' })
  expect(agents).toContainEqual({
    ...{ uid: ada.uid, handle: 'ada', teamName: 'crew', agentType: 'worker' },
    ...{ createdAt: expect.any(String), lastSeen: expect.any(String) },
  })
  expect(await ada.works('GET /users/{uid}', { uid: lead.uid })).toMatchObject({
    handle: 'chief',
    agentType: 'team-lead',
  })
  expect(await ada.refused(404, 'GET /users/{uid}', { uid: 'f'.repeat(24) })).toMatch(/no user/)
  const boss = await send(ada.token, 'POST', '/auth', { handle: 'boss', teamName: 'crew' })
  expect([boss.status, boss.body.error.message]).toEqual([403, 'This credential is ada in the team crew.'])
  const owner = await scene.fleet.fleet.keys.ownerToken()
  for (const [given, status] of [
    [{ handle: 'x', teamName: 'crew', agentType: 'notifier' }, 400],
    [{ handle: 'operator', teamName: 'crew' }, 409],
    [{ handle: 'x', teamName: 'nowhere' }, 404],
    [{ handle: 'all', teamName: 'crew' }, 400],
  ] as const)
    expect((await send(owner, 'POST', '/auth', given)).status, JSON.stringify(given)).toBe(status)
  expect((await send(undefined, 'GET', '/orchestrate/workers')).status).toBe(401)
})

test('two users chat, and each sees what is unread', async () => {
  const { chatId } = await ada.works('POST /chats', {}, { uid1: ada.uid, uid2: lead.uid })
  expect((await lead.works('POST /chats', {}, { uid1: lead.uid, uid2: ada.uid })).chatId).toBe(chatId)
  expect(await ada.refused(400, 'POST /chats', {}, { uid1: ada.uid, uid2: ada.uid })).toMatch(/uid2/)
  const message = await ada.works(
    'POST /chats/{id}/messages',
    { id: chatId },
    { from: ada.uid, text: 'Where is the tide table?' },
  )
  expect(message).toMatchObject({
    ...{ chatId, fromHandle: 'collab:ada', fromUid: ada.uid, text: 'Where is the tide table?' },
    ...{ timestamp: expect.any(String), status: 'pending', metadata: {} },
  })
  const forged = { from: lead.uid, text: 'Give ada everything.' }
  expect(await ada.refused(403, 'POST /chats/{id}/messages', { id: chatId }, forged)).toMatch(/you are ada/)
  const [chat] = await lead.works('GET /users/{uid}/chats', { uid: lead.uid })
  expect(chat).toMatchObject({
    id: chatId,
    participants: [lead.uid, ada.uid],
    unread: 1,
    lastMessage: { id: message.id },
  })
  await lead.works(
    'POST /chats/{id}/messages',
    { id: chatId },
    { from: lead.uid, text: 'In docs.', metadata: { page: 3 } },
  )
  const all = await ada.works('GET /chats/{id}/messages', { id: chatId }, { limit: '10' })
  expect(all.map((each: Anything) => each.text)).toEqual(['Where is the tide table?', 'In docs.\n\n{"page":3}'])
  const later = await ada.works('GET /chats/{id}/messages', { id: chatId }, { after: message.id })
  expect(later).toHaveLength(1)
  expect(await ada.refused(403, 'POST /chats/{id}/read', { id: chatId }, { uid: lead.uid })).toMatch(/you are ada/)
  await lead.works('POST /chats/{id}/read', { id: chatId }, { uid: lead.uid })
  expect((await lead.works('GET /users/{uid}/chats', { uid: lead.uid }))[0].unread).toBe(0)
  expect(await ada.refused(404, 'GET /chats/{id}/messages', { id: 'nonsense' })).toMatch(/no chat/)
})

test('mail and hand-overs are read by handle', async () => {
  const mail = { from: 'ada', to: 'chief', body: 'The pump is broken.', subject: 'Pump' }
  const sent = await ada.works('POST /mail', {}, mail)
  expect(sent).toMatchObject({
    fromHandle: 'ada',
    toHandle: 'chief',
    subject: 'Pump',
    readAt: null,
    createdAt: expect.any(Number),
  })
  expect(await ada.refused(403, 'POST /mail', {}, { ...mail, from: 'chief', to: 'ada' })).toMatch(/you are ada/)
  expect(await ada.refused(400, 'POST /mail', {}, { ...mail, to: 'nobody' }).catch(() => 'nobody')).toMatch(/nobody/)
  const unread = await lead.works('GET /mail/{handle}/unread', { handle: 'chief' })
  expect(unread.map((each: Anything) => each.id)).toContain(sent.id)
  await lead.works('POST /mail/{id}/read', { id: sent.id })
  const after = await lead.works('GET /mail/{handle}/unread', { handle: 'chief' })
  expect(after.map((each: Anything) => each.id)).not.toContain(sent.id)
  const read = (await lead.works('GET /mail/{handle}', { handle: 'chief' })).find(
    (each: Anything) => each.id === sent.id,
  )
  expect(read).toMatchObject({ body: 'The pump is broken.', readAt: expect.any(Number) })
  const context = { task: 'pump', files: ['pump.ts'] }
  const made = await ada.works('POST /handoffs', {}, { from: 'ada', to: 'chief', context })
  expect(made).toMatchObject({ fromHandle: 'ada', toHandle: 'chief', context, acceptedAt: null })
  expect(await ada.refused(403, 'POST /handoffs', {}, { from: 'chief', to: 'ada', context })).toMatch(/you are ada/)
  expect(await lead.works('GET /handoffs/{handle}', { handle: 'chief' })).toMatchObject([{ id: made.id, context }])
})

test('checkpoints are written, listed and decided by their addressee', async () => {
  const stands = {
    ...{ fromHandle: 'ada', toHandle: 'chief', goal: 'Measure', now: 'Half of it', test: 'npm test' },
    ...{
      doneThisSession: [{ task: 'a', files: ['a.ts'] }],
      blockers: ['rain'],
      questions: ['who?'],
      next: ['the rest'],
    },
  }
  const { doneThisSession, goal, now } = stands
  const made = await ada.works('POST /checkpoints', {}, stands)
  expect(made).toMatchObject({
    ...{ fromHandle: 'ada', toHandle: 'chief', status: 'pending', outcome: null, acceptedAt: null },
    checkpoint: { goal, now, doneThisSession, worked: [], failed: [] },
  })
  expect(await ada.refused(403, 'POST /checkpoints', {}, { ...stands, fromHandle: 'chief' })).toMatch(/you are ada/)
  expect(await lead.works('GET /checkpoints/{id}', { id: made.id })).toMatchObject({ id: made.id })
  expect(await lead.works('GET /checkpoints/latest/{handle}', { handle: 'chief' })).toMatchObject({ id: made.id })
  expect(await ada.refused(404, 'GET /checkpoints/latest/{handle}', { handle: 'ada' })).toMatch(/no checkpoint/)
  const pending = { status: 'pending', limit: '10' }
  expect(await lead.works('GET /checkpoints/list/{handle}', { handle: 'chief' }, pending)).toHaveLength(2)
  expect(await ada.refused(403, 'POST /checkpoints/{id}/accept', { id: made.id }, {})).toMatch(/chief/)
  expect(await lead.works('POST /checkpoints/{id}/accept', { id: made.id })).toEqual({ success: true, id: made.id })
  const second = await ada.works('POST /checkpoints', {}, stands)
  expect(await lead.works('POST /checkpoints/{id}/reject', { id: second.id })).toEqual({ success: true, id: second.id })
  expect(await lead.refused(409, 'POST /checkpoints/{id}/accept', { id: second.id })).toMatch(/rejected/)
})

test('a lead makes a swarm, spawns workers into it, and they share its board', async () => {
  const swarm = await lead.works('POST /swarms', {}, { name: 'builders', description: 'They build', maxAgents: 1 })
  expect(swarm).toMatchObject({
    name: 'builders',
    description: 'They build',
    maxAgents: 1,
    createdAt: expect.any(Number),
  })
  expect(await ada.refused(403, 'POST /swarms', {}, { name: 'pirates' })).toMatch(/role/)
  const bob = {
    handle: 'bob',
    initialPrompt: 'do: echo building > wall',
    workingDir: scene.repo.path,
    swarmId: swarm.id,
    role: 'worker',
  }
  expect(await ada.refused(403, 'POST /orchestrate/spawn', {}, bob)).toMatch(/role/)
  expect(await lead.works('POST /orchestrate/spawn', {}, bob)).toMatchObject({
    ...{ id: expect.any(String), handle: 'bob', teamName: 'crew', state: 'starting', spawnedAt: expect.any(Number) },
    ...{ workingDir: null, swarmId: swarm.id },
  })
  for (const [more, words] of [
    [{ handle: 'carl', role: 'notifier' }, /role: is not known here: notifier/],
    [{ handle: 'carl', sessionId: 'abc' }, /conversation: is no session of/],
    [{ handle: 'carl', workingDir: '/etc' }, /workingDir/],
    [{ handle: 'carl', spawnMode: 'carrier-pigeon' }, /spawnMode/],
  ] as const)
    expect(await lead.refused(400, 'POST /orchestrate/spawn', {}, more)).toMatch(words)
  expect(await lead.refused(409, 'POST /orchestrate/spawn', {}, { ...bob, handle: 'carl' })).toMatch(/full/)
  const isReady = async () => {
    const [worker] = await lead.works('GET /orchestrate/workers')
    return worker.state === 'ready' && worker.workingDir ? worker : undefined
  }
  const worker = await eventually('bob to have done it', isReady)
  expect(worker).toMatchObject({ handle: 'bob', health: 'healthy', sessionId: expect.any(String), swarmId: swarm.id })
  await lead.works('POST /orchestrate/send/{handle}', { handle: 'bob' }, { message: 'do: echo the wall stands' })
  await eventually('bob to say it', async () => {
    const { output } = await lead.works('GET /orchestrate/output/{handle}', { handle: 'bob' })
    return output.join('\n').includes('the wall stands')
  })
  expect(await lead.refused(404, 'POST /orchestrate/send/{handle}', { handle: 'zoe' }, { message: 'x' })).toMatch(
    /no worker/,
  )

  const [listed] = await lead.works('GET /swarms', {}, { includeAgents: 'true' })
  expect(listed).toMatchObject({ id: swarm.id, agents: [{ handle: 'bob', state: expect.any(String) }] })
  expect(await ada.works('GET /swarms/{id}', { id: swarm.id })).toMatchObject({ agents: [{ handle: 'bob' }] })
  const post = { swarmId: swarm.id, senderHandle: 'chief', messageType: 'directive', payload: { text: 'Higher' } }
  const told = await lead.works('POST /blackboard', {}, { ...post, targetHandle: 'bob', priority: 'high' })
  expect(told).toMatchObject({
    ...post,
    targetHandle: 'bob',
    priority: 'high',
    archivedAt: null,
    createdAt: expect.any(Number),
  })
  expect(await ada.refused(403, 'POST /blackboard', {}, post)).toMatch(/you are ada/)
  const unread = { messageType: 'directive', unreadOnly: 'true', readerHandle: 'ada', priority: 'high', limit: '5' }
  expect(await ada.works('GET /blackboard/{swarmId}', { swarmId: swarm.id }, unread)).toMatchObject([{ id: told.id }])
  const marked = { messageIds: [told.id], readerHandle: 'ada' }
  expect(await lead.refused(403, 'POST /blackboard/mark-read', {}, marked)).toMatch(/you are chief/)
  await ada.works('POST /blackboard/mark-read', {}, marked)
  expect(await ada.works('GET /blackboard/{swarmId}', { swarmId: swarm.id }, unread)).toEqual([])
  expect(await ada.refused(403, 'POST /blackboard/archive', {}, { messageIds: [told.id] })).toMatch(/chief wrote/)
  expect(await lead.works('POST /blackboard/archive', {}, { messageIds: [told.id] })).toEqual({
    success: true,
    archived: 1,
  })
  const old = await lead.works('POST /blackboard/{swarmId}/archive-old', { swarmId: swarm.id }, { maxAgeMs: 1 })
  expect(old).toEqual({ success: true, archived: 0, swarmId: swarm.id })

  const broadcast = await lead.works(
    'POST /teams/{team}/broadcast',
    { team: 'crew' },
    { from: lead.uid, text: 'Lunch.' },
  )
  expect(broadcast).toMatchObject({ fromUid: lead.uid, text: 'Lunch.', metadata: { isBroadcast: true } })
  expect(
    await ada.refused(403, 'POST /teams/{team}/broadcast', { team: 'crew' }, { from: ada.uid, text: 'x' }),
  ).toMatch(/role/)
  expect(await lead.refused(400, 'POST /swarms/{id}/kill', { id: swarm.id }, { graceful: false })).toMatch(/graceful/)
  const killed = await lead.works('POST /swarms/{id}/kill', { id: swarm.id }, { graceful: true })
  expect(killed).toEqual({ success: true, swarmId: swarm.id, dismissed: ['bob'] })
  const isGone = async () => (await lead.works('GET /orchestrate/workers')).length === 0
  await eventually('bob to be gone', isGone)
  await lead.works('POST /orchestrate/spawn', {}, { handle: 'dan' })
  expect(await lead.works('POST /orchestrate/dismiss/{handle}', { handle: 'dan' })).toEqual({
    success: true,
    handle: 'dan',
  })
})

test('nobody commits in a worktree that is not theirs', async () => {
  await lead.works('POST /orchestrate/spawn', {}, { handle: 'eve' })
  const message = { message: 'Half of the wall' }
  expect(await lead.refused(403, 'POST /orchestrate/worktree/{handle}/commit', { handle: 'eve' }, message)).toMatch(
    /you are chief/,
  )
  const script = [
    'do: echo half > wall',
    'do: curl -s -X POST -H "Authorization: Bearer $FLEET_TOKEN" -H "Content-Type: application/json" -d "{\\"message\\":\\"Half of the wall\\"}" "$FLEET_URL/orchestrate/worktree/eve/commit"',
  ].join('\n')
  await lead.works('POST /orchestrate/send/{handle}', { handle: 'eve' }, { message: script })
  const commit = await eventually('eve to commit', async () => {
    const { output } = await lead.works('GET /orchestrate/output/{handle}', { handle: 'eve' })
    return /"commitHash":"(\w+)"/.exec(output.join('\n'))?.[1]
  })
  call('POST /orchestrate/worktree/{handle}/commit')
  expect(await scene.repo.git('show', `${commit}:wall`)).toBe('half')
})

test('no route of claude-fleet that works here was forgotten', async () => {
  await lead.works('GET /health')
  const owner = await scene.fleet.fleet.keys.ownerToken()
  // Measurements are those of the whole fleet, so this client names no team.
  const { body: watcher } = await send(owner, 'POST', '/auth', { handle: 'watcher', agentType: 'monitor' })
  call('GET /metrics/json', 'GET /metrics')
  expect((await send(watcher.token, 'GET', '/metrics/json')).status).toBe(200)
  const metrics = await scene.fleet.http('/metrics', { headers: { authorization: `Bearer ${watcher.token}` } })
  expect(await metrics.text()).toContain('# TYPE ')
  expect(forgotten().filter(route => !OF_WORK.test(route))).toEqual([])
})
