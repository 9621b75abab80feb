import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, LAUNCHER, NODE, ROOT } from '../../kit/fleet.ts'
import type { MailView, TeamView } from '../../kit/team.ts'
import type { Scenario } from './scenario.ts'

const WORKER = join(ROOT, 'test/kit/mail-worker.mjs')

export const swarmKilled: Scenario = {
  name: 'a swarm that is killed',
  async play(world) {
    const { fleet } = world
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const swarm = await world.ask<{ id: string }>('POST', '/api/swarms', { team_id: team.id, name: 'divers' })
    const member = { charter: 'true', agent: 'shell' }
    for (const handle of ['d1', 'd2'])
      await world.ask('POST', `/api/teams/${team.id}/members`, { ...member, handle, swarm_id: swarm.id })
    await world.ask('POST', `/api/teams/${team.id}/members`, { ...member, handle: 'ada' })
    await world.ask('POST', `/api/swarms/${swarm.id}/kill`, { team_id: team.id })
    const state = async () =>
      (await fleet.call<{ swarms: { state: string }[] }>('swarm_list', { team_id: team.id })).swarms[0]!.state
    await eventually('it has ended', async () => (await state()) === 'ended')
    const left = (await fleet.call<TeamView>('get_team', { team_id: team.id })).members.map(({ handle }) => handle)
    if (left.join() !== 'operator,ada') throw new Error(`left are ${left}`)
    return []
  },
}

export const reserved: Scenario = {
  name: 'files that a member reserved for its session',
  async play(world) {
    const { fleet } = world
    const journal = join(fleet.root, 'journal')
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const claim = `until '${NODE}' '${LAUNCHER}' team reserve src/a.ts; do sleep 0.1; done`
    const charter = `${claim}; '${NODE}' '${WORKER}' '${journal}'; echo done`
    await world.ask('POST', `/api/teams/${team.id}/members`, { handle: 'ada', charter, agent: 'shell' })
    await world.ask('POST', '/api/mail', { team_id: team.id, to: 'ada', body: 'Begin.', wake: true })
    type Mails = { messages: (MailView & { deliveries: { to: string }[] })[] }
    const notes = async () =>
      (await fleet.call<Mails>('list_mail', { limit: 500 })).messages.filter(({ body }) => body.includes('src/a.ts'))
    await eventually('ada is told that it ended', async () => (await notes()).length > 0)
    await eventually('idle', async () =>
      (await fleet.call<TeamView>('get_team', { team_id: team.id })).members.every(each => each.state === 'idle'),
    )
    if ((await notes()).length !== 1) throw new Error(`${(await notes()).length} notes instead of 1`)
    const { reservations } = await fleet.call<{ reservations: object[] }>('team_reservations', {})
    if (reservations.length) throw new Error('a reservation outlived its session')
    return []
  },
}

export const spawned: Scenario = {
  name: 'members that are asked for, one more than there is room for',
  async play(world) {
    const { fleet } = world
    const journal = join(fleet.root, 'journal')
    const project = await world.project()
    const crew = { project_id: project.id, name: 'crew', max_members: 1 }
    const team = await world.ask<TeamView>('POST', '/api/teams', crew)
    const task = `'${NODE}' '${WORKER}' '${journal}'; echo done`
    const show = () => fleet.call<TeamView>('get_team', { team_id: team.id })
    const names = async () => (await show()).members.map(({ handle }) => handle).slice(1)
    for (const handle of ['ada', 'bob'])
      await world.ask('POST', '/api/spawns/now', { team_id: team.id, handle, prompt: task, agent: 'shell' })
    const isIdle = async (handle: string) => {
      const member = (await show()).members.find(each => each.handle === handle)
      return member?.state === 'idle' && member.session_id !== null
    }
    await eventually('ada did her task', () => isIdle('ada'))
    await world.ask('POST', '/api/workers/ada/dismiss', { team_id: team.id })
    await eventually('bob came in her place', () => isIdle('bob'))
    if ((await names()).join() !== 'bob') throw new Error(`the team has ${await names()}`)
    const { requests } = await fleet.call<{ requests: { state: string }[] }>('spawn_status', {})
    const open = requests.filter(({ state }) => state !== 'spawned')
    if (open.length) throw new Error(`${open.length} of ${requests.length} requests are open`)
    const acted = readFileSync(journal, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line).id)
    if (new Set(acted).size !== 2) throw new Error(`${new Set(acted).size} tasks instead of 2`)
    return []
  },
}

export const checkpointLoaded: Scenario = {
  name: 'a checkpoint for the next session of a member',
  async play(world) {
    const { fleet } = world
    const journal = join(fleet.root, 'journal')
    const project = await world.project()
    const team = await world.ask<TeamView>('POST', '/api/teams', { project_id: project.id, name: 'crew' })
    const charter = `'${NODE}' '${WORKER}' '${journal}'; echo done`
    await world.ask('POST', `/api/teams/${team.id}/members`, { handle: 'ada', charter, agent: 'shell' })
    const standing = { goal: 'Paint the pier', now: 'Primed.', to_handle: 'ada', team_id: team.id }
    const { id } = await world.ask<{ id: string }>('POST', '/api/checkpoints', standing)
    await world.ask('POST', '/api/checkpoints/load', { checkpoint_id: id })
    const tell = async (body: string) => {
      const mail = { team_id: team.id, to: 'ada', body, needs: 'reply' }
      const sent = await world.ask<MailView>('POST', '/api/mail', mail)
      await eventually('a reply', async () => {
        const { deliveries } = await fleet.call<MailView>('get_mail', { mail_id: sent.id })
        return deliveries[0]!.state === 'replied'
      })
      await eventually('idle', async () =>
        (await fleet.call<TeamView>('get_team', { team_id: team.id })).members.every(each => each.state === 'idle'),
      )
    }
    for (const body of ['one', 'two']) await tell(body)
    const { loads } = await fleet.call<{ loads: boolean }>('get_checkpoint', { checkpoint_id: id })
    if (loads) throw new Error('no session was told about the checkpoint')
    return []
  },
}
