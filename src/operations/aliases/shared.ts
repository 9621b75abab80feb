import { realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import * as z from 'zod'
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

/** The project of the repository a path is in, made if there is none, and the folder in it that the path names. */
export async function placeIn(ask: Ask, repo_path: string): Promise<{ project: Project; subdirectory: string }> {
  const project = await ask<Project>('create_project', { path: repo_path, if_exists: 'return' })
  const inside = relative(project.path, await realpath(repo_path))
  // The project of a bare repository is the repository itself, and the path is not inside it.
  return { project, subdirectory: inside.startsWith('..') ? '' : inside }
}

export const statusOf = async (ask: Ask, mission_id: string): Promise<Brief> => {
  const detail = await ask<Detail>('get_mission', { mission_id })
  return briefOf(detail, detail.sessions.at(-1), Date.now())
}
export const briefs = (missions: MissionView[]): Brief[] => missions.map(each => briefOf(each, undefined, Date.now()))
