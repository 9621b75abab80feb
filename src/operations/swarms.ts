import * as z from 'zod'
import { NotAllowed } from '../domain/errors.ts'
import { Swarm } from '../domain/records/swarm.ts'
import type { Team } from '../domain/records/team.ts'
import { MAX_MAIL_CHARS, PRIORITIES } from '../domain/records/team.ts'
import { sendMail } from '../fleet/teams/mail.ts'
import { createSwarm, killSwarm, lookUpSwarm, swarmsOf } from '../fleet/teamwork/swarms.ts'
import { actorOf, ask, Ref } from './inputs.ts'
import { SentView, sentView } from './mail-view.ts'
import { command, query } from './operation.ts'
import { memberIn, requireBroadcaster, requireLead, teamOf } from './team-callers.ts'
import { SwarmRef } from './teams.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')

const SwarmView = Swarm.omit({ killed_by: true }).extend({ members: z.array(z.string()).describe('their names') })

const viewOf = ({ killed_by: _, ...swarm }: Swarm, { roster }: Team): z.infer<typeof SwarmView> => ({
  ...swarm,
  members: roster.filter(({ swarm_id }) => swarm_id === swarm.id).map(({ handle }) => handle),
})

export const swarms = [
  command({
    name: 'swarm_create',
    may: 'teams.manage',
    touches: 'view',
    mcp: 'teams',
    summary: 'Create a swarm: a group within a team, with a maximum and a blackboard of its own',
    http: 'POST /api/swarms',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      ...{ name: Swarm.shape.name, description: Swarm.shape.description, max_agents: Swarm.shape.max_agents },
    }),
    output: SwarmView,
    run: async (context, { team_id, ...wanted }) => {
      const team = await teamOf(context, team_id)
      await requireLead(context)
      const { value } = await createSwarm(context.fleet, ask(context, 'swarm_create'), team.id, wanted)
      return viewOf(value, team)
    },
  }),
  query({
    name: 'swarm_list',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List the swarms of a team with their members, oldest first',
    http: 'GET /api/swarms',
    agentMay: () => true,
    input: z.object({ team_id: TeamRef, swarm_id: SwarmRef.optional().describe('only this one') }),
    output: z.object({ swarms: z.array(SwarmView) }),
    run: async (context, { team_id, swarm_id }) => {
      const team = await teamOf(context, team_id)
      const one = swarm_id === undefined ? undefined : (await lookUpSwarm(context.fleet, team, swarm_id)).value
      const shown = one ? [one] : await swarmsOf(context.fleet, team)
      return { swarms: shown.map(each => viewOf(each, team)) }
    },
  }),
  command({
    name: 'swarm_kill',
    may: 'teams.manage',
    touches: 'view',
    mcp: 'teams',
    summary: 'Kill a swarm: its members are dismissed, their work is kept, and so is the record of the swarm',
    http: 'POST /api/swarms/:swarm_id/kill',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ team_id: TeamRef, swarm_id: SwarmRef }),
    output: SwarmView.describe('as it was when it was killed'),
    run: async (context, { team_id, swarm_id }) => {
      const team = await teamOf(context, team_id)
      const { value } = await lookUpSwarm(context.fleet, team, swarm_id)
      await requireLead(context)
      return viewOf((await killSwarm(context.fleet, ask(context, 'swarm_kill'), value.id)).value, team)
    },
  }),
  command({
    name: 'swarm_broadcast',
    may: 'mail.broadcast',
    touches: 'view',
    mcp: 'teams',
    summary: 'Write mail to all members of a swarm',
    http: 'POST /api/swarms/:swarm_id/broadcast',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      swarm_id: SwarmRef,
      message: z.string().min(1).max(MAX_MAIL_CHARS),
      wake: z.boolean().default(true).describe('wake those that are idle'),
      priority: z.enum(PRIORITIES).default('normal'),
    }),
    output: SentView,
    run: async (context, { team_id, swarm_id, message, wake, priority }) => {
      const team = await teamOf(context, team_id)
      const { value: swarm } = await lookUpSwarm(context.fleet, team, swarm_id)
      const sender = await memberIn(context, team)
      requireBroadcaster(sender, ['@all'])
      const to = viewOf(swarm, team).members.filter(handle => handle !== sender.handle)
      if (!to.length) throw new NotAllowed(`Nobody but you is in the swarm ${swarm.name}.`)
      const letter = { subject: '', needs: 'none', deadline: null, reply_to: null } as const
      const wanted = { ...letter, to, body: message, wake, priority, key: context.key, isSwarm: true }
      const sent = await sendMail(context.fleet, team.id, sender, wanted, actorOf(context))
      return sentView(context.fleet, sent)
    },
  }),
]
