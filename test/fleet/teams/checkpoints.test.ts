import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, LAUNCHER, NODE } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

interface Shown {
  id: string
  commit: string | null
  state: string
  loads: boolean
}

const FLEET = `'${NODE}' '${LAUNCHER}'`

/** The prompts of a session, one for each launch. */
const promptsOf = (s: Scene, session: string): string[] =>
  readdirSync(s.fleet.fleet.home.session(session), { recursive: true, encoding: 'utf8' })
    .filter(name => /(^|\/)prompt$/.test(name))
    .map(name => readFileSync(join(s.fleet.fleet.home.session(session), name), 'utf8'))

const all = async (s: Scene) => (await s.fleet.call<{ checkpoints: Shown[] }>('checkpoint_list', {})).checkpoints

test('a checkpoint holds what is in the worktree at that moment, and nothing of the agent is run for it', async () => {
  const s = await aScene({ repository: { files: { 'tide.txt': 'low\n' } } })
  const crew = await aTeam(s, ['bob'])
  const trap = join(s.fleet.root, 'pwned')
  await crew.add('ada', {
    charter: [
      `git config core.fsmonitor "touch '${trap}'"`,
      `git config filter.evil.clean "touch '${trap}'"`,
      'echo "*.txt filter=evil" > .git/info/attributes 2>/dev/null || true',
      'echo high > tide.txt; echo half > new.txt',
      `${FLEET} checkpoint create "Measure the tide" "Half of it" --next "The other half" --to bob`,
      'echo later > new.txt',
    ].join('\n'),
  })
  await crew.send('ada', 'Begin.', { wake: true })
  const [made] = await eventually('it is written', async () => ((await all(s)).length ? all(s) : undefined))
  expect(made).toMatchObject({
    state: 'open',
    from: { handle: 'ada' },
    to: { handle: 'bob' },
    next: ['The other half'],
  })
  const at = (file: string) => s.repo.git('show', `${made!.commit}:${file}`)
  expect([await at('tide.txt'), await at('new.txt')]).toEqual(['high', 'half'])
  expect(existsSync(trap)).toBe(false)
  await eventually('ada is idle', async () => (await crew.member('ada')).state === 'idle')
  // Bob is told without being woken.
  const { messages } = await s.fleet.call<{ messages: MailView[] }>('list_mail', {})
  expect(messages[0]).toMatchObject({ from: { handle: 'ada' }, deliveries: [{ to: 'bob', state: 'queued' }] })
})

test('a checkpoint that is loaded is in the prompt of the next session, and of no later one', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const { id } = await s.fleet.call<Shown>('checkpoint_create', {
    ...{ to_handle: 'ada', goal: 'Paint the pier', now: 'Primed.\n## Not a heading of ours', next: ['Paint it'] },
  })
  expect(await s.fleet.call('checkpoint_load', { checkpoint_id: id })).toMatchObject({ loads: true })
  const wake = async (n: number) => {
    const { id: mail } = await crew.send('ada', `${n}`, { needs: 'reply' })
    await eventually(`reply ${n}`, async () => (await crew.mail(mail)).deliveries[0]!.state === 'replied')
    await eventually('idle', async () => (await crew.member('ada')).state === 'idle')
    return promptsOf(s, (await crew.member('ada')).session_id!).join('\n')
  }
  const first = await wake(1)
  expect(first).toContain(`Checkpoint ${id} of operator`)
  expect(first).toContain('> Goal: Paint the pier\n> Now: Primed.\n> ## Not a heading of ours\n> Next:\n> - Paint it')
  expect(await wake(2)).not.toContain('Paint the pier')
  expect(await s.fleet.call('get_checkpoint', { checkpoint_id: id })).toMatchObject({ loads: false })
})

test('a hand-off wakes whoever takes over, and its author learns what came of it', async () => {
  const s = await aScene()
  const crew = await aTeam(s, [])
  const accept = `id=$(sed -n 's/.*"subject":"Checkpoint \\([a-z0-9]*\\):.*/\\1/p' "$FLEET_MAIL_FILE")`
  await crew.add('bob', { charter: `${accept}\n${FLEET} checkpoint accept "$id" "I go on with it."` })
  const made = await s.fleet.call<Shown>('team_handoff', { to: 'bob', context: 'The pier\nis half painted.' })
  expect(made).toMatchObject({ goal: 'The pier', now: 'The pier\nis half painted.', commit: null })
  await eventually('accepted', async () => (await all(s))[0]!.state === 'accepted')
  const { messages } = await s.fleet.call<{ messages: MailView[] }>('read_mail', {})
  expect(messages).toMatchObject([
    {
      from: { handle: 'fleet' },
      body: expect.stringMatching(/^bob accepted checkpoint .* and says "I go on with it\."$/),
    },
  ])
})
