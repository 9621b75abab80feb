import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene, type SceneOptions } from '../kit/scene.ts'

interface Grant {
  role: string
  project_id: string | null
}

/** A real server with two projects, attacked over HTTP by people with tokens. */
async function aTeam(options: SceneOptions = {}) {
  const scene = await aScene({ project: { landing: 'review' }, ...options })
  const { fleet } = scene
  const foreign = await fleet.project((await scene.repository()).path, { name: 'secret-plans' })
  const { url } = (await fleet.call('system_status', {})).server as { url: string }
  const as = (token: string) => async (method: string, path: string, body?: object, signal?: AbortSignal) => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, json: <T = Record<string, unknown>>() => JSON.parse(text) as T }
  }
  const enter = async (name: string, grants: Grant[], token: object = {}, kind: 'person' | 'service' = 'person') => {
    await fleet.call(kind === 'person' ? 'invite_person' : 'add_service', { name, grants })
    const made = await fleet.call<{ token: string; details: { id: string } }>('make_token', {
      ...{ principal_id: name, name: 'test' },
      ...token,
    })
    return { name, token: made.token, tokenId: made.details.id, ask: as(made.token) }
  }
  return { ...scene, url, foreign, enter, as }
}

test('a token with less than its person signs no browser in, and makes none that lasts longer', async () => {
  const { project, enter } = await aTeam()
  const role = { role: 'team-lead', project_id: project.id }
  const limited = await enter('Grace', [role], { grants: [{ role: 'monitor', project_id: project.id }] })
  expect((await limited.ask('POST', '/api/devices', {})).status).toBe(403)
  const expires_at = new Date(Date.now() + 3600_000).toISOString()
  const short = await enter('Linus', [role], { expires_at })
  expect((await short.ask('POST', '/api/devices', {})).status).toBe(403)
  expect((await short.ask('POST', '/api/tokens', { name: 'for ever' })).status).toBe(403)
  expect((await short.ask('POST', '/api/tokens', { name: 'as long', expires_at })).status).toBe(200)
})

test('a token that a token made ends with it, and so do their streams', async () => {
  const { url, project, enter, as } = await aTeam()
  const ada = await enter('Ada', [{ role: 'team-lead', project_id: project.id }])
  const make = async (by: ReturnType<typeof as>) =>
    (await by('POST', '/api/tokens', { name: 'child' })).json<{ token: string }>().token
  const child = await make(ada.ask)
  const grandchild = await make(as(child))
  const stream = await fetch(`${url}/api/events/stream`, { headers: { authorization: `Bearer ${grandchild}` } })
  expect(stream.status).toBe(200)
  expect((await ada.ask('DELETE', `/api/tokens/${ada.tokenId}`)).status).toBe(200)
  for (const token of [ada.token, child, grandchild]) expect((await as(token)('GET', '/api/me')).status).toBe(401)
  const revokedAt = Date.now()
  for await (const _ of stream.body!) if (Date.now() - revokedAt > 1000) break
  expect(Date.now() - revokedAt).toBeLessThan(1000)
})

test('owners who remove each other at once leave the owner of the home, who lets people in again', async () => {
  const { fleet, enter } = await aTeam()
  const owners = [{ role: 'owner', project_id: null }]
  const [ada, bob] = [await enter('Ada', owners), await enter('Bob', owners)]
  const removed = await Promise.all([ada.ask('DELETE', '/api/people/Bob'), bob.ask('DELETE', '/api/people/Ada')])
  expect(removed.map(({ status }) => status)).toContain(200)
  for (const { status } of removed) expect([200, 401, 403, 409]).toContain(status)
  const { people } = await fleet.call<{ people: { name: string }[] }>('list_people', {})
  for (const { name } of people) await fleet.call('remove_person', { principal_id: name })
  for (const each of [ada, bob]) expect((await each.ask('GET', '/api/me')).status).toBe(401)
  const cleo = await enter('Cleo', owners)
  expect((await cleo.ask('GET', '/api/people')).json<{ people: unknown[] }>().people).toHaveLength(1)
})

test('tokens make tokens a few levels deep only', async () => {
  const { project, enter, as } = await aTeam()
  const ada = await enter('Ada', [{ role: 'team-lead', project_id: project.id }])
  let { token } = ada
  for (let level = 0; level < 4; level++)
    token = (await as(token)('POST', '/api/tokens', { name: `level ${level}` })).json<{ token: string }>().token
  expect((await as(token)('GET', '/api/me')).status).toBe(200)
  expect((await as(token)('POST', '/api/tokens', { name: 'too deep' })).status).toBe(403)
})

test('a project in the roles of a token can be named, as everywhere', async () => {
  const { fleet, project, enter } = await aTeam()
  const limit = { grants: [{ role: 'monitor', project_id: 'test' }] }
  const grace = await enter('Grace', [{ role: 'team-lead', project_id: project.id }], limit)
  expect((await grace.ask('GET', `/api/projects/${project.id}`)).status).toBe(200)
  const foreign = { principal_id: 'Grace', name: 'x', grants: [{ role: 'monitor', project_id: 'secret-plans' }] }
  await expect(fleet.call('make_token', foreign)).rejects.toThrow('more than Grace has')
})

const draft = (project: { id: string }, more: object = {}) => ({
  ...{ project_id: project.id, title: 'Work', detailed_prompt: 'echo x > x.txt', agent: 'shell' },
  ...more,
})

test('somebody who may not land sets no mission to land by itself', async () => {
  const { fleet, project, enter } = await aTeam()
  const lead = await enter('lead', [{ role: 'team-lead', project_id: project.id }])
  const coordinator = await enter('coordinator', [{ role: 'coordinator', project_id: project.id }])
  const worker = await enter('worker', [{ role: 'worker', project_id: project.id }])
  const made = (await coordinator.ask('POST', '/api/missions', draft(project))).json<{ id: string }>()
  const update = await coordinator.ask('PUT', `/api/missions/${made.id}`, { landing: 'auto' })
  expect(update.status).toBe(403)
  expect((await lead.ask('PUT', `/api/missions/${made.id}`, { landing: 'auto' })).status).toBe(200)
  await fleet.call('save_template', { name: 'lands', mission_id: made.id })
  for (const who of [coordinator, worker]) {
    const from = await who.ask('POST', '/api/templates/lands/missions', { project_id: project.id, title: 'x' })
    expect(from.status, who.name).toBe(403)
  }
  expect((await lead.ask('POST', '/api/templates/lands/missions', { project_id: project.id })).status).toBe(200)
})

test('a workflow that lands the winner itself needs the permission to land', async () => {
  const { project, enter } = await aTeam()
  const coordinator = await enter('coordinator', [{ role: 'coordinator', project_id: project.id }])
  const stages = [
    { name: 'one', prompt: 'echo 1 > a.txt', agent: 'shell' },
    { name: 'two', prompt: 'echo 2 > a.txt', agent: 'shell' },
    { name: 'judge', prompt: 'echo one', agent: 'shell', depends_on: ['one', 'two'], chooses: ['one', 'two'] },
  ]
  const wanted = { project_id: project.id, task_prompt: 'x', stages }
  expect((await coordinator.ask('POST', '/api/workflows', wanted)).status).toBe(403)
  const ready = {
    project_id: project.id,
    task_prompt: 'x',
    use: 'competition-and-judge',
    agents: ['shell', 'shell', 'shell'],
  }
  const answer = await coordinator.ask('POST', '/api/workflows', ready)
  expect(answer.status, answer.text).toBe(403)
})

test('whoever may not create projects creates none by planning', async () => {
  const { fleet, enter } = await aTeam()
  const coordinator = await enter('coordinator', [{ role: 'coordinator', project_id: null }])
  const path = `${fleet.root}/made-by-planning`
  const answer = await coordinator.ask('POST', '/api/plan', { prompt: 'x', project_path: path, landing: 'auto' })
  expect(answer.status, answer.text).toBe(403)
})

test('an automatic answer to permission requests is a decision about them', async () => {
  const { project, enter } = await aTeam()
  const coordinator = await enter('coordinator', [{ role: 'coordinator', project_id: project.id }])
  const service = await enter('bot', [{ role: 'coordinator', project_id: project.id }], {}, 'service')
  const lead = await enter('lead', [{ role: 'team-lead', project_id: project.id }])
  const allow = { approvals: 'ask', answer_within_seconds: 1, otherwise: 'allow' }
  for (const who of [coordinator, service])
    expect((await who.ask('POST', '/api/missions', draft(project, allow))).status, who.name).toBe(403)
  const made = (await coordinator.ask('POST', '/api/missions', draft(project))).json<{ id: string }>()
  for (const who of [coordinator, service])
    expect((await who.ask('PUT', `/api/missions/${made.id}`, allow)).status, who.name).toBe(403)
  // A script asks for nothing, which is said to whoever may.
  expect((await lead.ask('PUT', `/api/missions/${made.id}`, allow)).status).toBe(409)
})

test('worktrees on disk of another project are not listed or counted', async () => {
  const { fleet, project, foreign, enter } = await aTeam()
  const lead = await enter('lead', [{ role: 'team-lead', project_id: project.id }])
  const hidden = await fleet.mission(foreign, 'echo x > x.txt', { title: 'hidden work', landing: 'review' })
  await fleet.until(hidden.id, 'review')
  const listed = await lead.ask('GET', '/api/worktrees')
  expect(listed.json()).toEqual({ worktrees: [], bytes: 0 })
  const status = (await lead.ask('GET', '/api/system/status')).json<{ disk: Record<string, number> }>()
  expect(status.disk).toMatchObject({ worktrees: 0, worktree_bytes: 0, transcript_bytes: 0 })
})

test('a long call ends when its token, its person or a role does', async () => {
  const { fleet, project, enter, gate } = await aTeam()
  const held = gate('held')
  const mission = await fleet.mission(project, held.wait)
  await fleet.until(mission.id, 'running')
  const watcher = await enter('watcher', [{ role: 'monitor', project_id: project.id }])
  const waiting = watcher.ask(
    'GET',
    `/api/missions/${mission.id}/wait?timeout_seconds=60`,
    undefined,
    AbortSignal.timeout(8000),
  )
  await eventually('the call was let in', async () => {
    const { tokens } = await fleet.call<{ tokens: { last_used_at: string | null }[] }>('list_tokens', {
      principal_id: 'watcher',
    })
    return tokens[0]!.last_used_at !== null
  })
  const from = performance.now()
  await fleet.call('remove_person', { principal_id: 'watcher' })
  const answer = await waiting
  expect(performance.now() - from).toBeLessThan(1500)
  expect(answer.status).toBe(401)
  expect(answer.text).not.toContain(mission.id)
  held.open()
})

test('a stream ends when its token expires, although nothing happens', async () => {
  const { project, url, enter } = await aTeam()
  const expires_at = new Date(Date.now() + 2500).toISOString()
  const watcher = await enter('watcher', [{ role: 'monitor', project_id: project.id }], { expires_at })
  const stream = await fetch(`${url}/api/events/stream`, { headers: { authorization: `Bearer ${watcher.token}` } })
  expect(stream.status).toBe(200)
  for await (const _ of stream.body!);
  expect(Date.now() - Date.parse(expires_at)).toBeLessThan(1500)
}, 8000)
test('what a transcript says is not shown to somebody who may not read transcripts', async () => {
  const { fleet, project, enter, gate } = await aTeam()
  const held = gate('held')
  const mission = await fleet.mission(project, `echo the-secret-line; ${held.wait}`)
  await fleet.until(mission.id, 'running')
  await eventually('it has spoken', async () => held.reached())
  const worker = await enter('worker', [{ role: 'worker', project_id: project.id }])
  const monitor = await enter('monitor', [{ role: 'monitor', project_id: project.id }])
  expect((await monitor.ask('GET', '/api/missions/running')).text).toContain('the-secret-line')
  expect((await worker.ask('GET', '/api/missions/running')).text).not.toContain('the-secret-line')
  held.open()
})

test('names of people who share no project are not listed, nor saved views', async () => {
  const { fleet, project, foreign, enter } = await aTeam()
  const lead = await enter('lead', [{ role: 'team-lead', project_id: project.id }])
  await enter('stranger', [{ role: 'team-lead', project_id: foreign.id }])
  await enter('everywhere', [{ role: 'monitor', project_id: null }])
  const { text } = await lead.ask('GET', '/api/people/names')
  expect(text).toContain('everywhere')
  expect(text).toContain('lead')
  expect(text).not.toContain('stranger')
  await fleet.call('save_board_view', { name: 'theirs', search: `project=${foreign.id}` })
  await fleet.call('save_board_view', { name: 'all', search: 'status=review' })
  const views = await lead.ask('GET', '/api/board/views')
  expect(views.text).not.toContain(foreign.id)
})

test('a mission that waits for another project waits, whoever starts it', async () => {
  const { fleet, project, foreign, enter } = await aTeam()
  const lead = await enter('lead', [{ role: 'team-lead', project_id: project.id }])
  const first = await fleet.call<{ id: string }>('create_mission', draft(foreign))
  const second = await fleet.call<{ id: string }>('create_mission', draft(project, { depends_on: [first.id] }))
  const started = await lead.ask('POST', `/api/missions/${second.id}/dispatch`, {})
  expect(started.json()).toMatchObject({ status: 'queued', waits_for: [{ text: 'waiting for other work' }] })
  expect((await fleet.fleet.store.get('missions', second.id))!.value.ready).toBe(false)
  // And nobody takes away what another project waits for.
  const mine = await fleet.call<{ id: string }>('create_mission', draft(project))
  await fleet.call('create_mission', draft(foreign, { depends_on: [mine.id] }))
  const gone = await lead.ask('DELETE', `/api/missions/${mine.id}`)
  expect(gone.status, gone.text).toBe(409)
  expect(gone.text).not.toContain(foreign.id)
})

test('people change only their own comments', async () => {
  const { fleet, project, enter } = await aTeam()
  const worker = await enter('worker', [{ role: 'worker', project_id: project.id }])
  const mission = await fleet.call<{ id: string }>('create_mission', draft(project))
  const theirs = await fleet.call<{ id: string }>('comment_mission', { mission_id: mission.id, body: 'do it right' })
  expect((await worker.ask('PUT', `/api/comments/${theirs.id}`, { body: 'do it wrong' })).status).toBe(403)
  expect((await worker.ask('DELETE', `/api/comments/${theirs.id}`)).status).toBe(403)
  const own = (await worker.ask('POST', `/api/missions/${mission.id}/comments`, { body: 'mine' })).json<{
    id: string
  }>()
  expect((await worker.ask('PUT', `/api/comments/${own.id}`, { body: 'still mine' })).status).toBe(200)
})
