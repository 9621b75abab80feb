import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { filesIn } from './exact.ts'
import { ourEnvironment, type Place, projectOf } from './place.ts'
import { settingsOf } from './settings.ts'
import { sparsePatterns } from './sparse.ts'

/**
 * What decides, besides the commit, which files a checkout writes and how: attributes and line ends of the person, and
 * the patterns of a sparse checkout. Git takes a file that was written under other rules for unchanged.
 */
export async function shapeOf(place: Place): Promise<string> {
  const { given } = await settingsOf(projectOf(place))
  const rules = given.filter(({ key }) => /^core\.(autocrlf|eol|attributesfile|symlinks|filemode|sparse.*)$/.test(key))
  const attributes = rules.findLast(({ key }) => key === 'core.attributesfile')?.value
  const home = process.env.HOME ?? homedir()
  const files = [
    join(place.record.commonDir, 'info/attributes'),
    attributes ? resolve(home, attributes.replace(/^~\//, `${home}/`)) : join(home, '.config/git/attributes'),
  ]
  const contents = [...files.map(file => readPlainFile(file)), sparsePatterns(place.record)]
  const all = [rules.map(({ key, value }) => [key, value]), contents.map(each => each?.toString('latin1') ?? null)]
  return createHash('sha256').update(JSON.stringify(all)).digest('hex')
}

/** The files below `ours` and beside a warm worktree that say under which rules its files were written. */
const SHAPE = 'shape'
export const shapeAt = (ours: string): string | undefined => readPlainFile(join(ours, SHAPE))?.toString('utf8')
export const noteShape = (ours: string, shape: string): void => writeFileSync(join(ours, SHAPE), shape)

const ATTRIBUTES = ':(glob)**/.gitattributes'

/** The attributes that our index names. */
export const attributesIn = async (place: Place): Promise<string> => (await filesIn(place, [ATTRIBUTES])).join('\n')

/** Whether two commits have the same attributes. */
export async function sameAttributes(place: Place, one: string, other: string): Promise<boolean> {
  if (one === other) return true
  const args = ['diff-tree', '-r', '--quiet', one, other, '--', ATTRIBUTES]
  return (await git(place.record.commonDir, args, { env: ourEnvironment(place), answers: [1, 128] })).exit === 0
}
