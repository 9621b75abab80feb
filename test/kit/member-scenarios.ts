import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/index.ts'
import { put } from '../../src/fleet/records.ts'
import { type Step, steps } from '../model/index.ts'
import { endProcess, eventually } from './fleet.ts'
import type { Scene } from './scene.ts'
import { aTeam, type MailView } from './team.ts'
import type { TaskView } from './team-tasks.ts'

/** A client as a member of a team. */
export interface MemberClient {
  can: Agent['can']
  /** It copies a conversation only in the folder where that began. */
  isBound?: boolean
  scene(): Promise<Scene>
  /** Its name for a tool of the fleet. */
  named(tool: string): string
  /** Everything that its model was asked, in order, each time with the conversation so far. */
  asked(): string[]
}

const PATIENCE_MS = 60_000

/** Its model answered the prompt, and then called a tool that reads mail: whichever the fleet saw first. */
const EITHER = expect.stringMatching(/^(turn|tool)$/)

/** What a client does as a member: mail, tasks and checkpoints, by the tools of the fleet. */
export function memberScenarios({ can, isBound = false, scene, named, asked }: MemberClient): void {
  const use = (tool: string, input: Record<string, unknown> = {}): Step => ({ tool: named(tool), input })

  async function aCrew() {
    const s = await scene()
    const crew = await aTeam(s, [])
    const sessions = async () => (await s.fleet.show((await crew.member('ada')).mission_id)).sessions
    return {
      sessions,
      ...{ s, crew },
      ada: (...script: Step[]) =>
        crew.add('ada', { agent: undefined, charter: `You look after the harbour.\n${steps(...script)}` }),
      deliveryOf: async ({ id }: Pick<MailView, 'id'>) => (await crew.mail(id)).deliveries[0]!,
      is: ({ id }: Pick<MailView, 'id'>, state: string) =>
        eventually(
          `the message is ${state}`,
          async () => (await crew.mail(id)).deliveries[0]!.state === state,
          async () =>
            JSON.stringify([
              (await crew.mail(id)).deliveries,
              await crew.member('ada'),
              (await sessions()).map(({ outcome, outcome_reason }) => [outcome, outcome_reason]),
            ]),
          PATIENCE_MS,
        ),
      isIdle: () =>
        eventually(
          'ada is idle',
          async () => (await crew.member('ada')).state === 'idle',
          async () => JSON.stringify(await crew.member('ada')),
          PATIENCE_MS,
        ),
    }
  }
  const firstAskedWith = (words: string): string | undefined => asked().find(text => text.includes(words))

  test('woken by mail, it reads and replies with tools, and the next mail wakes it in the same conversation', async () => {
    const { crew, ada, deliveryOf, is, isIdle, sessions, s } = await aCrew()
    await ada(
      use('mail_read'),
      use('mail_reply', { mail_id: '{{mail_id}}', body: 'High at noon.' }),
      { say: 'Answered.' },
      { say: 'Noted.' },
    )
    const first = await crew.send('ada', 'When is high tide?', { needs: 'reply' })
    await is(first, 'replied')
    expect(firstAskedWith('> When is high tide?')).toContain(
      `Message ${first.id} from operator, a person, wants a reply`,
    )
    expect(await deliveryOf(first)).toMatchObject({ via: 'prompt', heard_by: EITHER, times_handed: 1 })
    const { messages } = await s.fleet.call<{ messages: MailView[] }>('read_mail', {})
    expect(messages).toMatchObject([{ body: 'High at noon.', from: { handle: 'ada' } }])
    await isIdle()

    const second = await crew.send('ada', 'And low tide?', { wake: true })
    await is(second, 'heard')
    await isIdle()
    expect(await deliveryOf(second)).toMatchObject({ via: 'prompt', heard_by: 'turn', times_handed: 1 })
    const [one, other, ...more] = await sessions()
    expect(more).toEqual([])
    expect([one!.outcome, other!.outcome]).toEqual(['completed', 'completed'])
    expect(other!.worktree).toBe(one!.worktree)
    expect(other!.conversation).toBe(one!.conversation)
    expect(one!.conversation).toBeTruthy()
    expect(firstAskedWith('> And low tide?')).toContain('> When is high tide?')
  }, 240_000)

  const isCopied = can.fork && !isBound
  const conversation = isCopied
    ? 'a new member continues a copy of its conversation, and fails in words if its client does not have it'
    : `a new member with its conversation ${can.fork ? 'fails in words' : 'is refused'}`
  test(conversation, async () => {
    const { crew, ada, is, isIdle, sessions, s } = await aCrew()
    await ada({ say: 'The harbour is deep.' })
    await is(await crew.send('ada', 'How deep is it?', { wake: true }), 'heard')
    await isIdle()
    const [origin] = await sessions()
    const charter = `You mend nets.\n${steps({ say: 'Nets.' })}`
    const add = (handle: string) => crew.add(handle, { agent: undefined, conversation: origin!.id, charter })
    if (!can.fork) return expect(add('bob')).rejects.toThrow(/cannot be copied/)
    if (isCopied) {
      await add('bob')
      await is(await crew.send('bob', 'How many nets?', { wake: true }), 'heard')
      const told = firstAskedWith('> How many nets?')!
      for (const words of ['> How deep is it?', 'You are bob, worker', 'This conversation is a copy'])
        expect(told).toContain(words)
      const isIdleToo = async () => (await crew.member('bob')).state === 'idle'
      await eventually('bob is idle', isIdleToo, undefined, PATIENCE_MS)
      const [own, ...more] = (await s.fleet.show((await crew.member('bob')).mission_id)).sessions
      expect(own).toMatchObject({ copies: true, resumes: origin!.conversation, agent: origin!.agent })
      expect([origin!.conversation, null]).not.toContain(own!.conversation)
      expect([own!.worktree, more]).toEqual([expect.not.stringMatching(origin!.worktree!), []])
      const { store } = s.fleet.fleet
      const { value, version } = (await store.get('sessions', origin!.id))!
      const unknown = value.conversation!.replace(/.{6}$/, end => end.replace(/./g, char => (char === '0' ? '1' : '0')))
      await store.commit({ changes: [put('sessions', { ...value, conversation: unknown }, version)] })
    }
    await add('eve')
    const { id } = await crew.send('eve', 'Is anybody there?', { wake: true })
    const state = async () => (await crew.member('eve')).state
    await eventually('eve has failed', async () => (await state()) === 'failed', state, PATIENCE_MS)
    expect((await crew.member('eve')).waits_for).toContain('does not have the conversation')
    await eventually('its mail waits', async () => (await crew.mail(id)).deliveries[0]!.state === 'queued')
    expect(firstAskedWith('> Is anybody there?')).toBeUndefined()
    const heard = (await s.fleet.events()).filter(({ kind }) => kind === 'mail_heard')
    expect(heard.some(({ data }) => (data.mails as string[]).includes(id))).toBe(false)
  }, 240_000)

  const when = can.liveMessages === 'mid-turn' ? 'in the middle of its turn' : 'at the end of its turn'
  test(`mail for a member at work is told ${when}`, async () => {
    const { crew, ada, deliveryOf, is, isIdle, sessions, s } = await aCrew()
    const held = s.gate('tool')
    await ada({ run: held.wait }, { run: 'true' }, { say: 'My turn is over.' }, { say: 'Noted.' })
    await crew.send('ada', 'Begin.', { wake: true })
    await eventually('the tool runs', () => held.reached(), undefined, PATIENCE_MS)
    const mail = await crew.send('ada', 'Mind the storm.', { needs: 'ack' })
    if (can.liveMessages !== 'no') await is(mail, 'handed')
    expect(firstAskedWith('> Mind the storm.')).toBeUndefined()
    held.open()
    await is(mail, 'heard')
    await isIdle()
    const told = firstAskedWith('> Mind the storm.')!
    expect(told).toContain(`Message ${mail.id} from operator, a person, please acknowledge`)
    // The words are in the script once. When its turn is over, they are in the conversation too.
    expect(told.split('My turn is over.').length - 1).toBe(can.liveMessages === 'mid-turn' ? 1 : 2)
    expect(await deliveryOf(mail)).toMatchObject({
      times_handed: 1,
      ...(can.liveMessages === 'no' ? { via: 'prompt', heard_by: 'turn' } : { via: 'message', heard_by: 'echo' }),
    })
    expect((await sessions()).map(({ outcome }) => outcome)).toEqual(
      can.liveMessages === 'no' ? ['completed', 'completed'] : ['completed'],
    )
  }, 240_000)

  test('takes a task, hands over a checkpoint and completes the task, each with a tool, and it lands under its name', async () => {
    const { crew, ada, is, isIdle, s } = await aCrew()
    await crew.add('bob')
    const wanted = { team_id: crew.team.id, title: 'Measure the tide', description: 'At the north pier.' }
    const { id } = await s.fleet.call<TaskView>('create_team_task', wanted)
    await ada(
      use('team_tasks'),
      use('team_take', { task_id: id }),
      { say: 'I take it.' },
      { write: 'tide.txt', content: 'high\n' },
      use('checkpoint_create', {
        goal: 'Measure the tide',
        now: 'Once.',
        next: ['Measure it again'],
        to_handle: 'bob',
      }),
      use('team_handoff', { to: 'bob', context: 'The tide is high.\nWrite it on the pier.' }),
      use('team_complete', { task_id: id, summary: 'The tide is high.' }),
      { say: 'Measured.' },
    )
    await is(await crew.send('ada', 'There is a task.', { wake: true }), 'heard')
    const shown = () => s.fleet.call<TaskView>('get_team_task', { task_id: id })
    await eventually(
      'the task is done',
      async () => ['done', 'failed', 'needs_input', 'review'].includes((await shown()).status),
      async () => JSON.stringify([await shown(), await crew.member('ada')]),
      PATIENCE_MS,
    )
    expect(await shown()).toMatchObject({ status: 'done', result: 'landed', assignee: { handle: 'ada' } })
    const { sessions } = await s.fleet.show(id)
    expect(sessions).toMatchObject([{ outcome: 'completed' }])
    const commit = await s.repo.git('log', '-1', '--format=%an%n%B', 'main')
    expect(commit).toContain('The tide is high.')
    expect(commit).toContain('Fleet-Member: ada (crew)')
    expect(asked().some(text => text.includes(`This is the task ${id} of your team.`))).toBe(true)

    const { checkpoints } = await s.fleet.call<{ checkpoints: CheckpointView[] }>('checkpoint_list', {})
    const [handed, written] = checkpoints
    const between = { from: { handle: 'ada' }, to: { handle: 'bob' }, state: 'open' }
    expect(checkpoints).toMatchObject([
      { ...between, goal: 'The tide is high.' },
      { ...between, goal: 'Measure the tide', next: ['Measure it again'] },
    ])
    for (const { commit: at } of [handed!, written!]) expect(await s.repo.git('show', `${at}:tide.txt`)).toBe('high')
    await eventually('bob was told', () => crew.told().some(({ body }) => body.includes('Write it on the pier.')))
    await isIdle()
  }, 240_000)

  test('killed in the middle of its turn, it is told its mail once more, and answers it once', async () => {
    const { crew, ada, deliveryOf, is, isIdle, sessions, s } = await aCrew()
    await ada(
      { hang: true, times: 1 },
      // Some clients put words of their own after a turn that was cut off, which count as a step.
      use('mail_read'),
      use('mail_read'),
      use('mail_reply', { mail_id: '{{mail_id}}', body: 'High at noon.' }),
      { say: 'Answered.' },
    )
    const isLive = can.liveMessages !== 'no'
    const ask = () => crew.send('ada', 'When is high tide?', { needs: 'reply' })
    const first = isLive ? await crew.send('ada', 'Begin.', { wake: true }) : await ask()
    const askedOnce = () => firstAskedWith(`Message ${first.id}`)
    await eventually('its model was asked', askedOnce, undefined, PATIENCE_MS)
    expect(await deliveryOf(first)).toMatchObject({ state: 'handed', via: 'prompt', heard_by: null })
    const mail = isLive ? await ask() : first
    if (isLive) await eventually('it is told', async () => (await deliveryOf(mail)).state !== 'queued')
    for (const pid of s.fleet.processes((await sessions())[0]!.id)) endProcess(pid)
    await is(mail, 'replied')
    await isIdle()
    // A client that was killed before it wrote its conversation down cannot resume it: a new one begins.
    const outcomes = (await sessions()).map(({ outcome }) => outcome)
    expect([['lost', 'completed'].join(), ['lost', 'lost', 'completed'].join()]).toContain(outcomes.join())
    for (const each of [first, mail])
      expect(await deliveryOf(each)).toMatchObject({ times_handed: outcomes.length, heard_by: EITHER })
    expect(firstAskedWith('> When is high tide?')).toContain(`Message ${mail.id} from operator`)
    const { messages } = await s.fleet.call<{ messages: MailView[] }>('read_mail', { filter: 'all' })
    expect(messages.map(({ body, from }) => [from.handle, body])).toEqual([['ada', 'High at noon.']])
  }, 240_000)
}

interface CheckpointView {
  commit: string | null
}
