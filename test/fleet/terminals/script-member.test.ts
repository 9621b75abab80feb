import { execFileSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'
import { tmuxIn } from '../../kit/tmux.ts'

/** A script that answers what it is told, line by line. */
const ECHO = `printf '> '
while read -r line; do
  case $line in
  exit) exit 0 ;;
  ask) printf 'Delete it? [y/N] '; read -r answer; echo "answered $answer" ;;
  work) sleep 1; echo worked ;;
  odd) printf 'something odd'; read -r ignored ;;
  *) echo "heard: $line" ;;
  esac
  printf '> '
done`

interface Shown {
  state: string
  text: string | null
  lines: string[]
}

describe.skipIf(!tmuxIn)('a script as a member in tmux', () => {
  async function aCrew(charter = ECHO) {
    const s = await aScene({ env: { FLEET_TERMINAL_PATIENCE: '1' } })
    const crew = await aTeam(s, [])
    await crew.add('ada', { charter, placement: 'tmux' })
    const of = { team_id: crew.team.id, member: 'ada' }
    const shown = () => s.fleet.call<Shown>('capture_member', of)
    const screen = async () => (await shown()).lines.join('\n')
    const state = async () => (await crew.member('ada')).state
    const delivery = async (id: string) => (await crew.mail(id)).deliveries[0]!
    const input = (wanted: object) => s.fleet.call<{ state: string }>('send_member_input', { ...of, ...wanted })
    const { run: tmux, end } = tmuxIn!(s.fleet.fleet.home.path)
    // The window outlives the server.
    onTestFinished(end)
    await eventually('it is idle', async () => (await state()) === 'idle')
    return { ...s, crew, of, shown, screen, state, delivery, input, tmux }
  }

  test('mail is typed into its idle terminal and heard there; it is captured, pinged, nudged and asked to end', async () => {
    const { fleet, crew, of, screen, delivery, shown } = await aCrew()
    const { id } = await crew.send('ada', 'When is high tide?\n\x1b[31m; rm -rf /', { needs: 'reply' })
    await eventually('heard', async () => (await delivery(id)).state === 'heard')
    expect(await delivery(id)).toMatchObject({ heard_by: 'echo', reason: null })
    expect((await screen()).replaceAll('\n', '')).toContain(`heard: You have mail: message ${id} from operator`)
    expect(await screen()).not.toContain('\x1b')
    await eventually('it is idle', async () => (await shown()).state === 'idle')
    expect(await fleet.call('ping_member', of)).toMatchObject({ alive: true, state: 'idle', waiting: 0 })
    await fleet.call('nudge_member', of)
    await eventually('nudged', async () => (await screen()).includes('You have 1 message without an answer.'))
    await expect(fleet.call('exec_in_member', { ...of, command: 'ls' })).rejects.toThrow(/runs no commands/)
    expect(await fleet.call('delete_member', of)).toMatchObject({ dismissed: true })
    expect((await crew.show()).members.map(({ handle }) => handle)).toEqual(['operator'])
  })

  test('a client that is idle but owes an answer is reminded once, unless somebody has done that', async () => {
    const { fleet, crew, of, screen, delivery } = await aCrew()
    const reminders = async () => (await screen()).split('heard: You have 1 message').length - 1
    const acts = async () => (await crew.member('ada')).health.done.map(({ text }) => text)
    const first = await crew.send('ada', 'When is high tide?', { needs: 'reply' })
    await eventually('heard', async () => (await delivery(first.id)).state === 'heard')
    await fleet.call('nudge_member', of)
    await fleet.call('configure_monitor', { ...of, quiet_seconds: 1 })
    await eventually('it is degraded', async () => (await crew.member('ada')).health.state === 'degraded')
    expect(await acts()).toEqual(['Somebody reminded it.'])
    await fleet.call('dismiss_member', of)

    await crew.add('ada', { charter: ECHO, placement: 'tmux' })
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
    await fleet.call('configure_monitor', { ...of, quiet_seconds: 1 })
    await crew.send('ada', 'And low tide?', { needs: 'ack' })
    await eventually('it is reminded', async () => (await reminders()) > 0)
    await eventually('that is said', async () => (await acts()).join() === 'It got a message.')
    expect((await crew.member('ada')).health.state).toBe('degraded')
    // A second message is typed later than a second reminder would be.
    const third = await crew.send('ada', 'Thanks.', { wake: true })
    await eventually('heard', async () => (await delivery(third.id)).state === 'heard')
    expect(await reminders()).toBe(1)
  })

  test('nothing is typed into a question, a half-typed line or a screen nobody understands, and the sender learns why', async () => {
    const { fleet, crew, of, input, shown, delivery, screen, tmux } = await aCrew()
    await input({ text: 'ask' })
    await eventually('a question', async () => (await shown()).state === 'prompt')
    const { id } = await crew.send('ada', 'Hello.', { wake: true })
    await eventually('why', async () => (await delivery(id)).reason?.includes('only a person answers') === true)
    expect((await crew.member('ada')).state).toBe('needs_input')
    expect(await screen()).not.toContain('You have mail')
    await expect(fleet.call('nudge_member', of)).rejects.toThrow(/only a person/)

    // Somebody types at the terminal itself. Paused, so that the message is not typed as soon as the script is idle.
    await fleet.call('change_member', { ...of, paused: true })
    tmux('send-keys', 'n', 'Enter')
    await eventually('it is idle', async () => (await shown()).state === 'idle')
    tmux('send-keys', 'half a li')
    await eventually('typing', async () => (await shown()).state === 'typing')
    await fleet.call('change_member', { ...of, paused: false })
    await eventually('why', async () => (await delivery(id)).reason?.includes('Somebody is typing') === true)
    expect(await screen()).not.toContain('You have mail')

    tmux('send-keys', 'C-u', 'odd', 'Enter')
    await eventually('unknown', async () => (await shown()).state === 'unknown')
    await eventually('why', async () => (await delivery(id)).reason?.includes('not understood') === true)
    await eventually('the inbox says so', async () => {
      const { messages } = await fleet.call<{ messages: { subject: string }[] }>('read_mail', { mark_read: false })
      return messages.some(({ subject }) => subject === 'The terminal of ada')
    })
    expect(await screen()).not.toContain('You have mail')
    tmux('send-keys', 'Enter')
    await eventually('heard', async () => (await delivery(id)).state === 'heard')
  })

  test('what is said waits after a restart of tmux, and goes on in a terminal that is opened again', async () => {
    const { fleet, crew, of, delivery, state, tmux } = await aCrew()
    tmux('kill-server')
    const { id } = await crew.send('ada', 'Are you there?', { wake: true })
    await eventually('it says so', async () => (await delivery(id)).reason?.includes('Open it again') === true)
    expect((await crew.member('ada')).state).toBe('waiting')
    await fleet.call('open_member', of)
    await eventually('heard', async () => (await delivery(id)).state === 'heard')
    await eventually('idle', async () => (await state()) === 'idle')
  })

  test('another program under the same pane id gets no key', async () => {
    const { crew, delivery, tmux } = await aCrew()
    const pane = tmux('list-panes', '-a', '-F', '#{pane_id}')
    tmux('respawn-pane', '-k', '-t', pane, "printf '> '; exec cat")
    const { id } = await crew.send('ada', 'A secret.', { wake: true })
    await eventually('it says so', async () => (await delivery(id)).reason?.includes('Something else runs') === true)
    expect(await delivery(id)).toMatchObject({ state: 'queued' })
  })

  test('a killed server leaves it alone, and the next one finds it by its identity', async () => {
    const { fleet, crew, tmux, screen, delivery } = await aCrew()
    const before = tmux('list-panes', '-a', '-F', '#{pane_id} #{pane_pid}')
    await fleet.kill()
    await fleet.start()
    expect(tmux('list-panes', '-a', '-F', '#{pane_id} #{pane_pid}')).toBe(before)
    const { id } = await crew.send('ada', 'Still there?', { wake: true })
    await eventually('heard', async () => (await delivery(id)).state === 'heard')
    expect(await screen()).toContain('Still there?')
  })

  test('one that does not end when it is asked shows its last lines, and force ends its whole tree', async () => {
    const { fleet, crew, of } = await aCrew(
      "sleep 4711 & printf 'stubborn\\n> '; while read -r line; do printf '> '; done",
    )
    const kept = await fleet.call<{ dismissed: boolean; lines: string[] }>('delete_member', of)
    expect(kept.dismissed).toBe(false)
    expect(kept.lines.join('\n')).toContain('stubborn')
    expect(await fleet.call('delete_member', { ...of, force: true })).toMatchObject({ dismissed: true })
    await eventually(
      'nothing is left',
      () => !execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes('sleep 4711'),
    )
    expect((await crew.show()).members).toHaveLength(1)
  })

  test('what the fleet cannot do in a terminal is refused in words', async () => {
    const s = await aScene()
    const crew = await aTeam(s, [])
    await expect(crew.add('bob', { placement: 'tmux', max_budget_usd: 1 })).rejects.toThrow(/not measured/)
    await expect(crew.add('bob', { placement: 'tmux', agent: 'gemini', charter: 'x' })).rejects.toThrow(
      /does not know its screen/,
    )
  })
})
