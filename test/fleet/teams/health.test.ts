import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Event } from '../../../src/domain/records/event.ts'
import type { Health } from '../../../src/domain/records/health.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'
import type { TaskView } from '../../kit/team-tasks.ts'

const QUICK = { FLEET_MEMBER_QUIET: '3', FLEET_STOP_GRACE: '0' }
const LONG = 90_000

interface Watched {
  handle: string
  on: boolean
  quiet_seconds: number
  health: Health & { next: string | null }
}

async function aCrew(s: Scene) {
  const crew = await aTeam(s, [])
  const status = () => s.fleet.call<{ members: Watched[] }>('monitor_status', { team_id: crew.team.id })
  return {
    ...crew,
    health: async (handle: string) => (await status()).members.find(each => each.handle === handle)!.health,
    acts: async (handle: string) =>
      (await of(s, 'member_health'))
        .filter(({ data }) => data.handle === handle && data.act)
        .map(({ data }) => data.act),
    letters: async (subject: string) =>
      (await s.fleet.call<{ messages: MailView[] }>('list_mail', { limit: 500 })).messages.filter(
        each => each.subject === subject,
      ),
  }
}

const of = async ({ fleet }: Scene, kind: Event['kind']) => (await fleet.events()).filter(each => each.kind === kind)
const sessionsOf = async ({ fleet }: Scene, mission: string) =>
  (await fleet.show(mission)).sessions as { id: string; status: string; worktree: string; branch: string }[]

test(
  'a silent member: a message, a restart at the same task, then its lead, then the people, each once',
  async () => {
    const s = await aScene({ env: { ...QUICK, FLEET_MEMBER_QUIET: '1' } })
    const crew = await aCrew(s)
    const prompts = join(s.fleet.root, 'prompts')
    const awake = join(s.fleet.root, 'awake')
    await crew.add('lea', { role: 'team-lead' })
    const silent = `cat "$FLEET_PROMPT_FILE" >> '${prompts}'; until [ -e '${awake}' ]; do sleep 600; done`
    const { mission_id } = await crew.add('bob', { charter: silent })
    const task = await s.fleet.call<TaskView>('create_team_task', {
      ...{ team_id: crew.team.id, title: 'Look at the pier', description: 'Every plank.', agent: 'bob' },
    })
    await eventually(
      'the people are told',
      async () => (await crew.acts('bob')).includes('people'),
      async () => JSON.stringify(await crew.health('bob')),
      60_000,
    )
    expect(await crew.acts('bob')).toEqual(['nudge', 'restart', 'lead', 'people'])
    const health = await crew.health('bob')
    expect(health).toMatchObject({ state: 'unhealthy', cause: 'quiet', restarts: 1, next: null })
    expect(health.reason).toMatch(/no sign of life for \d+ seconds: no output, no new process or file/)
    expect(health.done.map(({ act }) => act)).toEqual(['nudge', 'restart', 'lead', 'people'])

    // One conversation, one task: the same worktree and branch, and the second session knows why it is there.
    const sessions = await sessionsOf(s, task.id)
    expect(sessions.map(({ status }) => status)).toEqual(['ended', 'running'])
    expect(new Set(sessions.map(({ worktree, branch }) => `${worktree} ${branch}`)).size).toBe(1)
    expect(await sessionsOf(s, mission_id)).toEqual([])
    const told = readFileSync(prompts, 'utf8')
    expect(told.match(/Every plank/g)).toHaveLength(2)
    expect(told).toContain('Your last session at this ended badly: It has shown no sign of life')

    expect(await crew.letters('Are you there?')).toHaveLength(1)
    const reports = await crew.letters('bob is not well')
    expect(reports.map(({ deliveries }) => deliveries.map(({ to }) => to))).toEqual(
      expect.arrayContaining([['lea'], ['operator']]),
    )
    expect(reports).toHaveLength(2)
    expect((await of(s, 'member_restarted')).map(({ data }) => [data.handle, data.restarts])).toEqual([['bob', 1]])

    const shown = await s.fleet.fleetCommand(['team', 'show', 'crew'])
    expect(shown.stdout + shown.stderr).toMatch(
      /bob is unhealthy since [^.]+\.\d+Z\. It has shown no sign of life.* Its lead was told\./,
    )
    const theirs = await s.fleet.fleetCommand(['as', 'cafleet', '--session-id', 'crew', 'monitor', 'status'])
    expect(JSON.parse(theirs.stdout)).toMatchObject({
      running: true,
      members: [{ name: 'lea' }, { name: 'bob', watched: true, interval: 1, status: 'unhealthy', restarts: 1 }],
    })
    const measured = await s.fleet.http('/metrics')
    const lines = (await measured.text()).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining(['fleet_members{health="unhealthy"} 1', 'fleet_members{health="healthy"} 1']),
    )
    expect(lines).toContain('fleet_member_restarts_total 1')
  },
  LONG,
)

test(
  'a member that crashes is started again at the same task, then its lead is told, then the people',
  async () => {
    const s = await aScene({ env: { ...QUICK, FLEET_MEMBER_RESTARTS: '1' } })
    const crew = await aCrew(s)
    const fixed = join(s.fleet.root, 'fixed')
    await crew.add('lea', { role: 'team-lead' })
    const { mission_id } = await crew.add('bob', {
      charter: `[ -e '${fixed}' ] || exit 3; echo high > tide.txt; echo done`,
    })
    const task = await s.fleet.call<TaskView>('create_team_task', {
      ...{ team_id: crew.team.id, title: 'Measure the tide', description: 'At noon.', agent: 'bob' },
    })
    await eventually(
      'the people are told',
      async () => (await crew.acts('bob')).includes('people'),
      async () => JSON.stringify(await crew.health('bob')),
      60_000,
    )
    expect(await crew.acts('bob')).toEqual(['lead', 'people'])
    expect(await crew.health('bob')).toMatchObject({ state: 'unhealthy', cause: 'failed', restarts: 1 })
    const sessions = await sessionsOf(s, task.id)
    expect(sessions.map(({ status }) => status)).toEqual(['ended', 'ended'])
    expect(new Set(sessions.map(({ worktree, branch }) => `${worktree} ${branch}`)).size).toBe(1)
    expect(await sessionsOf(s, mission_id)).toEqual([])
    const [restarted] = await of(s, 'member_restarted')
    expect(restarted!.data).toMatchObject({ handle: 'bob', restarts: 1, session: sessions[1]!.id })
    expect(restarted!.data.reason).toMatch(/3/)

    writeFileSync(fixed, '')
    await s.fleet.call('resume_mission', { mission_id: task.id })
    await s.fleet.until(task.id, 'done')
    await eventually('bob is well again', async () => (await crew.health('bob')).state === 'healthy')
    expect((await crew.health('bob')).restarts).toBe(1)
  },
  LONG,
)

test(
  'a killed server goes on with an episode where it was; a new silence is a new one',
  async () => {
    const s = await aScene({ env: QUICK })
    const crew = await aCrew(s)
    const [first, second, enough] = ['first', 'second', 'enough'].map(name => join(s.fleet.root, name)) as [
      string,
      string,
      string,
    ]
    // Whoever reads from it does nothing at all, not even wake up.
    for (const pipe of [first, second]) execFileSync('mkfifo', [pipe])
    const busy = `until [ -e '${enough}' ]; do sleep 0.1; done`
    await crew.add('bob', { charter: `read x < '${first}'; ${busy}; read x < '${second}'; echo done` })
    await crew.send('bob', 'High tide?', { wake: true })
    const nudges = async () => (await crew.acts('bob')).filter(act => act === 'nudge').length
    await eventually('the first nudge', async () => (await nudges()) === 1, undefined, 30_000)
    expect(await crew.health('bob')).toMatchObject({ state: 'degraded', next: expect.stringContaining('restarted') })

    await s.fleet.kill()
    writeFileSync(first, 'on\n')
    await s.fleet.start()
    await eventually(
      'bob is well',
      async () => (await crew.health('bob')).state === 'healthy',
      async () => JSON.stringify(await crew.health('bob')),
      30_000,
    )
    expect(await crew.acts('bob')).toEqual(['nudge'])
    writeFileSync(enough, '')
    await eventually('the second nudge', async () => (await nudges()) === 2, undefined, 30_000)
    expect(await crew.letters('Are you there?')).toHaveLength(2)
    writeFileSync(second, 'on\n')
    await eventually('bob is idle', async () => (await crew.member('bob')).state === 'idle')
    await eventually('bob is well again', async () => (await crew.health('bob')).state === 'healthy')
    expect(await crew.acts('bob')).toEqual(['nudge', 'nudge'])
  },
  LONG,
)

test(
  'of two who start to watch a team at once one does, and who is not watched is left alone',
  async () => {
    const s = await aScene({ env: QUICK })
    const crew = await aCrew(s)
    await crew.add('bob')
    const off = await s.fleet.fleetCommand(['monitor', 'config', 'crew', '--off', '--interval', '60'])
    expect(off.stdout).toContain('crew  not watched')
    const start = async () => {
      const answer = await s.fleet.http(`/api/teams/${crew.team.id}/monitor/start`, { method: 'POST', body: '{}' })
      return (await answer.json()) as { started: boolean; on: boolean; since: string; by: string }
    }
    const both = await Promise.all([start(), start()])
    expect(both.map(({ started }) => started).sort()).toEqual([false, true])
    expect(new Set(both.map(({ on, since, by }) => `${on} ${since} ${by}`)).size).toBe(1)
    const again = await s.fleet.fleetCommand(['monitor', 'start', 'crew'])
    expect(again.stdout).toContain(`The members of crew are watched already, since ${both[0]!.since} by person.`)

    const own = await s.fleet.fleetCommand(['monitor', 'config', 'crew', '--member', 'bob', '--interval', '7'])
    expect(own.stdout).toMatch(/bob +7 s +healthy/)
    const wrong = await s.fleet.fleetCommand(['monitor', 'config', 'crew', '--interval', 'often'])
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('must be a whole number of seconds, or auto'),
    ])
  },
  LONG,
)
