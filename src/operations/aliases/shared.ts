import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import * as z from 'zod'
import { Forbidden, NotFound } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { type Brief, briefOf } from '../briefing.ts'
import type { MissionDetail, MissionView } from '../views.ts'
import type { Ask } from './alias.ts'

export type Detail = z.infer<typeof MissionDetail>
export type Missions = { missions: MissionView[] }

export const Agent = z
  .string()
  .max(40)
  .optional()
  .describe('the coding agent that does it, such as claude, codex or gemini; shell: the prompt is a script')
export const Model = z.string().max(120).optional()

/**
 * The executor of work that names none, as in codefleet: FLEET_DEFAULT_EXECUTOR, which is default_agent here, or codex.
 */
export const executorOf = async (ask: Ask): Promise<string> =>
  (await ask<{ default_agent: string | null }>('get_engine', {})).default_agent ?? 'codex'

interface Place {
  project: Project
  subdirectory: string
}

/**
 * The project of the repository a path is in, made if there is none, and the folder in it that the path names. Whoever
 * may not make projects works in those they see.
 */
export async function placeIn(ask: Ask, repo_path: string): Promise<Place> {
  const wanted = { path: repo_path, if_exists: 'return' }
  const project = await ask<Project>('create_project', wanted).catch((error: unknown) => {
    if (error instanceof Forbidden) return undefined
    throw error
  })
  if (!project) return ownPlace(ask, repo_path)
  const inside = relative(project.path, await realpath(repo_path))
  // The project of a bare repository is the repository itself, and the path is not inside it.
  return { project, subdirectory: inside.startsWith('..') ? '' : inside }
}

/** Found by the text of the path alone: what is on the machine is not for everybody. */
async function ownPlace(ask: Ask, repo_path: string): Promise<Place> {
  const wanted = resolve(repo_path)
  const above = wanted.split(sep).map((_, at, parts) => parts.slice(0, at + 1).join(sep) || sep)
  for (const path of above.toReversed()) {
    const [project] = (await ask<{ projects: Project[] }>('list_projects', { path, limit: 1 })).projects
    if (project) return { project, subdirectory: relative(path, wanted) }
  }
  throw new NotFound('project at', repo_path, { try: 'Name the folder of one of your projects.' })
}

export const statusOf = async (ask: Ask, mission_id: string): Promise<Brief> => {
  const detail = await ask<Detail>('get_mission', { mission_id })
  return briefOf(detail, detail.sessions.at(-1), Date.now())
}
export const briefs = (missions: MissionView[]): Brief[] => missions.map(each => briefOf(each, undefined, Date.now()))
