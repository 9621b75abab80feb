import * as z from 'zod'
import { exportBeads, importBeads } from '../fleet/beads/beads.ts'
import { bridgeTo, pass } from '../fleet/beads/bridge.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, ProjectRef } from './inputs.ts'
import { command } from './operation.ts'

const Jsonl = z.string().max(50_000_000).describe('a beads database as text: one bead as JSON in each line')

export const beads = [
  command({
    name: 'import_beads',
    summary: 'Make missions of the beads that are work and not over; doing it again makes nothing twice',
    http: 'POST /api/projects/:project_id/beads/import',
    input: z.object({
      project_id: ProjectRef,
      jsonl: Jsonl,
      auto_dispatch: z.boolean().default(false).describe('queue what is open at once'),
    }),
    output: z.object({
      made: z.array(z.string()).describe('ids of the missions'),
      known: z.array(z.string()).describe('beads that had one already: only new comments were added'),
      skipped: z.array(z.string()).describe('beads that are closed, or no work'),
      links: z.number().describe('links of kinds that a mission cannot have; they stay in the file'),
    }),
    run: async (context, { project_id, jsonl, auto_dispatch }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return importBeads(context.fleet, ask(context, 'import_beads'), value, jsonl, { dispatch: auto_dispatch })
    },
  }),
  command({
    name: 'bridge_beads',
    summary: 'Look once at a beads database: close what is done here, claim what is ready there as missions (needs bd)',
    http: 'POST /api/beads/bridge',
    input: z.object({
      project_id: ProjectRef.optional().describe('whose database; empty: that of the home, which fleet bd works on'),
      at_once: z.number().int().min(1).max(500).default(5).describe('how many may be claimed at a time'),
    }),
    output: z.object({
      claimed: z.array(z.string()),
      closed: z.array(z.string()),
      open: z.array(z.string()).describe('claimed here, and not done yet'),
      refused: z
        .array(z.object({ bead: z.string(), reason: z.string() }))
        .describe('ready, but no mission can be made of them'),
    }),
    run: async (context, { project_id, at_once }) => {
      const { fleet } = context
      const project = project_id ? (await lookUp(fleet, 'projects', project_id)).value : null
      const { operation, actor } = ask(context, 'bridge_beads')
      return pass(await bridgeTo(fleet, { operation, actor }, project), at_once)
    },
  }),
  command({
    name: 'export_beads',
    summary: 'The missions of a project as a beads database; what is in the given one stays',
    http: 'POST /api/projects/:project_id/beads/export',
    input: z.object({ project_id: ProjectRef, jsonl: Jsonl.default('').describe('the database to bring up to date') }),
    output: z.object({ jsonl: z.string(), beads: z.number() }),
    run: async ({ fleet }, { project_id, jsonl }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      const { text, beads } = await exportBeads(fleet, value, jsonl)
      return { jsonl: text, beads }
    },
  }),
]
