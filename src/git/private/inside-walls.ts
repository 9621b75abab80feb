import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Repository } from '../layout.ts'
import { alternatesBehind } from './making.ts'
import { gitDirsIn } from './modules.ts'
import { partsOf } from './place.ts'
import type { Settings } from './settings.ts'

/** A folder that is only partly visible inside the sandbox. Paths are absolute. */
export interface Partly {
  folder: string
  /** What is visible, read-only. It includes needed files from elsewhere. */
  shown: readonly string[]
  /** Folders that are visible but empty. */
  empty: readonly string[]
  /** Files that are shown in place of others, here or elsewhere. */
  put: readonly { at: string; file: string }[]
}

/**
 * The parts of a project's repository that git needs in a place: its objects, those of submodules and Git LFS, and
 * their alternates. The rest shows other work or holds sign-ins. Filters use this as the shared directory of our git
 * directory, so it must look like one, with the place's configuration. Other files with sign-ins are empty.
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
  // Git fails on a file that it cannot open, and a device cannot be opened there.
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
