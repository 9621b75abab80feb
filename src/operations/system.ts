import { statfsSync } from 'node:fs'
import * as z from 'zod'
import { enginesOf, toolPresets } from '../agents/index.ts'
import { Provider, ProviderWindow } from '../domain/records/fleet.ts'
import { Engine } from '../domain/records/project.ts'
import { missionCounts } from '../fleet/counts.ts'
import { liveSessions } from '../fleet/dispatch/capacity.ts'
import { providersOf } from '../fleet/dispatch/windows.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { countOf, waitingForPerson } from '../fleet/missions/waiting.ts'
import { fleetState, lookUp } from '../fleet/records.ts'
import { clean, worktreesOnDisk } from '../fleet/worktrees/cleaning.ts'
import { VERSION } from '../platform/version.ts'
import { sandboxState } from '../runner/sandbox.ts'
import { isHeld, readHolder } from '../store/index.ts'
import { Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { Cleaned, SessionView, sessionView } from './views.ts'

const AgentView = z.object({
  name: z.string(),
  title: z.string(),
  provider: z.string(),
  engine: Engine,
  installed: z.boolean(),
  path: z.string().optional(),
  version: z.string().optional(),
  signed_in: z.boolean().optional().describe('absent: the client does not tell'),
  advice: z.string().optional(),
  plugin: z.string().optional().describe('the plugin whose code it is, which is trusted with it'),
  models: z.array(z.object({ name: z.string(), alias: z.string().optional() })).describe('those known by name'),
  models_asked_at: z.string().optional().describe('when its client was last asked for them'),
  can: z.record(z.string(), z.unknown()),
  windows: z.array(ProviderWindow).describe('how much of its provider is used up, as far as clients tell'),
})

const ModelList = z.object({
  models: z.array(z.object({ agent: z.string(), name: z.string(), alias: z.string().optional() })),
  asked_at: z
    .record(z.string(), z.string())
    .describe('when which client was asked; absent: what is built in or declared'),
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
    summary: 'How the fleet is: what runs, what waits, room and disk',
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
      missions: z.record(z.string(), z.number()).describe('how many are in each status'),
      needs_you: z.number().int().describe('how much waits for a person: as much as the inbox has'),
      live_sessions: z.array(SessionView),
      max_concurrent: z.number(),
      settings_problem: z
        .string()
        .nullable()
        .describe('why fleet.toml is not heeded as it is now; what it said before holds'),
      unreadable_records: z
        .array(z.string())
        .describe('records that were met and cannot be read: they are missing from every list'),
      providers: z.array(ProviderView).describe('what is known of the limits of providers'),
      disk: z.object({ free_bytes: z.number(), worktrees: z.number(), worktree_bytes: z.number() }),
    }),
    run: async ({ fleet }) => {
      const [state, { counts }, live, kept, providers, waiting] = await Promise.all([
        fleetState(fleet),
        missionCounts(fleet),
        liveSessions(fleet),
        worktreesOnDisk(fleet),
        providersOf(fleet),
        waitingForPerson(fleet),
      ])
      const holder = isHeld(fleet.home.path) ? readHolder(fleet.home.path) : undefined
      const { bavail, bsize } = statfsSync(fleet.home.path)
      return {
        version: VERSION,
        server: holder ? { pid: holder.pid, url: holder.url, started: holder.started, version: holder.version } : null,
        home: fleet.home.path,
        paused: state.value.paused,
        missions: counts,
        needs_you: countOf(waiting),
        live_sessions: live.map(sessionView),
        max_concurrent: fleet.settings.maxConcurrent,
        settings_problem: fleet.configuration.fault?.message ?? null,
        unreadable_records: [...fleet.store.unreadable],
        providers: providers.map(({ id, held_until, windows }) => ({ id, held_until, windows })),
        disk: { free_bytes: bavail * bsize, worktrees: kept.count, worktree_bytes: kept.bytes },
      }
    },
  }),
  query({
    name: 'get_engine',
    summary: 'Which storage engine and default agent this fleet uses, and how Claude Code is driven',
    http: 'GET /api/config/engine',
    input: z.object({}),
    output: z.object({
      engine: z.string(),
      default_agent: z.string().nullable().describe('of projects that name none; empty: each project has its own'),
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
    summary: 'The models each agent knows by name; other names are passed on as they are, with a warning',
    http: 'GET /api/config/models',
    input: z.object({}),
    output: ModelList,
    run: async ({ fleet }) => modelList(fleet),
  }),
  command({
    name: 'refresh_models',
    summary: 'Ask the clients that can tell which models there are, and remember it',
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
    summary: 'What each tool preset allows',
    http: 'GET /api/config/tool-presets',
    input: z.object({}),
    output: z.object({ presets: z.array(z.record(z.string(), z.unknown())) }),
    run: async ({ fleet }) => ({ presets: toolPresets(fleet.agents.all).map(preset => ({ ...preset })) }),
  }),
  query({
    name: 'list_agents',
    summary: 'The coding agents found on this machine and what each can do',
    http: 'GET /api/agents',
    input: z.object({}),
    output: z.object({
      agents: z.array(AgentView),
      problem: z.string().optional().describe('why the agents declared in the home are not among them'),
      sandbox: z
        .object({ works: z.boolean(), problem: z.string().optional(), advice: z.string().optional() })
        .describe('what holds agents to the presets under `can.sandboxed`'),
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
  command({
    name: 'clean',
    summary: 'Remove worktrees of sessions that are over; their work stays in the repository as a ref',
    http: 'POST /api/clean',
    inServer: true,
    input: z.object({
      older_than_hours: z.number().min(0).default(0),
      dry_run: z.boolean().default(false),
      mission_id: Ref.optional().describe('only those of this mission'),
      keep_branches: z.boolean().default(false).describe('leave the branches where they are'),
    }),
    output: Cleaned,
    run: async (context, input) => {
      const mission = input.mission_id && (await lookUp(context.fleet, 'missions', input.mission_id)).value.id
      return clean(context.fleet, {
        olderThanHours: input.older_than_hours,
        dryRun: input.dry_run,
        keepBranches: input.keep_branches,
        ...(mission && { missions: new Set([mission]) }),
      })
    },
  }),
]
