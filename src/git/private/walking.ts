import { type Dirent, readdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { pathOf } from '../status.ts'

export interface WalkedFolder {
  /** A byte name below the top; '' is the top itself. */
  folder: string
  entries: Dirent<Buffer>[]
  /** The error code, if it could not be read. */
  failure?: string
}

interface Walk {
  /** Where to begin below the top. */
  from?: string
  goesInto?: (folder: string) => boolean | Promise<boolean>
}

/** How many are read at the same time. */
const AT_ONCE = 32
/** So many are read at once without the thread pool, which costs more than the reading. More would block the server. */
const FEW = 50

/** A folder and those below it, the nearest to the top first. No link is followed. */
export async function* foldersIn(
  top: string,
  { from = '', goesInto = () => true }: Walk = {},
): AsyncGenerator<WalkedFolder> {
  let seen = 0
  for (let level = [from]; level.length; ) {
    const next: string[] = []
    for (let i = 0; i < level.length; i += AT_ONCE) {
      const some: string[] = []
      for (const folder of level.slice(i, i + AT_ONCE)) if (await goesInto(folder)) some.push(folder)
      seen += some.length
      const read = seen <= FEW ? walkNow : walk
      for (const walked of await Promise.all(some.map(folder => read(top, folder)))) {
        yield walked
        for (const entry of walked.entries) if (entry.isDirectory()) next.push(nameIn(walked.folder, entry))
      }
    }
    level = next
  }
}

export const nameIn = (folder: string, entry: Dirent<Buffer>): string =>
  `${folder}${folder && '/'}${entry.name.toString('latin1')}`

const OPTIONS = { withFileTypes: true, encoding: 'buffer' } as const
const unread = (folder: string, failure: unknown): WalkedFolder => ({
  folder,
  entries: [],
  failure: (failure as NodeJS.ErrnoException).code,
})

function walkNow(top: string, folder: string): WalkedFolder {
  try {
    return { folder, entries: readdirSync(pathOf(top, folder), OPTIONS) }
  } catch (failure) {
    return unread(folder, failure)
  }
}

const walk = (top: string, folder: string): Promise<WalkedFolder> =>
  readdir(pathOf(top, folder), OPTIONS).then(
    entries => ({ folder, entries }),
    failure => unread(folder, failure),
  )
