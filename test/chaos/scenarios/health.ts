import { join } from 'node:path'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import type { MailView, TeamView } from '../../kit/team.ts'
import type { Scenario } from './scenario.ts'

const WORKER = join(ROOT, 'test/kit/mail-worker.mjs')

export const healed: Scenario = {
  name: 'a member that is silent until it is started again',
  env: { FLEET_MEMBER_QUIET: '4' },
  async play(world) {
    const { fleet } = world
    const [silent, journal] = ['silent', 'journal'].map(name => join(fleet.root, name))
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const charter = `[ -e '${silent}' ] || { : > '${silent}'; exec sleep 600; }; '${NODE}' '${WORKER}' '${journal}'; echo done`
    await world.ask('POST', `/api/teams/${team.id}/members`, { handle: 'ada', charter, agent: 'shell' })
    const asked = { team_id: team.id, to: 'ada', body: 'High tide?', needs: 'reply' }
    const { id } = await world.ask<MailView>('POST', '/api/mail', asked)
    const state = async () => (await fleet.call<MailView>('get_mail', { mail_id: id })).deliveries[0]!.state
    await eventually('a reply', async () => (await state()) === 'replied')
    await eventually('ada is well and idle', async () =>
      (await fleet.call<TeamView>('get_team', { team_id: team.id })).members.every(
        each => each.state === 'idle' && each.health.state === 'healthy',
      ),
    )
    const events = await fleet.events()
    const acts = events.flatMap(({ kind, data }) => (kind === 'member_health' && data.act ? [String(data.act)] : []))
    // A machine that is too slow for its second session may have gone further, but never twice to the same step.
    const isOnce = new Set(acts).size === acts.length
    if (!isOnce || acts.slice(0, 2).join() !== 'nudge,restart') throw new Error(`what was done: ${acts}`)
    const restarts = events.filter(({ kind }) => kind === 'member_restarted').length
    if (restarts !== 1) throw new Error(`${restarts} restarts instead of 1`)
    const { messages } = await fleet.call<{ messages: MailView[] }>('list_mail', { limit: 500 })
    const nudges = messages.filter(({ subject }) => subject === 'Are you there?').length
    if (nudges !== 1) throw new Error(`${nudges} reminders instead of 1`)
    return []
  },
}
