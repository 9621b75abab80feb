import { byGit } from './by-git.ts'
import type { Writes } from './contract.ts'
import { isByGit } from './mode.ts'
import { plain } from './plain.ts'

/** How git's own files are written. One switch decides, for all of them. */
export const writes = (): Writes => (isByGit() ? byGit : plain)
