import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Repository } from '../layout.ts'
import { alternatesBehind } from './making.ts'
import { gitDirsIn } from './modules.ts'
import { partsOf } from './place.ts'
import type { Settings } from './settings.ts'

/** A folder of which only some is there inside walls. Paths are absolute. */
export interface Partly {
  folder: string
  /** What is there, read-only. Also what lies elsewhere and is needed with it. */
  shown: readonly string[]
  /** Folders that are there, with nothing in them. */
  empty: readonly string[]
  /** What is there in the place of another file, here or elsewhere. */
  put: readonly { at: string; file: string }[]
}

/**
 * Of a project's repository, what git in a place needs: the objects, those of submodules and Git LFS too, and those
 * behind them. The rest tells of other work and signs in. Filters run with this as the shared directory of our own git
 * directory, so it has to look like one: the configuration is the place's. Other files that sign in are empty.
 */
export function repositoryInWalls(
  { commonDir }: Pick<Repository, 'commonDir'>,
  { signInFiles }: Pick<Settings, 'signInFiles'>,
  worktree: string,
): Partly {
  const gitDirs = [commonDir, ...gitDirsIn(join(commonDir, 'modules'))]
  const objects = gitDirs.map(gitDir => join(gitDir, 'objects'))
  const others = [...gitDirs.map(gitDir => join(gitDir, 'lfs')), join(commonDir, 'info'), join(commonDir, 'shallow')]
  const behind = objects.flatMap(folder => alternatesBehind(folder).folders)
  const { git, folder } = partsOf(worktree)
  const config = join(git, 'config')
  // Git refuses to go on with a file that it cannot open, and a device cannot be opened there.
  const empty = join(folder, 'empty')
  const signIns = existsSync(folder) ? signInFiles.filter(path => existsSync(path)) : []
  if (signIns.length) writeFileSync(empty, '')
  return {
    folder: commonDir,
    shown: [...new Set([...objects, ...others, ...behind])].filter(path => existsSync(path)),
    empty: [join(commonDir, 'refs')],
    put: [
      ...(existsSync(config) ? [{ at: join(commonDir, 'config'), file: config }] : []),
      ...signIns.map(path => ({ at: realpathSync(path), file: empty })),
    ],
  }
}
