import * as z from 'zod'
import { NotAllowed } from '../domain/errors.ts'
import { HOME_DATABASE } from '../domain/rules/beads.ts'
import { exportBeads, importBeads } from '../fleet/beads/beads.ts'
import { bridgeTo, pass } from '../fleet/beads/bridge.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, ProjectRef } from './inputs.ts'
import { command } from './operation.ts'
import { changeSettings } from './settings.ts'

const Jsonl = z.string().max(50_000_000).describe('a beads database as text: one bead as JSON per line')

export const beads = [
  command({
    name: 'import_beads',
    may: 'beads.sync',
    mcp: 'projects',
    summary: 'Make missions from open beads that are work; importing again creates no duplicates',
    http: 'POST /api/projects/:project_id/beads/import',
    input: z.object({
      project_id: ProjectRef,
      jsonl: Jsonl,
      auto_dispatch: z.boolean().default(false).describe('queue the open ones at once'),
    }),
    output: z.object({
      made: z.array(z.string()).describe('ids of the new missions'),
      known: z.array(z.string()).describe('beads that already had a mission: only new comments were added'),
      skipped: z.array(z.string()).describe('beads that are closed or not work'),
      links: z.number().describe('links of kinds that a mission cannot have; they stay in the file'),
    }),
    run: async (context, { project_id, jsonl, auto_dispatch }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return importBeads(context.fleet, ask(context, 'import_beads'), value, jsonl, { dispatch: auto_dispatch })
    },
  }),
  command({
    name: 'bridge_beads',
    may: 'beads.sync',
    mcp: 'projects',
    summary: 'Synchronise once with a beads database: close what is done, claim what is ready as missions (needs bd)',
    http: 'POST /api/beads/bridge',
    input: z.object({
      project_id: ProjectRef.optional().describe('whose database; empty: the one of the home, which fleet bd uses'),
      at_once: z.number().int().min(1).max(500).default(5).describe('how many beads may be claimed at a time'),
    }),
    output: z.object({
      claimed: z.array(z.string()),
      closed: z.array(z.string()),
      open: z.array(z.string()).describe('claimed here and not done yet'),
      refused: z
        .array(z.object({ bead: z.string(), reason: z.string() }))
        .describe('ready, but they cannot become missions'),
    }),
    run: async (context, { project_id, at_once }) => {
      const { fleet } = context
      const project = project_id ? (await lookUp(fleet, 'projects', project_id)).value : null
      const { operation, actor } = ask(context, 'bridge_beads')
      return pass(await bridgeTo(fleet, { operation, actor }, project), at_once)
    },
  }),
  command({
    name: 'set_beads_bridge',
    may: 'settings.write',
    mcp: 'system',
    summary: 'Have the server bridge a beads database from now on, also after a restart, or no longer',
    http: 'PUT /api/beads/bridge',
    inServer: true,
    input: z.object({
      project_id: ProjectRef.optional().describe('whose database; empty: that of the home, which fleet bd works on'),
      active: z.boolean(),
    }),
    output: z.object({ bridges: z.array(z.string()).describe('folders of all bridges, as the setting has them') }),
    run: async (context, { project_id, active }) => {
      const { fleet } = context
      const folder = project_id ? (await lookUp(fleet, 'projects', project_id)).value.path : HOME_DATABASE
      let bridges: string[] = []
      const overruled = await changeSettings(context, ({ beadsBridges = [] }) => {
        bridges = [...beadsBridges.filter(each => each !== folder), ...(active ? [folder] : [])]
        return new Map([['beadsBridges', bridges.length ? bridges : undefined]])
      })
      if (overruled.length)
        throw new NotAllowed(`${overruled[0]} was saved, but the environment or a flag of the fleet overrides it.`)
      return { bridges }
    },
  }),
  command({
    name: 'export_beads',
    may: 'beads.sync',
    mcp: 'projects',
    summary: 'Export the missions of a project as a beads database; the content of the given one stays',
    http: 'POST /api/projects/:project_id/beads/export',
    input: z.object({ project_id: ProjectRef, jsonl: Jsonl.default('').describe('the database to update') }),
    output: z.object({ jsonl: z.string(), beads: z.number() }),
    run: async ({ fleet }, { project_id, jsonl }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      const { text, beads } = await exportBeads(fleet, value, jsonl)
      return { jsonl: text, beads }
    },
  }),
]
