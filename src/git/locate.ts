import { basename, dirname } from 'node:path'
import { gitText } from './run.ts'

/** Where in a repository a folder is. */
export interface Place {
  /** The top of the checkout it is in, or the bare repository itself. */
  top: string
  subdirectory: string
  /** Where the repository itself is, if this is one of its linked worktrees. */
  main?: string
}

/** undefined: it is in none. */
export async function placeOf(folder: string): Promise<Place | undefined> {
  const tell = async (...what: string[]): Promise<string[]> =>
    (await gitText(folder, ['rev-parse', '--path-format=absolute', ...what]).catch(() => '')).split('\n')
  const [top, prefix, common] = await tell('--show-toplevel', '--show-prefix', '--git-common-dir')
  if (!top || prefix === undefined || !common) {
    const [bare, path] = await tell('--is-bare-repository', '--git-common-dir')
    return bare === 'true' && path ? { top: path, subdirectory: '' } : undefined
  }
  const main = basename(common) === '.git' ? dirname(common) : undefined
  return { top, subdirectory: prefix.replace(/\/$/, ''), main: main === top ? undefined : main }
}
