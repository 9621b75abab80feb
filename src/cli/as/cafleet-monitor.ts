import { monitorChange } from '../commands/monitor.ts'
import { type Cafleet, named, type Options, ownIn, type Team } from './cafleet.ts'

interface Watch {
  members: { id: string; handle: string; on: boolean; quiet_seconds: number; health: Record<string, unknown> }[]
  on: boolean
  since: string | null
  by: string | null
}

const watchOf = ({ id }: Team, { on, since, by, members }: Watch) => ({
  ...{ session_id: id, running: on, since, started_by: by },
  members: members.map(each => ({
    ...{ agent_id: each.id, name: each.handle, watched: each.on, interval: each.quiet_seconds },
    ...{
      status: each.health.state,
      reason: each.health.reason,
      restarts: each.health.restarts,
      next: each.health.next,
    },
  })),
})

async function watching(here: Cafleet, agentId: unknown, ask: (team: Team) => Promise<Watch>): Promise<unknown> {
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  return watchOf(team, await ask(team))
}

/** Of two who start it at once, one does; the other is told since when it runs, and who started it. */
export async function startMonitor(here: Cafleet, _: string[], { agentId }: Options): Promise<unknown> {
  let started = false
  const shown = await watching(here, agentId, async ({ id }) => {
    const answer = await here.cli.ask<Watch & { started: boolean }>('start_monitor', { team_id: id })
    started = answer.started
    return answer
  })
  return { ...(shown as object), started }
}

export const monitorStatus = (here: Cafleet, _: string[], { agentId }: Options): Promise<unknown> =>
  watching(here, agentId, ({ id }) => here.cli.ask<Watch>('monitor_status', { team_id: id }))

export async function configureMonitor(here: Cafleet, _: string[], options: Options): Promise<unknown> {
  const { agentId, memberId } = options
  return watching(here, agentId, team => {
    const member = memberId === undefined ? {} : { member: named(team, memberId as string).id }
    return here.cli.ask<Watch>('configure_monitor', { team_id: team.id, ...monitorChange(options), ...member })
  })
}
