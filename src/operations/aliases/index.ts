import type { Alias } from './alias.ts'
import { TEAM_TOOLS } from './claude-fleet/tools.ts'
import { MISSION_TOOLS } from './missions.ts'
import { WORKER_TOOLS } from './workers.ts'
import { WORKFLOW_TOOLS } from './workflows.ts'

export type { Alias, Ask } from './alias.ts'
export { asOurs } from './devfleet.ts'

/** Everything that other tools' clients may ask for here. */
export const ALIASES: readonly Alias[] = [...MISSION_TOOLS, ...WORKER_TOOLS, ...WORKFLOW_TOOLS, ...TEAM_TOOLS]
