import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

/** A real server, asked as other machines ask it: over HTTP with a token. */
async function aTeam() {
  const scene = await aScene()
  const { fleet } = scene
  const other = await scene.repository()
  const foreign = await fleet.project(other.path, { name: 'secret-plans' })
  const { url } = (await fleet.call('system_status', {})).server as { url: string }
  const enter = async (name: string, ...roles: { role: string; project_id: string | null }[]) => {
    await fleet.call('add_service', { name, grants: roles })
    const made = { principal_id: name, name: 'test' }
    const { token, details } = (await fleet.call('make_token', made)) as { token: string; details: { id: string } }
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          ...(init.body !== undefined && { 'content-type': 'application/json' }),
          ...init.headers,
        },
      })
    return { token, id: details.id, ask }
  }
  return { ...scene, url, foreign, enter }
}

test('somebody with a role in one project works there, and nothing else exists', async () => {
  const { fleet, project, foreign, enter } = await aTeam()
  const hidden = await fleet.mission(foreign, 'echo hidden > hidden.txt', { title: 'The secret plan', agent: 'shell' })
  await fleet.until(hidden.id, 'done')
  const lead = await enter('lead', { role: 'team-lead', project_id: project.id })

  const made = await lead.ask('/api/missions', {
    method: 'POST',
    body: JSON.stringify({
      project_id: project.id,
      title: 'Open work',
      detailed_prompt: 'echo x > x.txt',
      agent: 'shell',
      auto_dispatch: true,
    }),
  })
  expect(made.status).toBe(200)
  const { id } = (await made.json()) as { id: string }
  await fleet.until(id, 'done')
  const whole = JSON.stringify(
    await Promise.all(
      [
        '/api/missions',
        '/api/projects',
        '/api/events',
        '/api/overview',
        '/api/spending',
        '/api/graph',
        '/api/search?text=secret',
        '/api/reports',
      ].map(async path => (await lead.ask(path)).json()),
    ),
  )
  expect(whole).toContain('Open work')
  for (const text of [hidden.id, foreign.id, 'secret-plans', 'The secret plan']) expect(whole).not.toContain(text)
  for (const path of [`/api/missions/${hidden.id}`, `/api/projects/${foreign.id}`, '/api/projects/secret-plans'])
    expect((await lead.ask(path)).status).toBe(404)
  const land = await lead.ask(`/api/missions/${hidden.id}/undo`, { method: 'POST', body: '{}' })
  expect(land.status).toBe(404)
  expect((await lead.ask('/api/people')).status).toBe(403)
  expect((await lead.ask('/api/settings', { method: 'PUT', body: '{"settings":{}}' })).status).toBe(403)
  const { events } = (await fleet.call('list_events', { mission_id: id, limit: 100 })) as {
    events: { actor: string }[]
  }
  expect(events.map(({ actor }) => actor)).toContainEqual(expect.stringMatching(/^service:/))
})

test('a role decides what may be done: a worker creates drafts, a monitor changes nothing', async () => {
  const { fleet, project, enter } = await aTeam()
  const worker = await enter('worker', { role: 'worker', project_id: project.id })
  const monitor = await enter('monitor', { role: 'monitor', project_id: null })
  const mission = (auto_dispatch: boolean) =>
    JSON.stringify({
      project_id: project.id,
      title: 'From a worker',
      detailed_prompt: 'true',
      agent: 'shell',
      auto_dispatch,
    })
  const refused = await worker.ask('/api/missions', { method: 'POST', body: mission(true) })
  expect(refused.status).toBe(403)
  expect(((await refused.json()) as { error: { message: string } }).error.message).toContain('missions.run')
  const created = await worker.ask('/api/missions', { method: 'POST', body: mission(false) })
  const draft = (await created.json()) as { id: string; status: string }
  expect(draft.status).toBe('draft')
  expect((await worker.ask(`/api/missions/${draft.id}/dispatch`, { method: 'POST', body: '{}' })).status).toBe(403)
  expect((await monitor.ask(`/api/missions/${draft.id}`)).status).toBe(200)
  for (const act of ['dispatch', 'cancel', 'land'])
    expect((await monitor.ask(`/api/missions/${draft.id}/${act}`, { method: 'POST', body: '{}' })).status).toBe(403)
  expect((await fleet.call('get_mission', { mission_id: draft.id })).status).toBe('draft')
})

test('whoever has no role is told so, also when they ask who they are', async () => {
  const { enter } = await aTeam()
  const nobody = await enter('nobody')
  for (const path of ['/api/me', '/api/tokens', '/api/missions']) {
    const answer = await nobody.ask(path)
    expect(answer.status).toBe(403)
    expect(((await answer.json()) as { error: object }).error).toMatchObject({
      code: 'forbidden',
      message: 'You have no role in this fleet.',
      try: 'Ask an owner of this fleet for one.',
    })
  }
})

const ENDINGS = {
  'its token is revoked': (fleet, { id }) => fleet.call('revoke_token', { token_id: id }),
  'it is signed out': (fleet, { name }) => fleet.call('sign_out_person', { principal_id: name }),
  'it is removed': (fleet, { name }) => fleet.call('remove_person', { principal_id: name }),
  'its roles change': (fleet, { name }) => fleet.call('set_roles', { principal_id: name, grants: [] }),
} satisfies Record<
  string,
  (fleet: Awaited<ReturnType<typeof aTeam>>['fleet'], who: { id: string; name: string }) => Promise<unknown>
>

test.each(Object.entries(ENDINGS))('an open stream ends within a second when %s', async (why, end) => {
  const { fleet, project, enter } = await aTeam()
  const { id, ask } = await enter('watcher', { role: 'monitor', project_id: project.id })
  const stream = await ask('/api/events/stream', { headers: { accept: 'text/event-stream' } })
  expect(stream.status).toBe(200)
  const over = (async () => {
    for await (const _ of stream.body!);
  })()
  const from = performance.now()
  await end(fleet, { id, name: 'watcher' })
  await over
  expect(performance.now() - from).toBeLessThan(1000)
  await eventually('the next request is refused', async () => {
    const { status } = await ask('/api/missions')
    return status === (why === 'its roles change' ? 403 : 401)
  })
})

test('a token that is wrong in any way is none', async () => {
  const { url, enter, project } = await aTeam()
  const { token } = await enter('script', { role: 'monitor', project_id: project.id })
  const status = async (given: string) =>
    (await fetch(`${url}/api/missions`, { headers: { authorization: `Bearer ${given}` } })).status
  expect(await status(token)).toBe(200)
  const flipped = token.slice(0, 20) + (token[20] === 'a' ? 'b' : 'a') + token.slice(21)
  for (const wrong of [
    flipped,
    `${token}0`,
    token.slice(0, -1),
    token.toUpperCase(),
    token.replace('flt_', 'flx_'),
    `flt_${'a'.repeat(12)}_${'b'.repeat(51)}`,
  ])
    expect(await status(wrong), wrong).toBe(401)
})

test('nobody gives away more than they have, and a token can have less than its owner', async () => {
  const { fleet, project, url } = await aTeam()
  await fleet.call('invite_person', { name: 'Grace', grants: [{ role: 'team-lead', project_id: project.id }] })
  const { token } = await fleet.call('make_token', {
    principal_id: 'Grace',
    name: 'reads only',
    grants: [{ role: 'monitor', project_id: project.id }],
  })
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${token}`,
        ...(init?.body !== undefined && { 'content-type': 'application/json' }),
      },
    })
  expect((await ask('/api/missions')).status).toBe(200)
  const create = { project_id: project.id, title: 'x', detailed_prompt: 'true' }
  expect((await ask('/api/missions', { method: 'POST', body: JSON.stringify(create) })).status).toBe(403)
  // The token makes another one: never with more than itself.
  const wider = await ask('/api/tokens', { method: 'POST', body: JSON.stringify({ name: 'wider' }) })
  expect(wider.status).toBe(403)
  await expect(
    fleet.call('make_token', { principal_id: 'Grace', name: 'owner', grants: [{ role: 'owner', project_id: null }] }),
  ).rejects.toThrow('more than Grace has')
})

test('a token that is limited or ends sets no password, which would outlive it', async () => {
  const { fleet, project, url } = await aTeam()
  await fleet.call('invite_person', { name: 'Grace', grants: [{ role: 'team-lead', project_id: project.id }] })
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const setWith = async (wanted: object) => {
    const made = { principal_id: 'Grace', name: 'test', ...wanted }
    const { token } = (await fleet.call('make_token', made)) as { token: string }
    return fetch(`${url}/api/me/password`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ password: 'a long password' }),
    })
  }
  expect((await setWith({ expires_at: tomorrow })).status).toBe(403)
  expect((await setWith({ grants: [{ role: 'monitor', project_id: project.id }] })).status).toBe(403)
  expect((await setWith({})).status).toBe(200)
})

test('one who floods the server does not keep another waiting', async () => {
  const { project, enter } = await aTeam()
  const [flood, other] = [
    await enter('flood', { role: 'monitor', project_id: project.id }),
    await enter('other', { role: 'monitor', project_id: project.id }),
  ]
  const times = async (count: number) => {
    const took: number[] = []
    for (let round = 0; round < count; round++) {
      const from = performance.now()
      expect((await other.ask('/api/missions')).status).toBe(200)
      took.push(performance.now() - from)
    }
    return took.toSorted((a, b) => a - b)[Math.floor(count / 2)]!
  }
  const alone = await times(20)
  let refused = 0
  let isOver = false
  const flooding = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const { status, headers } = await flood.ask('/api/missions')
      if (status === 429) {
        refused++
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      }
    }
  })
  await eventually('the flood is refused', () => refused > 100)
  const beside = await times(20)
  isOver = true
  await Promise.all(flooding)
  console.log(
    `a request alone ${alone.toFixed(1)} ms, beside a flood ${beside.toFixed(1)} ms, ratio ${(beside / alone).toFixed(1)}`,
  )
  expect(beside).toBeLessThan(Math.max(alone * 15, 250))
})
