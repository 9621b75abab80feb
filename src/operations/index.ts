import { agentTest } from './agent-test.ts'
import { approvals } from './approvals.ts'
import { audit } from './audit.ts'
import { beads } from './beads.ts'
import { blackboard } from './blackboard.ts'
import { checkRuns } from './check-runs.ts'
import { checkpoints } from './checkpoints.ts'
import { comparing } from './comparing.ts'
import { conflicts } from './conflicts.ts'
import { connecting } from './connecting.ts'
import { devices } from './devices.ts'
import { diffs } from './diffs.ts'
import { disk } from './disk.ts'
import { events } from './events.ts'
import { graph } from './graph.ts'
import { images } from './images.ts'
import { selfService } from './inside.ts'
import { insideContext } from './inside-context.ts'
import { integrations } from './integrations.ts'
import { live } from './live.ts'
import { loops } from './loops.ts'
import { mail } from './mail.ts'
import { mcpServers } from './mcp-servers.ts'
import { memberTerminals } from './member-terminals.ts'
import { metrics } from './metrics.ts'
import { missions } from './missions.ts'
import { monitor } from './monitor.ts'
import { notes } from './notes.ts'
import { notifications } from './notifications.ts'
import type { Operation, Query } from './operation.ts'
import { overview } from './overview.ts'
import { people } from './people.ts'
import { plans } from './plans.ts'
import { plugins } from './plugins.ts'
import { processes } from './processes.ts'
import { projects } from './projects.ts'
import { pullRequests } from './pull-requests.ts'
import { queue } from './queue.ts'
import { repositories } from './repositories.ts'
import { reservations } from './reservations.ts'
import { reviews } from './reviews.ts'
import { schedules } from './schedules.ts'
import { search } from './search.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { spawns } from './spawns.ts'
import { specs } from './specs.ts'
import { spending } from './spending.ts'
import { swarms } from './swarms.ts'
import { system } from './system.ts'
import { takeovers } from './takeover.ts'
import { talk } from './talk.ts'
import { teamTasks } from './team-tasks.ts'
import { teams } from './teams.ts'
import { templates } from './templates.ts'
import { terminals } from './terminals.ts'
import { transcripts } from './transcripts.ts'
import { waiting } from './waiting.ts'
import { workflows } from './workflows.ts'
import { worktrees } from './worktrees.ts'

/** What a person can ask for. Typed clients use this type. */
const forPeople = [
  ...projects,
  ...repositories,
  ...checkRuns,
  ...mcpServers,
  ...queue,
  ...missions,
  ...images,
  ...notes,
  ...waiting,
  ...reviews,
  ...pullRequests,
  ...comparing,
  ...conflicts,
  ...graph,
  ...sessions,
  ...search,
  ...transcripts,
  ...diffs,
  ...talk,
  ...teams,
  ...memberTerminals,
  ...monitor,
  ...teamTasks,
  ...swarms,
  ...reservations,
  ...spawns,
  ...specs,
  ...blackboard,
  ...checkpoints,
  ...mail,
  ...approvals,
  ...agentTest,
  ...plans,
  ...loops,
  ...schedules,
  ...workflows,
  ...plugins,
  ...notifications,
  ...takeovers,
  ...terminals,
  ...templates,
  ...beads,
  ...processes,
  ...settings,
  ...system,
  ...worktrees,
  ...disk,
  ...metrics,
  ...events,
  ...live,
  ...devices,
  ...people,
  ...audit,
  ...integrations,
  ...connecting,
  ...spending,
  ...overview,
]
export type ForPeople = (typeof forPeople)[number]

/** All operations. Routes, the API document, the terminal and every other surface are made from this list. */
export const OPERATIONS = [...forPeople, ...insideContext, ...selfService] as unknown as readonly Operation[]

/** What only an agent at work can ask for. */
export const INSIDE = [...insideContext, ...selfService] as unknown as readonly Query[]

export const operationNamed = (name: string): Operation | undefined =>
  OPERATIONS.find(operation => operation.name === name)
export type { Caller, Context, Item, Operation } from './operation.ts'
