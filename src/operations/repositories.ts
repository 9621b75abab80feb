import * as z from 'zod'
import { beginClone, followClone } from '../fleet/projects/cloning.ts'
import { browse, findRepositories } from '../fleet/projects/folders.ts'
import { ask } from './inputs.ts'
import { command, query, stream } from './operation.ts'

const Path = z.string().min(1).max(4000)
const roots = z
  .array(z.string())
  .describe('the folders that can be browsed: those in allowed_repos, or the home folder of the person')

export const repositories = [
  query({
    name: 'find_repositories',
    may: 'projects.write',
    touches: 'fleet',
    mcp: 'projects',
    summary: 'Find repositories on this machine that are not projects yet, the last used first',
    http: 'GET /api/repositories',
    input: z.object({ limit: z.number().int().min(1).max(50).default(12) }),
    output: z.object({
      roots,
      repositories: z.array(z.object({ name: z.string(), path: z.string(), used_at: z.string() })),
      complete: z.boolean().describe('false: the search stopped early, so there may be more'),
    }),
    run: ({ fleet }, { limit }) => findRepositories(fleet, { limit }),
  }),
  query({
    name: 'browse_folders',
    may: 'projects.write',
    touches: 'fleet',
    mcp: 'projects',
    summary: 'List the folders in a folder, and which of them are repositories',
    http: 'GET /api/folders',
    input: z.object({ path: Path.optional().describe('the absolute path; empty: the first folder that is allowed') }),
    output: z.object({
      roots,
      path: z.string(),
      parent: z.string().nullable().describe('empty: it is one of the roots'),
      is_repository: z.boolean(),
      folders: z.array(z.object({ name: z.string(), path: z.string(), is_repository: z.boolean() })),
      more: z.boolean().describe('whether some were left out'),
    }),
    run: async ({ fleet }, { path }) => browse(fleet, path),
  }),
  command({
    name: 'clone_repository',
    may: 'projects.write',
    mcp: 'projects',
    summary: 'Clone a repository from its address, and make it a project; answers at once',
    http: 'POST /api/repositories/clone',
    inServer: true,
    needsFleet: true,
    input: z.object({
      address: z.string().min(1).max(2000).describe('https, ssh, git, or a path on this machine within the roots'),
      into: Path.optional().describe('the folder to put it in, within the roots; empty: the first of them'),
      name: z.string().min(1).max(200).optional().describe('the name of its folder; empty: as in the address'),
    }),
    output: z.object({ clone_id: z.string(), path: z.string() }),
    run: async (context, wish) => {
      const { id, path } = beginClone(context.fleet, ask(context, 'clone_repository'), wish)
      return { clone_id: id, path }
    },
  }),
  stream({
    name: 'follow_clone',
    may: 'projects.write',
    touches: 'fleet',
    mcp: false,
    summary: 'Follow a clone until it is done or has failed',
    http: 'GET /api/repositories/clones/:clone_id',
    needsFleet: true,
    input: z.object({ clone_id: z.string().min(1).max(120), after: z.string().max(120).optional() }),
    output: z.object({
      state: z.enum(['cloning', 'done', 'failed']),
      text: z.string().describe('its progress, or why it failed'),
      path: z.string(),
      project_id: z.string().nullable(),
      try: z.string().nullable(),
    }),
    run: async function* ({ signal }, { clone_id }) {
      let at = 0
      for await (const state of followClone(clone_id, signal)) yield { cursor: `${++at}`, kind: 'clone', data: state }
    },
  }),
]
