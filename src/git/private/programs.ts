import type { Within } from '../run.ts'
import { LOCAL_LFS, lfsStore } from './lfs.ts'
import { diskSettings } from './own-disk.ts'
import { ourEnvironment, type Place, projectOf } from './place.ts'
import { configEnvironment, type Settings, settingsOf } from './settings.ts'
import { sparseSettings } from './sparse.ts'

type Environment = Record<string, string>

/**
 * The environment for our git when it reads or writes the files of a place. An agent writes `.gitattributes`, which say
 * which programs process a file. The person's configuration says what these programs are, but they are often in the
 * worktree themselves (`sh tools/clean.sh`). So if the agent works in a sandbox, they run there too.
 */
export async function fileEnvironment(
  place: Place,
  { within, gitDir, index }: { within?: Within; gitDir?: string; index?: string } = {},
): Promise<Environment> {
  const repo = projectOf(place)
  const settings = await settingsOf(repo)
  const identity = settings.identity.map(({ key, value }) => [key, value] as const)
  const own = [
    ...identity,
    ...diskSettings(place),
    ...sparseSettings(place.record),
    ['lfs.storage', lfsStore(repo, settings)] as const,
  ]
  return {
    ...ourEnvironment(place, { gitDir, index }),
    ...configEnvironment([...own, ...programSettings(settings, within)]),
  }
}

/**
 * Filters and merge drivers of these settings, each inside the sandbox. Git LFS runs without the network, whatever the
 * worktree says.
 */
export function programSettings({ given }: Settings, within: Within | undefined): (readonly [string, string])[] {
  if (!within) return [...LOCAL_LFS]
  const extended = given.some(({ key }) => key.startsWith('lfs.extension.'))
  const walled = given.flatMap(({ key, value }): (readonly [string, string])[] => {
    if (!value || (isLfs(value) && !extended)) return []
    if (/^filter\..*\.(clean|smudge)$/.test(key)) return [[key, walledLine(value, /%(f)/g, within)]]
    if (/^merge\..*\.driver$/.test(key)) return [[key, walledLine(value, /%([OABLPSXY])/g, within)]]
    // Git puts no file name into the command of a filter that processes many files.
    return /^filter\..*\.process$/.test(key) ? [[key, within(['/bin/sh', '-c', value]).map(quoted).join(' ')]] : []
  })
  return [...LOCAL_LFS, ...walled]
}

/** Whether programs other than Git LFS write files at a checkout. */
export const runsPrograms = ({ given }: Settings): boolean =>
  given.some(({ key, value }) => /^filter\..*\.(smudge|process)$/.test(key) && value !== '' && !isLfs(value))

/**
 * Git LFS runs nothing from the worktree. It must write to the project's store, which is not writable in the sandbox.
 */
const isLfs = (command: string): boolean => /^git[ -]lfs (clean|smudge|filter-process)[ \w%-]*$/.test(command)

/**
 * What git puts into the command becomes a word of its own, so the inner shell never reads a file name as a command.
 */
function walledLine(command: string, names: RegExp, within: Within): string {
  const words: string[] = []
  const line = command.replace(names, name => `"$${words.push(name)}"`)
  const argv = within(['/bin/sh', '-c', line, 'sh']).map(word =>
    word === line ? quoted(word) : quoted(word).replaceAll('%', '%%'),
  )
  return [...argv, ...words].join(' ')
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
