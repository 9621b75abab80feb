import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newestLaunch } from '../../../src/platform/launch-folder.ts'
import { identityOf } from '../../../src/runner/processes.ts'
import { eventually } from '../../kit/fleet.ts'
import { aReceiver } from '../../kit/receivers.ts'
import type { World } from '../world.ts'
import { LISTENING, landed, type Scenario } from './scenario.ts'

export const HALF_SENT = 'half sent'
const LONG_PROMPT = `${'Say "it" with $(quotes) and \\ more. '.repeat(6000)}\n`

export const spoken: Scenario = {
  name: 'a long message to an agent that listens',
  env: LISTENING,
  async play(world) {
    const gate = world.gate('listen')
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'listen', LONG_PROMPT)
    const { sessions } = await world.fleet.until(mission.id, 'running')
    await eventually('a message half sent', () => halfSent(world, sessions[0]!.id))
    await world.moment(HALF_SENT)
    gate.open()
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
}

/** The courier has the message and the agent does not: it waits in a pipe that is too small for it. */
function halfSent({ fleet }: World, session: string): boolean {
  const launch = newestLaunch(fleet.fleet.home.session(session), 'agent')
  const folder = join(launch ?? '', 'messages')
  const names = launch && existsSync(folder) ? readdirSync(folder) : []
  return names.some(name => name.endsWith('.claim')) && !names.some(name => name.endsWith('.delivered'))
}

export const asked: Scenario = {
  name: 'an agent that asks, and a person who answers and says something',
  env: LISTENING,
  async play(world) {
    world.gate('listen').open()
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'ask', 'Ask first.', { approvals: 'ask' })
    await world.fleet.until(mission.id, 'needs_input')
    await world.ask('POST', `/api/missions/${mission.id}/say`, { text: 'Go on, you are doing well.' })
    await world.ask('POST', `/api/questions/${mission.id}/answer`, { decision: 'allow' })
    await world.fleet.until(mission.id, 'done')
    return [landed(mission.id)]
  },
}

export const taken: Scenario = {
  name: 'a person takes a mission over and gives it back',
  env: LISTENING,
  async play(world) {
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'to be taken over', 'Wait for me.')
    await world.fleet.until(mission.id, 'running')
    const path = `/api/missions/${mission.id}`
    const terminal = identityOf(process.pid)
    await world.ask('POST', `${path}/takeover`, { terminal })
    const { sessions } = await eventually('it is the person’s', async () => {
      const now = await world.fleet.show(mission.id)
      return now.sessions[1]?.status === 'running' ? now : undefined
    })
    writeFileSync(join(sessions[1]!.worktree!, 'person.txt'), 'theirs\n')
    await world.ask('POST', `${path}/hand-back`, { terminal, next: 'keep' })
    const { branch } = await world.fleet.until(mission.id, 'review')
    if ((await world.repo.readOn(branch!, 'person.txt')) !== 'theirs') throw new Error("the person's work was lost")
    return [{ id: mission.id, status: 'review', landings: 0, sessions: 1 }]
  },
}

export const filled: Scenario = {
  name: 'a full context window, and a fresh conversation that goes on',
  // It notes its end when it is asked to end, and needs a moment for that.
  env: { ...LISTENING, FLEET_STOP_GRACE: '5' },
  async play(world) {
    world.gate('listen').open()
    const project = await world.project({ agent: 'claude', environment: ['CHAOS_LOG', 'CHAOS_GATE'] })
    const mission = await world.mission(project, 'fill', 'Fill it.')
    await world.fleet.until(mission.id, 'done')
    const files = await world.repo.filesOn('main')
    if (!files.includes('half.txt') || !files.includes('said.txt')) throw new Error(`lost: main has only ${files}`)
    return [landed(mission.id, 2)]
  },
}

export const told: Scenario = {
  name: 'a failure that ntfy is told of',
  async play(world) {
    const ntfy = await aReceiver({}, () => {})
    try {
      const project = await world.project()
      await world.ask('PUT', '/api/notifications/settings', {
        ntfy: { on: true, url: `http://127.0.0.1:${ntfy.port}/topic`, allow_private: true },
      })
      const mission = await world.mission(project, 'fails', world.script('exit 3'))
      await world.fleet.until(mission.id, 'failed')
      await eventually('ntfy to be told', async () => {
        const { ntfy } = await world.fleet.call<{ ntfy: { last: { status: string } | null } }>(
          'get_notification_settings',
          {},
        )
        return ntfy.last?.status === 'sent' || undefined
      })
      // A message that was cut off is sent again, under the same name.
      const names = new Set(ntfy.heard.map(({ headers }) => headers['x-sequence-id']))
      if (names.size !== 1) throw new Error(`doubled: ntfy was told ${names.size} things`)
      return [{ id: mission.id, status: 'failed', landings: 0, sessions: 1 }]
    } finally {
      await ntfy.close()
    }
  },
}
