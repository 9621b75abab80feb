import { basename, dirname } from 'node:path'
import { gitText } from './run.ts'

/** Where in a repository a folder is. */
export interface FolderLocation {
  /** The top of the checkout it is in, or the bare repository itself. */
  top: string
  subdirectory: string
  /** The main checkout, if this is one of its linked worktrees. */
  main?: string
}

/** Undefined: the folder is in no repository. */
export async function locate(folder: string): Promise<FolderLocation | undefined> {
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
