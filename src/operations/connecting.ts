import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import * as z from 'zod'
import { NotAllowed } from '../domain/errors.ts'
import type { Project } from '../domain/records/project.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { type ClientFolders, type Reach, SCOPES, type Scope } from '../install/clients.ts'
import { carryOut, clientNamed, planned } from '../install/install.ts'
import { CLIENT_NAMES, type ClientName } from '../install/names.ts'
import { byCommand, commandOf } from '../install/reach.ts'
import type { Change } from '../install/reconcile.ts'
import { homePath } from '../platform/home.ts'
import { ProjectRef } from './inputs.ts'
import { command, query } from './operation.ts'
import { requirePerson } from './person.ts'
import { USUAL_TOOLS } from './tool-sets.ts'

/** Stands for the project the person is in, where none is named. */
export const SOME_PROJECT = '<your repository>'

/** The folders of the person whom the server runs as. */
export const foldersFor = (fleet: Fleet, project: Pick<Project, 'path'> | undefined): ClientFolders => {
  const env = { ...fleet.environment }
  return { user: env.HOME || homedir(), project: project?.path ?? SOME_PROJECT, env }
}

/** How a client starts the fleet. The file of a project is shared, so it names no path of this machine's program. */
export function startedBy(fleet: Fleet, scope: Scope): Reach {
  const program =
    scope === 'project' ? ['fleet'] : commandOf({ ...fleet.environment }, [process.execPath, process.argv[1]!])
  // Clients hide most of the environment from servers they start, so a home other than the usual one is named here.
  return byCommand(program, fleet.home.path === homePath({}) ? undefined : fleet.home.path, [])
}

const Connection = z.object({
  client: z.enum(CLIENT_NAMES),
  scope: z.enum(SCOPES).default('user').describe('user: for all work of the person; project: for one repository'),
  project_id: ProjectRef.optional().describe('whose repository, for the scope project'),
})
const Options = {
  allow: z.boolean().default(false).describe('let the client call the tools of the fleet without asking'),
  skill: z.boolean().default(false).describe('also write the skill that teaches an agent to use the fleet'),
}
const Shown = z.string().max(100).optional().describe('the digest of the preview: refused if the files changed since')

const Preview = z.object({
  files: z
    .array(
      z.object({
        path: z.string(),
        change: z.enum(['created', 'changed', 'removed']),
        diff: z.string().describe('removed and added lines, without those around them, which may hold a secret'),
      }),
    )
    .describe('empty: nothing would change'),
  digest: z.string().describe('of exactly these changes'),
  note: z.string().nullable().describe('what else a person should know'),
})
type Preview = z.infer<typeof Preview>

interface Wanted {
  client: ClientName
  scope: Scope
  project_id?: string | undefined
  allow?: boolean
  skill?: boolean
}

async function changesFor(fleet: Fleet, wanted: Wanted, remove: boolean): Promise<Change[]> {
  const { client, scope, project_id, allow = false, skill = false } = wanted
  if (scope === 'project' && !project_id) throw new NotAllowed('A project must be named for the scope project.')
  const project = project_id ? (await lookUp(fleet, 'projects', project_id)).value : undefined
  return planned(clientNamed(client), foldersFor(fleet, project), fleet.home.path, {
    scope,
    file: undefined,
    reach: startedBy(fleet, scope),
    allow: allow ? USUAL_TOOLS : undefined,
    skill,
    remove,
  })
}

const digestOf = (changes: readonly Change[]): string =>
  createHash('sha256')
    .update(JSON.stringify(changes.map(({ file, before, after }) => [file, before, after])))
    .digest('base64url')

async function previewOf(changes: readonly Change[], note: string | undefined): Promise<Preview> {
  const { patchOf } = await import('../install/diff.ts')
  const files = changes
    .filter(({ before, after }) => before !== after)
    .map(({ file, before, after }): Preview['files'][number] => ({
      path: file,
      change: after === undefined ? 'removed' : before === undefined ? 'created' : 'changed',
      diff: patchOf(before, after),
    }))
  return { files, digest: digestOf(changes), note: note ?? null }
}

const Done = z.object({
  client: z.enum(CLIENT_NAMES),
  files: z.array(z.string()).describe('the files that were written or removed; empty: nothing had to change'),
})

/** A file of another program changes what that program may do, so only a person decides it. */
const WHAT = 'connect or disconnect a client'

async function carriedOut(fleet: Fleet, wanted: Wanted, remove: boolean, shown: string | undefined) {
  const changes = await changesFor(fleet, wanted, remove)
  if (shown !== undefined && shown !== digestOf(changes))
    throw new NotAllowed('The files changed since the preview was made; nothing was written.', {
      try: 'Look at the new preview.',
    })
  carryOut(fleet.home.path, changes)
  const written = changes.filter(({ before, after }) => before !== after).map(({ file }) => file)
  return { client: wanted.client, files: written }
}

export const connecting = [
  query({
    name: 'preview_connection',
    may: 'settings.write',
    // The lines come from files of other programs, which may hold secrets. They are for the person, not for a model.
    mcp: false,
    summary: 'What connecting or disconnecting an MCP client would change in its configuration files; writes nothing',
    http: 'GET /api/integrations/:client/preview',
    inServer: true,
    input: Connection.extend({ ...Options, remove: z.boolean().default(false) }),
    output: Preview,
    run: async ({ fleet, caller }, { remove, ...wanted }) => {
      requirePerson(caller, WHAT)
      const { allowed } = clientNamed(wanted.client)
      return previewOf(await changesFor(fleet, wanted, remove), wanted.allow && !remove ? allowed : undefined)
    },
  }),
  command({
    name: 'connect_client',
    may: 'settings.write',
    mcp: false,
    summary: 'Add the fleet to the configuration of an MCP client; the rest of the file stays as it is',
    http: 'POST /api/integrations/:client/connect',
    inServer: true,
    input: Connection.extend({ ...Options, shown: Shown }),
    output: Done,
    run: async ({ fleet, caller }, { shown, ...wanted }) => {
      requirePerson(caller, WHAT)
      return carriedOut(fleet, wanted, false, shown)
    },
  }),
  command({
    name: 'disconnect_client',
    may: 'settings.write',
    mcp: false,
    summary: 'Remove the fleet from the configuration of an MCP client: exactly what was added, and nothing else',
    http: 'POST /api/integrations/:client/disconnect',
    inServer: true,
    input: Connection.extend({ shown: Shown }),
    output: Done,
    run: async ({ fleet, caller }, { shown, ...wanted }) => {
      requirePerson(caller, WHAT)
      return carriedOut(fleet, wanted, true, shown)
    },
  }),
]
