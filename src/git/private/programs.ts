import type { Within } from '../run.ts'
import { LOCAL_LFS, lfsStore } from './lfs.ts'
import { diskSettings } from './own-disk.ts'
import { ourEnvironment, type Place, projectOf } from './place.ts'
import { configEnvironment, type Settings, settingsOf } from './settings.ts'

type Environment = Record<string, string>

/**
 * The environment for git of ours that reads or writes the files of a place. Which programs go over a file is said by
 * `.gitattributes`, which an agent writes; what they are, by the person's configuration, but often they lie in the
 * worktree themselves (`sh tools/clean.sh`). So where the agent works inside walls, they run there too.
 */
export async function fileEnvironment(
  place: Place,
  { within, gitDir, index }: { within?: Within; gitDir?: string; index?: string } = {},
): Promise<Environment> {
  const repo = projectOf(place)
  const settings = await settingsOf(repo)
  const identity = settings.identity.map(({ key, value }) => [key, value] as const)
  const own = [...identity, ...diskSettings(place), ['lfs.storage', lfsStore(repo, settings)] as const]
  return {
    ...ourEnvironment(place, { gitDir, index }),
    ...configEnvironment([...own, ...programSettings(settings, within)]),
  }
}

/** Filters and merge drivers of these settings, each inside walls; Git LFS without the network, whatever the worktree says. */
export function programSettings({ given }: Settings, within: Within | undefined): (readonly [string, string])[] {
  if (!within) return [...LOCAL_LFS]
  const extended = given.some(({ key }) => key.startsWith('lfs.extension.'))
  const walled = given.flatMap(({ key, value }): (readonly [string, string])[] => {
    if (!value || (isLfs(value) && !extended)) return []
    if (/^filter\..*\.(clean|smudge)$/.test(key)) return [[key, walledLine(value, /%(f)/g, within)]]
    if (/^merge\..*\.driver$/.test(key)) return [[key, walledLine(value, /%([OABLPSXY])/g, within)]]
    // Git puts nothing into the line of one that goes on over many files.
    return /^filter\..*\.process$/.test(key) ? [[key, within(['/bin/sh', '-c', value]).map(quoted).join(' ')]] : []
  })
  return [...LOCAL_LFS, ...walled]
}

/** Git LFS runs nothing of the worktree, and has to write where inside walls nothing can be written: the project's store. */
const isLfs = (command: string): boolean => /^git[ -]lfs (clean|smudge|filter-process)[ \w%-]*$/.test(command)

/** What git puts into the line becomes a word of its own, so that the shell inside reads no name of a file as a command. */
function walledLine(command: string, names: RegExp, within: Within): string {
  const words: string[] = []
  const line = command.replace(names, name => `"$${words.push(name)}"`)
  const argv = within(['/bin/sh', '-c', line, 'sh']).map(word =>
    word === line ? quoted(word) : quoted(word).replaceAll('%', '%%'),
  )
  return [...argv, ...words].join(' ')
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
