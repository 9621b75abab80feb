import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { current, put } from '../../../src/fleet/records.ts'
import { eventually, readJson } from '../../kit/fleet.ts'
import { anAgentAtWork, call, report, twice } from '../../kit/inside.ts'
import { aScene } from '../../kit/scene.ts'

test('with one slot a mission hands on two parts, waits and finishes; no two agents live at once', async () => {
  const { fleet, repo, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '1' } })
  const [alive, both, told] = ['alive', 'both', 'told'].map(name => join(fleet.root, name))
  const alone = (...script: string[]) => [`mkdir ${alive} || { : > ${both}; exit 1; }`, ...script, `rmdir ${alive}`]
  const part = (name: string) => ({
    title: name,
    agent: 'shell',
    detailed_prompt: alone(`echo ${name} > ${name}.txt`, call('submit_report', report(`made ${name}`))).join('\n'),
  })
  const script = twice(
    alone(
      call('create_sub_mission', part('one')),
      call('create_sub_mission', part('two')),
      call('wait_for_sub_missions'),
    ),
    alone(`cp "$FLEET_PROMPT_FILE" ${told}`, 'echo all > all.txt'),
  )
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

  expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
  expect(mission.sessions.map(({ reason, outcome }) => `${reason} ${outcome}`)).toEqual([
    'first parked',
    'children completed',
  ])
  expect(mission.children.map(({ result }) => result)).toEqual(['landed', 'landed'])
  expect(existsSync(both!)).toBe(false)
  expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt', 'all.txt']))
  expect(readFileSync(told!, 'utf8')).toMatch(/### one \(\w+\): done, landed\n\nmade one/)
})

test('a part starts from the files of its parent as they are, which stay untouched, and its work is kept for the parent', async () => {
  const scene = await aScene({ repository: { files: { 'a.txt': 'old\n', 'gone.txt': 'x\n' } } })
  const { fleet, repo, project } = scene
  const held = scene.gate('part')
  const state = join(fleet.root, 'state')
  const look = (when: string) => `{ git status --porcelain; git rev-parse HEAD; git diff --cached; } > ${state}.${when}`
  const part = { title: 'part', agent: 'shell', detailed_prompt: `${held.wait}; cat * > seen.txt`, from: 'me' }
  const merge = `git merge -q "$(sed -n 's/^Its work is on the branch \\(.*\\): merge.*/\\1/p' "$FLEET_PROMPT_FILE")"`
  const script = twice(
    [
      'echo new > a.txt; git add a.txt; echo newer >> a.txt; echo more > b.txt; rm gone.txt',
      look('before'),
      call('create_sub_mission', part),
      look('after'),
      call('wait_for_sub_missions'),
    ],
    [merge],
  )
  const { id } = await fleet.mission(project, script)
  await fleet.until(id, 'waiting')
  held.open()
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input', 'review')

  expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
  expect(readFileSync(`${state}.after`, 'utf8')).toBe(readFileSync(`${state}.before`, 'utf8'))
  expect(mission.children[0]).toMatchObject({ status: 'done', result: 'kept' })
  const child = await fleet.show(mission.children[0]!.id)
  expect(child.report!.files_changed).toEqual([{ path: 'seen.txt', change: 'added' }])
  expect(await repo.readOn('main', 'seen.txt')).toBe('new\nnewer\nmore')
})

test('a part that waits for its parent starts when that is done, and the parent does not wait for it', async () => {
  const { fleet, project } = await aScene()
  const [after, waits] = ['after', 'waits'].map(name => join(fleet.root, name))
  const part = {
    title: 'later',
    agent: 'shell',
    detailed_prompt: `git log --format=%s > ${after}; echo l > l.txt`,
    wait_for_me: true,
  }
  const script = [call('create_sub_mission', part), call('wait_for_sub_missions', {}, waits), 'echo p > p.txt'].join(
    '\n',
  )
  const { id } = await fleet.mission(project, script, { title: 'the parent' })
  const { children, sessions } = await fleet.until(id, 'done', 'failed', 'waiting')
  expect(sessions).toHaveLength(1)
  expect(readJson(waits!)).toMatchObject({ waiting: false, sub_missions: [] })
  await fleet.until(children[0]!.id, 'done', 'failed')
  expect(readFileSync(after!, 'utf8')).toContain('the parent')
})

test('a parent is woken once by a part that needs somebody, and then only when that is over', async () => {
  const { fleet, project, gate } = await aScene()
  const [told, held] = [join(fleet.root, 'told'), gate('part')]
  const blocked = call('submit_report', report('no', { status: 'blocked' }))
  const part = { title: 'is blocked', agent: 'shell', detailed_prompt: `${held.wait}; ${blocked}` }
  const script = [
    `echo "$FLEET_REASON" >> ${told}`,
    `case $(wc -l < ${told} | tr -d ' ') in`,
    `1) ${call('create_sub_mission', part)}; ${call('wait_for_sub_missions')} ;;`,
    // The first call says what needs a person. The second call waits.
    `2) ${call('wait_for_sub_missions', {}, `${told}.first`)}; ${call('wait_for_sub_missions', {}, `${told}.second`)} ;;`,
    '*) echo done > done.txt ;;',
    'esac',
  ].join('\n')
  const { id } = await fleet.mission(project, script)
  await fleet.until(id, 'waiting')
  held.open()
  const waiting = await eventually('it waits again', async () => {
    const mission = await fleet.show(id)
    return mission.status === 'waiting' && mission.sessions.length === 2 ? mission : undefined
  })
  expect(waiting.waits_for).toMatchObject([{ kind: 'children' }])
  expect(readJson(`${told}.first`)).toMatchObject({ waiting: false, sub_missions: [{ status: 'needs_input' }] })
  expect(readJson(`${told}.second`)).toMatchObject({ waiting: true })
  await fleet.call('cancel_mission', { mission_id: waiting.children[0]!.id })
  expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done' })
  expect(readFileSync(told, 'utf8').trim().split('\n')).toEqual(['first', 'children', 'children'])
})

test('a parent that waits goes on when what it waits for is deleted, and never waits for a draft', async () => {
  const { fleet, project, gate } = await aScene()
  const [told, held] = [join(fleet.root, 'told'), gate('parent')]
  const part = {
    title: 'is blocked',
    agent: 'shell',
    detailed_prompt: call('submit_report', report('no', { status: 'blocked' })),
  }
  const wait = call('wait_for_sub_missions', {}, told)
  const script = twice(
    // After it was told what needs a person, the next call waits.
    [held.wait, call('create_sub_mission', part), `until grep -q needs_input ${told}; do ${wait}; done; ${wait}`],
    ['echo done > done.txt'],
  )
  const { id } = await fleet.mission(project, script, { title: 'the parent' })
  await fleet.call('create_mission', { project_id: project.id, title: 'later', prompt: 'true', parent_mission_id: id })
  held.open()
  const { children } = await fleet.until(id, 'waiting')
  expect(readJson(told)).toMatchObject({ waiting: true, sub_missions: [{ title: 'is blocked' }] })
  await fleet.call('delete_mission', { mission_id: children.find(({ title }) => title === 'is blocked')!.id })
  expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done' })
})

test('how deep, how many and for how much agents delegate is limited', async () => {
  const scene = await aScene({ env: { FLEET_MAX_SPAWN_DEPTH: '1', FLEET_MAX_SUB_MISSIONS: '3' } })
  const { fleet } = scene
  const { fleet: inner } = fleet
  const agent = await anAgentAtWork(scene, { max_budget_usd: 2 })
  const part = (more: object = {}) => ({ title: 'part', agent: 'shell', detailed_prompt: 'true', ...more })
  await fleet.call('pause')

  expect((await agent.ask('create_sub_mission', part({ max_budget_usd: 2.5 }))).json.error).toMatchObject({
    code: 'not_allowed',
    left: 2,
  })
  const half = await agent.ask('create_sub_mission', part())
  expect(half.json).toMatchObject({ max_budget_usd: 1, status: 'queued' })
  // The parent's own spending counts too.
  const { value, version } = await current(inner, 'sessions', agent.session)
  await inner.store.commit({
    changes: [put('sessions', { ...value, usage: { ...value.usage, cost_usd: 0.4 } }, version)],
  })
  expect((await agent.ask('create_sub_mission', part({ max_budget_usd: 0.7 }))).status).toBe(409)
  expect((await agent.ask('get_mission_context')).json.limits).toMatchObject({ sub_missions_left: 2 })

  const many = await Promise.all(
    [0.1, 0.1, 0.1, 0.1].map(max_budget_usd => agent.ask('create_sub_mission', part({ max_budget_usd }))),
  )
  expect(many.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409])
  expect((await fleet.show(agent.id)).children).toHaveLength(3)
  // A refused sub-mission leaves nothing in the repository.
  expect((await agent.ask('create_sub_mission', part({ from: 'me', max_budget_usd: 0.1 }))).status).toBe(409)
  const refs = await scene.repo.git('for-each-ref', '--format=%(refname)', 'refs/fleet')
  expect(refs.split('\n').filter(ref => !ref.startsWith('refs/fleet/places/'))).toEqual([])

  await fleet.call('unpause')
  const child = await anAgentAtWork(scene, { parent_mission_id: agent.id })
  expect((await child.ask('create_sub_mission', part())).json.error.message).toMatch('at most 1 deep')
})

test('what a part is given its parent may no longer spend', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await anAgentAtWork(scene, { max_budget_usd: 2 })
  await fleet.call('pause')
  await agent.ask('create_sub_mission', { title: 'p', agent: 'shell', detailed_prompt: 'true', max_budget_usd: 1.5 })
  expect((await agent.ask('get_mission_context')).json.limits).toMatchObject({ budget_left_usd: 0.5 })
})

test('cancelled with what it handed on, and that with what it handed on; finished work and other missions stay', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, project } = scene
  const held = scene.gate('held')
  const part = (title: string, ...script: string[]) => ({
    title,
    agent: 'shell',
    detailed_prompt: script.join('\n'),
  })
  const grandchild = part('grandchild', held.wait)
  const script = [
    call('create_sub_mission', part('done', 'echo x > x.txt')),
    call('create_sub_mission', part('child', call('create_sub_mission', grandchild), held.wait)),
    held.wait,
  ].join('\n')
  const { id } = await fleet.mission(project, script)
  const other = await fleet.mission(project, held.wait, { title: 'other' })
  const named = async (title: string) => {
    const { missions } = await fleet.call<{ missions: { id: string; title: string }[] }>('list_missions', {})
    return missions.find(each => each.title === title)
  }
  await eventually('all of them are there', () => named('grandchild'))
  await fleet.until((await named('done'))!.id, 'review')
  await fleet.until((await named('grandchild'))!.id, 'running')
  expect(await fleet.call('cancel_mission', { mission_id: id })).toMatchObject({ sub_missions_cancelled: 2 })
  for (const title of ['child', 'grandchild'])
    expect((await fleet.until((await named(title))!.id, 'cancelled')).status_reason?.text).toContain(
      'Its parent mission',
    )
  await fleet.until(id, 'cancelled')
  expect((await fleet.show((await named('done'))!.id)).status).toBe('review')
  expect((await fleet.show(other.id)).status).toBe('running')
  held.open()
})
