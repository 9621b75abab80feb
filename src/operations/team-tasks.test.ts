import { expect, test } from 'vitest'
import { Usage } from '../domain/records/session.ts'
import { aSession, NOW } from '../domain/samples.testkit.ts'
import { aDesk } from '../fleet/reactor.testkit.ts'
import { refTo } from '../fleet/reactor.ts'
import { put } from '../fleet/records.ts'
import { Teams } from '../fleet/teams/reactor.ts'
import type { Caller } from './operation.ts'
import { aMember, twoTeams } from './teams.testkit.ts'
import { aPrincipal } from './two-projects.testkit.ts'

interface Task {
  id: string
  state: string
  assignee: { handle: string } | null
  blockers: { id: string }[]
}

interface Member {
  id: string
  handle: string
  state: string
}

async function aTask(t: Awaited<ReturnType<typeof twoTeams>>, title: string, more: object = {}) {
  return t.ask<Task>(t.owner, 'create_team_task', { team_id: t.one.id, title, ...more })
}

test('fifty claim one task: one has it, and the others are told who', async () => {
  const t = await twoTeams()
  await t.ask(t.owner, 'change_team', { team_id: t.one.id, max_members: 60 })
  const callers: Caller[] = []
  for (let n = 0; n < 50; n++) callers.push(await aMember(t, t.one, 'p1', `m${n}`))
  const { id } = await aTask(t, 'Paint the pier')
  const answers = await Promise.allSettled(callers.map(caller => t.ask<Task>(caller, 'team_take', { task_id: id })))
  const winners = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value.assignee!.handle : []))
  expect(winners).toHaveLength(1)
  const refusals = answers.flatMap(answer => (answer.status === 'rejected' ? answer.reason.message : []))
  expect(new Set(refusals)).toEqual(new Set([`${winners[0]} has the task ${id} already.`]))
  expect(await t.ask(t.owner, 'get_team_task', { task_id: id })).toMatchObject({ assignee: { handle: winners[0] } })
})

test('a lead steers all tasks of its team; a worker only those that it has', async () => {
  const t = await twoTeams()
  const { lea, bob } = t.one
  const amy = await aMember(t, t.one, 'p1', 'amy')
  await expect(t.ask(bob, 'create_team_task', { title: 'Mine' })).rejects.toThrow('Only whoever leads')
  await expect(t.ask(bob, 'team_assign', { agent: 'amy', task: 'Yours' })).rejects.toThrow('Only whoever leads')
  const first = await t.ask<Task>(lea, 'team_assign', { agent: 'bob', task: 'Measure the tide' })
  const second = await t.ask<Task>(lea, 'create_team_task', { title: 'Paint the pier', blocked_by: [first.id] })
  expect(second).toMatchObject({ state: 'blocked', blockers: [{ id: first.id }], assignee: null })
  await expect(t.ask(amy, 'team_complete', { task_id: first.id })).rejects.toThrow('bob has the task')
  await expect(t.ask(amy, 'team_take', { task_id: first.id })).rejects.toThrow('bob has the task')
  await t.ask(amy, 'team_take', { task_id: second.id })
  await expect(t.ask(amy, 'team_complete', { task_id: second.id })).rejects.toThrow(
    `Task ${second.id} is blocked by Measure the tide (${first.id}, queued).`,
  )
  await expect(t.ask(bob, 'team_block', { task_id: first.id, blocked_by: [second.id] })).rejects.toThrow('circle')
  expect(await t.ask(bob, 'team_complete', { task_id: first.id })).toMatchObject({ state: 'done' })
  expect(await t.ask(amy, 'team_complete', { task_id: second.id })).toMatchObject({ state: 'done' })

  const third = await t.ask<Task>(lea, 'team_assign', { agent: 'bob', task: 'Sweep the deck' })
  expect(await t.ask(lea, 'team_assign', { agent: 'amy', task: third.id })).toMatchObject({
    id: third.id,
    assignee: { handle: 'amy' },
  })
  const tasks = async (caller: Caller, input: object) =>
    (await t.ask<{ tasks: Task[] }>(caller, 'team_tasks', input)).tasks.map(({ id }) => id)
  expect(await tasks(amy, { filter: 'mine' })).toEqual([third.id])
  expect(await tasks(bob, { filter: 'mine' })).toEqual([])
  expect((await tasks(bob, { over: true })).toSorted()).toEqual([first.id, second.id, third.id].toSorted())
  await t.ask(amy, 'team_unassign', { task_id: third.id })
  expect(await tasks(bob, { filter: 'unassigned' })).toEqual([third.id])
})

test('a member of another team finds no task of this one, and cannot name it as a blocker', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Paint the pier')
  for (const name of ['get_team_task', 'team_take', 'team_complete', 'team_unassign'])
    await expect(t.ask(t.two.lea, name, { task_id: id })).rejects.toThrow(`no task "${id}"`)
  await expect(t.ask(t.two.lea, 'create_team_task', { title: 'Other', blocked_by: [id] })).rejects.toThrow(
    `no task "${id}"`,
  )
})

test('who has a task as a person says when it is done, and no session starts for it', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Ring the harbour master')
  expect(await t.ask(t.owner, 'team_take', { task_id: id })).toMatchObject({
    state: 'waiting',
    waits_for: ['operator, a person, has it'],
  })
  expect(await t.ask(t.owner, 'update_team_task', { task_id: id, status: 'resolved' })).toMatchObject({ state: 'done' })
})

test('whoever is dismissed can take nothing, and a team with open tasks is not deleted', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Paint the pier')
  await t.ask(t.owner, 'dismiss_member', { team_id: t.one.id, member: 'bob' })
  await expect(t.ask(t.one.bob, 'team_take', { task_id: id })).rejects.toThrow('bob was dismissed')
  await expect(t.ask(t.owner, 'delete_team', { team_id: t.one.id, dismiss: true })).rejects.toThrow(id)
})

test('a member at work on a task is at work, with its task and what it has cost so far', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Paint the pier', { agent: 'bob' })
  const usage = Usage.parse({ turns: 1, input_tokens: 5, output_tokens: 5, cost_usd: 0.5 })
  const bob = async () => {
    const { members } = await t.ask<{ members: Member[] }>(t.owner, 'get_team', { team_id: t.one.id })
    return members.find(({ handle }) => handle === 'bob')!
  }
  const { id: member_id } = await bob()
  const change = async <C extends 'missions' | 'members'>(collection: C, record: string, fields: object) => {
    const { value, version } = (await t.fleet.store.get(collection, record))!
    await t.fleet.store.commit({ changes: [put(collection, { ...value, ...fields } as typeof value, version)] })
  }
  await t.save(
    'sessions',
    aSession({ id: 's-task', mission_id: id, project_id: 'p1', member_id, status: 'running', usage }),
  )
  await change('missions', id, { status: 'running', session_id: 's-task' })
  await change('members', member_id, { session_id: 's-task' })
  expect(await bob()).toMatchObject({ state: 'working', task: { id, title: 'Paint the pier' }, spent_usd: 0.5 })

  const running = async (input: object) =>
    (await t.ask<{ tasks: { session_id: string }[] }>(t.owner, 'list_running', input)).tasks.map(
      each => each.session_id,
    )
  expect(await running({ team_id: t.one.id })).toEqual(expect.arrayContaining(['s-task', `s-${t.one.id}-lea`]))
  expect(await running({ team_id: t.one.id })).not.toContain(`s-${t.two.id}-lea`)
  expect(await running({})).toContain(`s-${t.two.id}-lea`)
})

test('mail bounces although a task of the dismissed member is in the hands of a person, who gives it back later', async () => {
  const t = await twoTeams()
  const { ask, owner, one, fleet, change } = t
  const { id } = await ask<Member>(owner, 'get_member', { team_id: one.id, member: 'bob' })
  const sent = await ask<{ id: string }>(owner, 'send_mail', { team_id: one.id, to: 'bob', body: 'x', needs: 'reply' })
  const task = await aTask(t, 'Paint the pier', { agent: 'bob' })
  const terminal = { pid: 1, started: '1', boot: 'b', host: null }
  const was = { status: 'queued' as const, result: null, ended_at: null }
  const held = { gone: false, next: null, message: null, page: false, session_id: 'held' }
  const taken_over = { by: 'person', since: NOW, terminal, was, ...held }
  await change('missions', task.id, { status: 'running', session_id: 'held', taken_over })
  await ask(owner, 'dismiss_member', { team_id: one.id, member: 'bob' })
  const teams = new Teams(fleet, aDesk())
  await teams.look(refTo('members', id))
  expect(await ask(owner, 'get_mail', { mail_id: sent.id })).toMatchObject({ deliveries: [{ state: 'bounced' }] })
  expect(await ask(owner, 'get_team_task', { task_id: task.id })).toMatchObject({ assignee: { handle: 'bob' } })

  await change('missions', task.id, { status: 'review', session_id: null, taken_over: null })
  const back = { kind: 'handed_back' as const, time: NOW, actor: 'person', project_id: 'p1', mission_id: task.id }
  const [ref] = await teams.affectedBy({ ...back, sequence: 1, session_id: null, cause: null, data: {} } as never)
  expect(ref).toBe(refTo('members', id))
  await teams.look(ref!)
  expect(await ask(owner, 'get_team_task', { task_id: task.id })).toMatchObject({ assignee: null })
})

test('the id of a task says which team is meant, also to whoever sees several', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Paint the pier')
  const given = await t.ask<Task>(t.owner, 'team_assign', { agent: 'bob', task: id.slice(0, 8) })
  expect(given).toMatchObject({ id, assignee: { handle: 'bob' } })
  await expect(t.ask(t.owner, 'team_assign', { agent: 'bob', task: 'A new one' })).rejects.toThrow('is missing')
  await expect(t.ask(t.two.lea, 'team_assign', { agent: 'bob', task: id })).resolves.not.toMatchObject({ id })
})

test('whoever has a role in one team forks no task of it into the project', async () => {
  const t = await twoTeams()
  const { id } = await aTask(t, 'Paint the pier')
  const forks = (grant: { role: 'coordinator'; project_id: string; team_id?: string }) =>
    t.ask(aPrincipal([grant]), 'fork_mission', { mission_id: id, message: 'do something else' })
  await expect(forks({ role: 'coordinator', project_id: 'p1', team_id: t.one.id })).rejects.toThrow('missions.run')
  await expect(forks({ role: 'coordinator', project_id: 'p1' })).rejects.not.toThrow('missions.run')
})
