import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST } from './manifest.ts'

/** Why something of a home is not in a backup of it, for people. */
export const LEFT_OUT = {
  worktrees: 'worktrees: what agents have not committed is only there; commits are in your repositories',
  repositories: 'the repositories of missions: what agents have committed was taken into yours first',
  projects: 'repositories made in the home (projects/): copy or push them yourself',
  logs: "the server's logs",
  tokens: 'the token and the key of the home: new ones are made; --with-tokens takes them along',
  live: 'processes: sessions at work are restored as lost, previews as ended',
  manifest: `${MANIFEST} in the home: that of a backup has its place`,
  links: 'links, sockets and the like',
} as const
export type LeftOut = keyof typeof LEFT_OUT

const TOKENS = ['token', 'key']
/** Of this very home and the process that holds it; the store is copied in a way of its own. */
const OWN = /^(id|port|port\.new|spawner|holder\.json.*|lease\.db.*|store\.db.*)$/
const ELSEWHERE: readonly string[] = ['worktrees', 'repositories', 'projects', 'logs'] satisfies LeftOut[]

/**
 * Of a launch, what was said and how it ended. What else a client was given lies beside it, settings with secrets and
 * whole folders of its own, and is made anew for the next one.
 */
const LAUNCHES = ['sessions', 'processes', 'checks']
const OF_A_LAUNCH = ['prompt', 'claim', 'pid', 'stdout', 'stderr', 'sent', 'times', 'result.json', 'exit']

/** Whether a backup has something of this name, its manifest and its store aside. */
export function belongs(path: string, isFolder: boolean): boolean {
  const parts = path.split('/')
  const [top, name] = [parts[0]!, parts.at(-1)!]
  if (LAUNCHES.includes(top)) return isFolder || OF_A_LAUNCH.includes(name)
  // Being written: its name appears with the whole of it.
  if (top === 'blobs') return !name.startsWith('.')
  return !OWN.test(top) && !ELSEWHERE.includes(top)
}

export interface Contents {
  /** Relative to the home. */
  files: string[]
  leftOut: LeftOut[]
}

/** What of a home belongs into a backup, the store aside. */
export function contentsOf(home: string, withTokens: boolean): Contents {
  const leftOut = new Set<LeftOut>(['live'])
  const files: string[] = []
  const wanted = (entry: Dirent, path: string): boolean => {
    const [top, ...below] = path.split('/')
    if (below.length) return belongs(path, entry.isDirectory())
    if (top === MANIFEST) leftOut.add('manifest')
    if (!withTokens && TOKENS.includes(top!)) leftOut.add('tokens')
    if (ELSEWHERE.includes(top!) && readdirSync(join(home, top!)).length) leftOut.add(top as LeftOut)
    return top !== MANIFEST && belongs(path, entry.isDirectory()) && (withTokens || !TOKENS.includes(top!))
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

/** A mission that is being deleted takes its folders along. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
