import { isInsisted } from '../../config/sources.ts'
import type { Project } from '../../domain/records/project.ts'
import { type DiskShare, GB } from '../../domain/rules/disk.ts'
import type { Fleet } from '../fleet.ts'
import { lastUse } from './use.ts'

type Limit = 'diskLimitGb' | 'keepWorktreesDays'

/** The project's own value, unless the fleet was started with another. */
const valueFor = ({ settings, configuration: { origins } }: Fleet, name: Limit, own: number | null): number | null =>
  isInsisted(origins[name]) ? settings[name] : (own ?? settings[name])

export const diskLimitOf = (fleet: Fleet, project: Project): number | null =>
  valueFor(fleet, 'diskLimitGb', project.disk_limit_gb)

export const daysKeptOf = (fleet: Fleet, project: Project): number | null =>
  valueFor(fleet, 'keepWorktreesDays', project.keep_worktrees_days)

/** What its worktrees use of its limit, as far as that was measured. */
export function diskShareOf(fleet: Fleet, project: Project): DiskShare | null {
  const limit = diskLimitOf(fleet, project)
  const used = limit === null ? undefined : lastUse(fleet)?.projects.find(each => each.project_id === project.id)
  return used && limit !== null
    ? { usedBytes: used.worktrees.bytes + used.repositories.bytes, limitBytes: limit * GB }
    : null
}
