import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ApprovalRule } from '../../../src/domain/records/approval-rule.ts'
import { current } from '../../../src/fleet/records.ts'
import { operationNamed } from '../../../src/operations/index.ts'
import { aClientThatAsks } from '../../kit/asking.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const TEST = { command: 'npm test', description: 'Runs the tests' }
const rules = async ({ fleet }: Scene) =>
  (await fleet.call<{ rules: (ApprovalRule & { covers: string })[] }>('list_approval_rules')).rules

test('allowed for a session: exactly the same is not asked again there, everything else is', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await aClientThatAsks(scene)
  const first = await agent.asksLeave(TEST)
  const answered = await fleet.fleetCommand(['answer', first, 'allow', 'Go on.', '--for-session'])
  expect([answered.code, answered.stderr]).toEqual([0, expect.stringContaining('Run the command npm test')])

  const second = await agent.asksLeave({ ...TEST, description: 'Once more' })
  const [rule] = await rules(scene)
  expect(rule).toMatchObject({
    scope: 'session',
    mission_id: agent.id,
    covers: 'Run the command npm test',
    created_by: 'person',
  })
  expect(rule).toMatchObject({ agent: 'shell', uses: 1, last_used_at: expect.any(String) })
  expect(await agent.stands(second)).toMatchObject({
    ...{ status: 'answered', answer: { decision: 'allow', text: null }, answered_by: `rule:${rule!.id}` },
  })
  expect(await fleet.show(agent.id)).toMatchObject({ status: 'running' })
  const event = (await fleet.events()).find(({ kind }) => kind === 'allowed_by_rule')
  expect(event).toMatchObject({ session_id: agent.session, data: { question: second, rule: rule!.id } })

  const others: [object, string?][] = [
    [{ command: 'npm test; id' }],
    [{ command: 'npm  test' }],
    [{ ...TEST, dangerouslyDisableSandbox: true }],
    [TEST, 'shell'],
  ]
  for (const [input, tool] of others) {
    const id = await agent.asksLeave(input, tool)
    expect((await agent.stands(id)).status, JSON.stringify([input, tool])).toBe('open')
    await fleet.call('answer_question', { question_id: id, decision: 'deny' })
  }
  // Another mission has another session.
  const other = await aClientThatAsks(scene)
  expect((await other.stands(await other.asksLeave(TEST))).status).toBe('open')

  await fleet.kill()
  await fleet.start()
  expect((await agent.stands(await agent.asksLeave(TEST))).answered_by).toBe(`rule:${rule!.id}`)
  agent.open()
  other.open()
})

test('always allowed here: in every mission of the project until it is revoked, in no other project', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await aClientThatAsks(scene)
  const first = await agent.asksLeave(TEST)
  await fleet.call('answer_question', { question_id: first, decision: 'yes', remember: 'project' })
  const other = await aClientThatAsks(scene)
  expect((await other.stands(await other.asksLeave(TEST))).status).toBe('answered')
  const elsewhere = await fleet.project((await scene.repository()).path, { name: 'elsewhere' })
  const stranger = await aClientThatAsks({ ...scene, project: elsewhere })
  expect((await stranger.stands(await stranger.asksLeave(TEST))).status).toBe('open')

  const listed = await fleet.fleetCommand(['approvals', 'list'])
  expect(listed.stdout).toMatch(/^\w+ {2}project \w+ {2}Run the command npm test\n$/)
  expect((await fleet.fleetCommand(['approvals', 'revoke', (await rules(scene))[0]!.id])).code).toBe(0)
  expect(await rules(scene)).toEqual([])
  expect((await other.stands(await other.asksLeave(TEST))).status).toBe('open')
  const kinds = (await fleet.events()).map(({ kind }) => kind).filter(kind => kind.includes('rule'))
  expect(kinds).toEqual(['approval_rule_made', 'allowed_by_rule', 'approval_rule_revoked'])
  for (const each of [agent, other, stranger]) each.open()
})

/** As if the plugin telegram asked, past `authorize`. */
const pluginOf =
  ({ fleet: { fleet } }: Scene) =>
  (name: string, input: object) => {
    const operation = operationNamed(name)!
    if (operation.kind === 'stream') throw new Error(name)
    const caller = { kind: 'owner' as const, plugin: 'telegram' }
    return operation.run({ fleet, caller, signal: new AbortController().signal }, operation.input.parse(input))
  }

test('a plugin decides nothing; it passes on what somebody decides whom its settings name, while they may', async () => {
  const scene = await aScene()
  const { fleet, project } = scene
  const agent = await aClientThatAsks(scene)
  const id = await agent.asksLeave(TEST)
  const decide = (account?: string) =>
    pluginOf(scene)('answer_question', { question_id: id, decision: 'deny', account })
  const link = (...deciders: unknown[]) => {
    mkdirSync(join(fleet.root, 'home/plugins'), { recursive: true })
    writeFileSync(join(fleet.root, 'home/plugins/telegram.json'), JSON.stringify({ deciders }))
  }
  const ada = { name: 'Ada', grants: [{ role: 'team-lead', project_id: project.id }] }
  const { person } = await fleet.call<{ person: { id: string } }>('invite_person', ada)
  const setRoles = (role: string) =>
    fleet.call('set_roles', { principal_id: person.id, grants: [{ role, project_id: project.id }] })
  const refused = /may not decide about permissions/
  for (const account of [undefined, '', '42', 'owner']) await expect(decide(account)).rejects.toThrow(refused)
  link('42=Ada', '', 7, '43=', '=owner', '44=Nobody', `45=${person.id.slice(0, 6)}`)
  for (const account of [undefined, '', '7', '43', '44', '45', 'Ada', '42=Ada'])
    await expect(decide(account), account).rejects.toThrow(refused)
  await setRoles('worker')
  await expect(decide('42')).rejects.toThrow(refused)
  await setRoles('team-lead')
  expect((await agent.stands(id)).status).toBe('open')
  await decide('42')
  expect(await agent.stands(id)).toMatchObject({ answer: { decision: 'deny' }, answered_by: 'plugin:telegram' })

  const next = await agent.asksLeave({ command: 'npm run build', description: 'Builds' })
  const decideNext = (account: string) =>
    pluginOf(scene)('answer_question', { question_id: next, decision: 'allow', account })
  await fleet.call('remove_person', { principal_id: person.id })
  await expect(decideNext('42')).rejects.toThrow(refused)
  link('42=owner')
  await decideNext('42')
  expect(await agent.stands(next)).toMatchObject({ answer: { decision: 'allow' } })
  agent.open()
})

test('no session and no plugin makes, sees or revokes a rule; only what is allowed is remembered', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await aClientThatAsks(scene)
  const id = await agent.asksLeave(TEST)
  const remember = { question_id: id, decision: 'allow', remember: 'project' }
  expect((await agent.ask('answer_question', remember)).status).toBe(403)
  const asPlugin = pluginOf(scene)
  await expect(asPlugin('answer_question', remember)).rejects.toThrow(/Only a person/)
  for (const decision of ['deny', 'no'])
    await expect(fleet.call('answer_question', { ...remember, decision })).rejects.toThrow(/allowed can be remembered/)
  const words = await agent.asksWords('Which?')
  await expect(
    fleet.call('answer_question', { question_id: words, text: 'this', remember: 'session' }),
  ).rejects.toThrow(/allowed can be remembered/)
  expect([await rules(scene), (await agent.stands(id)).status]).toEqual([[], 'open'])

  await fleet.call('answer_question', remember)
  const [rule] = await rules(scene)
  expect((await agent.ask('list_approval_rules')).status).toBe(403)
  expect((await agent.ask('revoke_approval_rule', { rule_id: rule!.id })).status).toBe(403)
  await expect(asPlugin('revoke_approval_rule', { rule_id: rule!.id })).rejects.toThrow(/Only a person/)
  expect(await rules(scene)).toHaveLength(1)
  agent.open()
})

test('a rule about a file is about that file in the worktree, and follows no link', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await aClientThatAsks(scene)
  const { worktree } = (await current(fleet.fleet, 'sessions', agent.session)).value
  const write = (file: string, content: string) => agent.asksLeave({ file_path: file, content }, 'Write')
  const first = await write(join(worktree!, 'notes.txt'), 'one')
  await fleet.call('answer_question', { question_id: first, decision: 'allow', remember: 'session' })
  expect((await agent.stands(await write('notes.txt', 'two'))).status).toBe('answered')
  for (const file of ['other.txt', '../notes.txt', '/etc/notes.txt']) {
    const id = await write(file, 'two')
    expect((await agent.stands(id)).status, file).toBe('open')
    if (file !== 'other.txt')
      await expect(
        fleet.call('answer_question', { question_id: id, decision: 'allow', remember: 'session' }),
      ).rejects.toThrow(/no rule can describe this request exactly/)
  }
  writeFileSync(join(fleet.root, 'mine'), '')
  symlinkSync(join(fleet.root, 'mine'), join(worktree!, 'notes.txt'))
  expect((await agent.stands(await write('notes.txt', 'three'))).status).toBe('open')
  agent.open()
})
