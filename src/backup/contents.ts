import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { KEY_FILES } from '../platform/keys.ts'

/** The file in a backup that describes it. */
export const MANIFEST = 'manifest.json'

/** Why something in a home is not in its backup, for people. */
export const LEFT_OUT = {
  worktrees: 'worktrees: uncommitted work of agents is only there; commits are in your repositories',
  repositories: 'the repositories of missions: the commits of agents were copied into yours first',
  projects: 'repositories made in the home (projects/): copy or push them yourself',
  logs: "the server's logs",
  tokens: 'the token and the key of the home: new ones are made; --with-tokens includes them',
  live: 'processes: running sessions are restored as lost, previews as ended',
  manifest: `${MANIFEST} in the home: the backup has its own`,
  links: 'links, sockets and similar',
} as const
export type LeftOut = keyof typeof LEFT_OUT

/** Files of this home and its daemon. The store is copied separately, and the search index is made again. */
const OWN = /^(id|port|port\.new|spawner|open\.html|holder\.json.*|lease\.db.*|store\.db.*|store\.json.*|search\.db.*)$/
const ELSEWHERE: readonly string[] = ['worktrees', 'repositories', 'projects', 'logs'] satisfies LeftOut[]
/** Nothing in there is anybody's work. */
const NOBODYS = ['warm', 'trash', 'servers']

/**
 * From a launch, a backup has what was said and how it ended. The client's other files (settings with secrets, its own
 * folders) are left out: they are made again for the next launch.
 */
const LAUNCHES = ['sessions', 'processes', 'checks']
const OF_A_LAUNCH = ['prompt', 'claim', 'pid', 'stdout', 'stderr', 'sent', 'times', 'result.json', 'exit']

/** Whether a backup has a file of this name, apart from its manifest and its store. */
export function belongs(path: string, isFolder: boolean): boolean {
  const parts = path.split('/')
  const [top, name] = [parts[0]!, parts.at(-1)!]
  if (LAUNCHES.includes(top)) return isFolder || OF_A_LAUNCH.includes(name)
  // A file whose name starts with a dot is still being written.
  if (top === 'blobs') return !name.startsWith('.')
  return !OWN.test(top) && !ELSEWHERE.includes(top) && !NOBODYS.includes(top)
}

export interface Contents {
  /** Relative to the home. */
  files: string[]
  leftOut: LeftOut[]
}

/** The files of a home that go into a backup, apart from the store. */
export function contentsOf(home: string, withTokens: boolean): Contents {
  const leftOut = new Set<LeftOut>(['live'])
  const files: string[] = []
  const wanted = (entry: Dirent, path: string): boolean => {
    const [top, ...below] = path.split('/')
    if (below.length) return belongs(path, entry.isDirectory())
    if (top === MANIFEST) leftOut.add('manifest')
    if (!withTokens && KEY_FILES.includes(top!)) leftOut.add('tokens')
    if (ELSEWHERE.includes(top!) && readdirSync(join(home, top!)).length) leftOut.add(top as LeftOut)
    return top !== MANIFEST && belongs(path, entry.isDirectory()) && (withTokens || !KEY_FILES.includes(top!))
  }
  const walk = (folder: string): void => {
    for (const entry of entriesOf(join(home, folder))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (!wanted(entry, path)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile()) files.push(path)
      else leftOut.add('links')
    }
  }
  walk('')
  return { files, leftOut: (Object.keys(LEFT_OUT) as LeftOut[]).filter(each => leftOut.has(each)) }
}

/** If a mission is deleted at the same time, its folders disappear. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
