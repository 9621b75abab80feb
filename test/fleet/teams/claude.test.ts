import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'
import { type Model, type Step, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('Claude Code as a member', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (): Promise<Scene> =>
    aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })
  const charter = (...script: Step[]): string => `You look after the harbour.\n${steps(...script)}`
  const asked = (text: string): boolean => model.requests.some(({ body }) => JSON.stringify(body ?? '').includes(text))

  test('mail wakes it, it reads it with a tool, replies with a tool, and goes on in the same conversation', async () => {
    const s = await scene()
    const crew = await aTeam(s, [])
    const reply: Step = { tool: 'mcp__fleet__mail_reply', input: { mail_id: '{{mail_id}}', body: 'High at noon.' } }
    await crew.add('ada', {
      agent: 'claude',
      charter: charter({ tool: 'mcp__fleet__mail_read', input: {} }, reply, { say: 'Answered.' }),
    })
    const { id } = await crew.send('ada', 'When is high tide?', { needs: 'reply' })
    await eventually('a reply', async () => (await crew.mail(id)).deliveries[0]!.state === 'replied')
    // The model itself saw the mail, quoted, and who wrote it.
    expect(asked('> When is high tide?')).toBe(true)
    expect(asked(`Message ${id} from operator, a person, wants a reply`)).toBe(true)
    const { messages } = await s.fleet.call<{ messages: MailView[] }>('read_mail', {})
    expect(messages).toMatchObject([{ body: 'High at noon.', from: { handle: 'ada' } }])
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')

    const before = await crew.member('ada')
    const second = await crew.send('ada', 'And low tide?', { wake: true })
    await eventually('heard', async () => (await crew.mail(second.id)).deliveries[0]!.state === 'heard')
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
    const sessions = await Promise.all(
      [before.session_id!, (await crew.member('ada')).session_id!].map(each =>
        s.fleet.fleet.store.get('sessions', each),
      ),
    )
    const [one, other] = sessions.map(stored => stored!.value)
    expect(other!.resumes).toBe(one!.conversation)
    expect(other!.worktree).toBe(one!.worktree)
    // It remembers: the first message is in the request of the second turn.
    const last = model.requests.findLast(({ body }) => JSON.stringify(body ?? '').includes('And low tide?'))
    expect(JSON.stringify(last!.body)).toContain('When is high tide?')
  })

  test('mail reaches it in the middle of its turn, and the echo of its client proves it', async () => {
    const s = await scene()
    const crew = await aTeam(s, [])
    const held = s.gate('tool')
    await crew.add('ada', { agent: 'claude', charter: charter({ run: held.wait }, { say: 'Done.' }) })
    await crew.send('ada', 'Begin.', { wake: true })
    await eventually('the tool runs', () => held.reached())
    const { id } = await crew.send('ada', 'Mind the storm.', { needs: 'ack' })
    await eventually('handed', async () => (await crew.mail(id)).deliveries[0]!.state === 'handed')
    held.open()
    await eventually('heard', async () => (await crew.mail(id)).deliveries[0]!.state === 'heard')
    expect((await crew.mail(id)).deliveries[0]!.heard_by).toBe('echo')
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
    expect(asked('> Mind the storm.')).toBe(true)
    // One session had both.
    const { mission_id } = await crew.member('ada')
    expect((await s.fleet.show(mission_id)).sessions).toHaveLength(1)
  })
})
