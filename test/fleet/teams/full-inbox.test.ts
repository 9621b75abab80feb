import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

const BUSY = { timeout: 240_000 }

/** A paused member that writes down its prompts. What is sent meanwhile is handed over once it goes on. */
async function aFullInbox(bodies: readonly string[], more: object = {}) {
  const s = await aScene({ env: { FLEET_MAIL_PER_MINUTE: '1000000' } })
  const crew = await aTeam(s, [])
  const prompts = join(s.fleet.root, 'prompts')
  // The script is in the prompt itself, so it does not contain the line that it prints.
  const end = '\n=== the end\n'
  await crew.add('ada', {
    charter: `{ cat "$FLEET_PROMPT_FILE"; printf '\\n=== the %s\\n' end; } >> '${prompts}'; ${crew.script}`,
  })
  await s.fleet.call('change_member', { team_id: crew.team.id, member: 'ada', paused: true })
  const sent = []
  for (const body of bodies) sent.push(await crew.send('ada', body, { needs: 'reply', ...more }))
  const goOn = () => s.fleet.call('change_member', { team_id: crew.team.id, member: 'ada', paused: false })
  /** On a busy machine a script needs a second for some of them. */
  const answered = (id: string) =>
    eventually(
      'all are answered',
      async () => (await crew.mail(id)).deliveries[0]!.state === 'replied',
      async () => JSON.stringify(await crew.member('ada')),
      150_000,
    )
  const read = () => (existsSync(prompts) ? readFileSync(prompts, 'utf8') : '').split(end).slice(0, -1)
  return { ...s, crew, sent, goOn, answered, prompts: read }
}

test(
  'of 120 messages each prompt has 50 and a list of the rest; none is dropped, and their senders are told',
  BUSY,
  async () => {
    const bodies = [...Array(120).keys()].map(n => `message ${n}`)
    const { crew, sent, goOn, answered, prompts } = await aFullInbox(bodies)
    expect(sent[49]!.deliveries[0]!.reason).toBe('ada is paused.')
    expect(sent[119]!.deliveries[0]!.reason).toMatch(
      /paused\. At least 50 messages came before it: ada is given so many at a time/,
    )
    await goOn()
    await answered(sent[119]!.id)
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
    expect(crew.told().map(({ body }) => body)).toEqual(bodies)

    const [first, second, third, ...more] = prompts()
    expect(more).toEqual([])
    const listed = (prompt: string) => prompt.split('\n').filter(line => /^- \w+ from operator/.test(line))
    expect(first).toContain('70 more messages wait for you. mail_read shows them in full')
    expect(listed(first!)).toHaveLength(50)
    expect(listed(first!)[0]).toBe(`- ${sent[50]!.id} from operator, a person, wants a reply: "message 50"`)
    expect(first).toContain('- and 20 more')
    expect(second).toContain('20 more messages wait for you')
    expect(listed(second!)).toHaveLength(20)
    expect(third).not.toContain('more messages')
  },
)

test('long messages go into as many prompts as they need', BUSY, async () => {
  const bodies = [...Array(7).keys()].map(n => `${n}`.repeat(30_000))
  const { crew, sent, goOn, answered, prompts } = await aFullInbox(bodies)
  await goOn()
  await answered(sent[6]!.id)
  await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
  expect(crew.told().map(({ body }) => body)).toEqual(bodies)
  expect(prompts().map(prompt => prompt.split('\n').filter(line => line.startsWith('Message ')).length)).toEqual([4, 3])
})
