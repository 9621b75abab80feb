import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Unfit } from '../../domain/errors.ts'

const MODES = ['plain', 'git']
const mode = (): string => process.env.FLEET_GIT_WRITES || 'plain'

/** Whether git itself reads and writes what Flotilla otherwise reads and writes as files. */
export const isByGit = (): boolean => mode() === 'git'

/**
 * Whether git must be asked about the refs of a repository: because of the switch, or because they are not in files.
 */
export const asksGit = (commonDir: string): boolean => isByGit() || existsSync(join(commonDir, 'reftable'))

export function requireKnownMode(): void {
  if (!MODES.includes(mode()))
    throw new Unfit(`FLEET_GIT_WRITES is ${JSON.stringify(mode())}, which Flotilla does not know.`, {
      try: `Set it to ${MODES.join(' or ')}, or to nothing.`,
    })
}
