import { statfsSync } from 'node:fs'
import * as z from 'zod'
import { enginesOf, toolPresets } from '../agents/index.ts'
import { Fault } from '../domain/records/fault.ts'
import { Provider, ProviderWindow } from '../domain/records/fleet.ts'
import { Engine } from '../domain/records/project.ts'
import { missionCounts } from '../fleet/counts.ts'
import { quickUse } from '../fleet/disk/use.ts'
import { liveSessions } from '../fleet/dispatch/capacity.ts'
import { providersOf } from '../fleet/dispatch/windows.ts'
import { faultsOf, retryFaults } from '../fleet/faults.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { countOf, waitingForPerson } from '../fleet/missions/waiting.ts'
import { fleetState, lookUp } from '../fleet/records.ts'
import { clean } from '../fleet/worktrees/cleaning.ts'
import { countWorktrees } from '../fleet/worktrees/worktrees.ts'
import { VERSION } from '../platform/version.ts'
import { sandboxState } from '../runner/sandbox.ts'
import { isHeld, readDaemon } from '../store/index.ts'
import { actorOf, ask, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { ServersView, serversView } from './servers.ts'
import { settingsProblem } from './settings.ts'
import { Cleaned, SessionView, sessionView } from './views.ts'

const AgentView = z.object({
  name: z.string(),
  title: z.string(),
  provider: z.string(),
  engine: Engine,
  installed: z.boolean(),
  path: z.string().optional(),
  version: z.string().optional(),
  signed_in: z.boolean().optional().describe('absent: the client does not say'),
  advice: z.string().optional().describe('what is missing, and how to get it'),
  command: z.string().optional().describe('the command to run in a terminal for that'),
  plugin: z.string().optional().describe('the plugin that provides its code, which is trusted'),
  models: z.array(z.object({ name: z.string(), alias: z.string().optional() })).describe('those known by name'),
  models_asked_at: z.string().optional().describe('when its client was last asked for them'),
  can: z.record(z.string(), z.unknown()),
  windows: z.array(ProviderWindow).describe("how much of its provider's quota is used, as far as clients report it"),
})

const ModelList = z.object({
  models: z.array(z.object({ agent: z.string(), name: z.string(), alias: z.string().optional() })),
  asked_at: z.record(z.string(), z.string()).describe('when the client was asked; absent: built in or declared'),
})

function modelList({ agents }: Fleet): z.infer<typeof ModelList> {
  return {
    models: agents.all.flatMap(agent => agents.models.of(agent).map(model => ({ agent: agent.name, ...model }))),
    asked_at: Object.fromEntries(
      agents.all.flatMap(agent => {
        const at = agents.models.askedAt(agent)
        return at ? [[agent.name, at]] : []
      }),
    ),
  }
}
export const ProviderView = Provider.pick({ id: true, held_until: true, windows: true })

export const system = [
  query({
    name: 'system_status',
    may: 'system.read',
    mcp: 'system',
    summary: 'Show the state of the fleet: what runs, what waits, capacity and disk',
    http: 'GET /api/system/status',
    input: z.object({}),
    output: z.object({
      version: z.string(),
      server: z
        .object({ pid: z.number(), url: z.string().nullable(), started: z.string(), version: z.string() })
        .nullable()
        .describe('empty: no server is running'),
      home: z.string(),
      paused: z.boolean(),
      missions: z.record(z.string(), z.number()).describe('the count for each status'),
      needs_you: z.number().int().describe('how many items wait for a person: the same count as the inbox'),
      live_sessions: z.array(SessionView),
      max_concurrent: z.number(),
      engine: z.string().describe('what keeps the records: sqlite or postgresql'),
      servers: ServersView,
      settings_problem: z
        .string()
        .nullable()
        .describe('why the current fleet.toml is ignored; the settings before it apply'),
      unreadable_records: z
        .array(z.string())
        .describe('records that were found and cannot be read: every list leaves them out'),
      faults: z.array(Fault).describe('what the fleet cannot continue with, why, and when it tries again'),
      fault_counts: z
        .record(z.string(), z.number())
        .describe('how often each part of the fleet has failed since the home was created'),
      providers: z.array(ProviderView).describe('the known limits of providers'),
      disk: z
        .object({
          free_bytes: z.number(),
          worktrees: z.number().int(),
          worktree_bytes: z.number().describe('with their repositories'),
          warm: z.number().int(),
          warm_bytes: z.number(),
          transcript_bytes: z.number(),
          total_bytes: z.number().describe('all of the home'),
          measured_at: z
            .string()
            .nullable()
            .describe('null: it takes too long to measure now, or you may not see all projects'),
        })
        .describe('disk_use has more'),
    }),
    run: async context => {
      const { fleet } = context
      const [state, { counts }, live, used, providers, waiting, faults, servers] = await Promise.all([
        fleetState(fleet),
        missionCounts(fleet),
        liveSessions(fleet),
        // It is measured for the whole home, so it would tell how much others do.
        fleet.view ? undefined : quickUse(fleet),
        providersOf(fleet),
        waitingForPerson(fleet, actorOf(context)),
        faultsOf(fleet),
        serversView(fleet),
      ])
      const daemon = isHeld(fleet.home.path) ? readDaemon(fleet.home.path) : undefined
      const { bavail, bsize } = statfsSync(fleet.home.path)
      return {
        version: VERSION,
        server: daemon ? { pid: daemon.pid, url: daemon.url, started: daemon.started, version: daemon.version } : null,
        home: fleet.home.path,
        paused: state.value.paused,
        missions: counts,
        needs_you: countOf(waiting),
        live_sessions: live.map(each => sessionView(fleet, each)),
        max_concurrent: fleet.settings.maxConcurrent,
        engine: fleet.store.engine,
        servers,
        settings_problem: settingsProblem(fleet, context.caller),
        unreadable_records: [...fleet.store.unreadable],
        faults,
        // Of all projects together, like what is measured.
        fault_counts: fleet.view ? {} : state.value.fault_counts,
        providers: providers.map(({ id, held_until, windows }) => ({ id, held_until, windows })),
        disk: {
          free_bytes: bavail * bsize,
          worktrees: used?.worktrees.count ?? countWorktrees(fleet),
          worktree_bytes: (used?.worktrees.bytes ?? 0) + (used?.repositories.bytes ?? 0),
          warm: used?.warm.count ?? 0,
          warm_bytes: used?.warm.bytes ?? 0,
          transcript_bytes: used?.transcripts.bytes ?? 0,
          total_bytes: used?.total_bytes ?? 0,
          measured_at: used?.measured_at ?? null,
        },
      }
    },
  }),
  query({
    name: 'get_engine',
    may: 'system.read',
    mcp: 'system',
    summary: 'Show the storage engine and default agent of this fleet, and how it drives Claude Code',
    http: 'GET /api/config/engine',
    input: z.object({}),
    output: z.object({
      engine: z.string(),
      default_agent: z.string().nullable().describe('for projects that name none; empty: each project has its own'),
      default_model: z.string().nullable(),
      claude_engine: Engine,
    }),
    run: async ({ fleet }) => ({
      engine: fleet.store.engine,
      default_agent: fleet.settings.defaultAgent,
      default_model: fleet.settings.defaultModel,
      claude_engine: fleet.settings.claudeEngine,
    }),
  }),
  query({
    name: 'list_models',
    may: 'system.read',
    mcp: 'system',
    summary: 'List the models each agent knows by name; other names are passed on unchanged, with a warning',
    http: 'GET /api/config/models',
    input: z.object({}),
    output: ModelList,
    run: async ({ fleet }) => modelList(fleet),
  }),
  command({
    name: 'refresh_models',
    may: 'system.operate',
    mcp: 'system',
    summary: 'Ask the clients that support it for their models, and store the list',
    http: 'POST /api/config/models/refresh',
    input: z.object({}),
    output: ModelList,
    run: async ({ fleet }) => {
      await fleet.agents.models.refresh(fleet.agents.all, fleet.environment, fleet.now())
      return modelList(fleet)
    },
  }),
  query({
    name: 'list_tool_presets',
    may: 'system.read',
    mcp: 'system',
    summary: 'Show what each tool preset allows',
    http: 'GET /api/config/tool-presets',
    input: z.object({}),
    output: z.object({ presets: z.array(z.record(z.string(), z.unknown())) }),
    run: async ({ fleet }) => ({ presets: toolPresets(fleet.agents.all).map(preset => ({ ...preset })) }),
  }),
  query({
    name: 'list_agents',
    may: 'system.read',
    mcp: 'system',
    summary: 'List the coding agents found on this machine and what each can do',
    http: 'GET /api/agents',
    input: z.object({}),
    output: z.object({
      agents: z.array(AgentView),
      problem: z.string().optional().describe('why the agents declared in the home are missing'),
      sandbox: z
        .object({ works: z.boolean(), problem: z.string().optional(), advice: z.string().optional() })
        .describe('what enforces the presets under `can.sandboxed`'),
    }),
    run: async ({ fleet }) => {
      const providers = await providersOf(fleet)
      return {
        agents: await Promise.all(
          enginesOf(fleet.agents.all).map(async ({ agent, engine }) => {
            const { name, title, provider, plugin, can } = agent
            const { signedIn, ...found } = await agent.detect(fleet.environment)
            const models = [...fleet.agents.models.of(agent)]
            const told = { models, models_asked_at: fleet.agents.models.askedAt(agent) }
            const windows = providers.find(({ id }) => id === provider)?.windows ?? []
            return {
              name,
              title,
              provider,
              plugin,
              engine,
              ...found,
              signed_in: signedIn,
              ...told,
              can: { ...can },
              windows,
            }
          }),
        ),
        problem: fleet.agents.fault?.message,
        sandbox: await sandboxState(fleet.environment),
      }
    },
  }),
  query({
    name: 'list_faults',
    may: 'system.read',
    mcp: 'system',
    summary: 'List what the fleet cannot continue with, why, and when it tries again',
    http: 'GET /api/system/faults',
    input: z.object({}),
    output: z.object({ faults: z.array(Fault).describe('the oldest first') }),
    run: async ({ fleet }) => ({ faults: await faultsOf(fleet) }),
  }),
  command({
    name: 'retry_faults',
    may: 'system.operate',
    mcp: 'system',
    summary: 'Retry at once what the fleet cannot continue with',
    http: 'POST /api/system/faults/retry',
    input: z.object({}),
    output: z.object({ faults: z.array(Fault).describe('what is retried') }),
    run: async context => ({ faults: await retryFaults(context.fleet, ask(context, 'retry_faults')) }),
  }),
  command({
    name: 'clean',
    may: 'system.operate',
    mcp: 'system',
    summary:
      'Remove worktrees of sessions that are over; their work stays in the repository as a ref. Says what it frees',
    http: 'POST /api/clean',
    inServer: true,
    input: z.object({
      older_than_hours: z.number().min(0).default(0),
      dry_run: z.boolean().default(false),
      mission_id: Ref.optional().describe('only those of this mission'),
      keep_branches: z.boolean().default(false).describe('leave the branches where they are'),
      warm: z.boolean().default(false).describe('also the worktrees that wait for the next mission'),
    }),
    output: Cleaned,
    run: async (context, input) => {
      const mission = input.mission_id && (await lookUp(context.fleet, 'missions', input.mission_id)).value.id
      return clean(context.fleet, {
        olderThanHours: input.older_than_hours,
        dryRun: input.dry_run,
        keepBranches: input.keep_branches,
        warm: input.warm,
        ...(mission && { missions: new Set([mission]) }),
      })
    },
  }),
]
