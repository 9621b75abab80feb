import type { Project } from '../../domain/records/project.ts'
import { agentEnvironment } from '../../runner/environment.ts'
import type { Fleet } from '../fleet.ts'

/** The mark that every process of a session carries. */
export const markOf = (fleet: Fleet, sessionId: string): string => `${fleet.home.id}/${sessionId}`

/** The environment of setup commands and checks: what agents may have, but nothing that speaks for an agent. */
export const commandEnvironment = (fleet: Fleet, project: Project): Record<string, string> =>
  agentEnvironment(fleet.environment, project.environment)
