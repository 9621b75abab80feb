import { eventually } from '../../kit/fleet.ts'
import type { TeamView } from '../../kit/team.ts'
import type { Scenario } from './scenario.ts'

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
