import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import type { MailView, TeamView } from '../../kit/team.ts'
import type { Scenario } from './scenario.ts'

const WORKER = join(ROOT, 'test/kit/mail-worker.mjs')

export const mailed: Scenario = {
  name: 'mail to a member that answers, and to one that does not',
  env: { FLEET_REPLY_WITHIN: '1' },
  async play(world) {
    const { fleet } = world
    const journal = join(fleet.root, 'journal')
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const add = (handle: string, charter: string) =>
      world.ask('POST', `/api/teams/${team.id}/members`, { handle, charter, agent: 'shell' })
    await add('ada', `echo here; '${NODE}' '${WORKER}' '${journal}'`)
    await add('lea', 'echo heard; sleep 0.3')
    const send = (to: string, body: string) =>
      world.ask<MailView>('POST', '/api/mail', { team_id: team.id, to, body, needs: 'reply' })
    const state = async (id: string) => (await fleet.call<MailView>('get_mail', { mail_id: id })).deliveries[0]!.state
    const first = await send('ada', 'one')
    const second = await send('ada', 'two')
    const ignored = await send('lea', 'three')
    for (const { id } of [first, second]) await eventually('a reply', async () => (await state(id)) === 'replied')
    const mail = async () => (await fleet.call<{ messages: MailView[] }>('list_mail', { limit: 500 })).messages
    // Lea is reminded, and the operator is told: there is no agent that leads.
    const overdue = async () => (await mail()).filter(({ body }) => body.includes(ignored.id))
    await eventually('the operator is told', async () =>
      (await overdue()).some(({ deliveries }) => deliveries.some(({ to }) => to === 'operator')),
    )
    await eventually('everybody is idle', async () =>
      (await fleet.call<TeamView>('get_team', { team_id: team.id })).members.every(each => each.state === 'idle'),
    )
    if ((await state(ignored.id)) !== 'heard') throw new Error(`the third message is ${await state(ignored.id)}`)
    const replies = (await mail()).filter(({ from }) => from.handle === 'ada').map(({ body }) => body)
    if (replies.sort().join() !== 'heard: one,heard: two') throw new Error(`ada wrote ${replies}`)
    if ((await overdue()).length !== 2) throw new Error(`${(await overdue()).length} reminders instead of 2`)
    const acted = readFileSync(journal, 'utf8').split('\n').filter(Boolean)
    const said = acted.map(line => JSON.parse(line)).filter(({ said }) => said === '200')
    if (said.length !== 2) throw new Error(`acted on ${said.length} messages instead of 2: ${acted}`)
    return []
  },
}
