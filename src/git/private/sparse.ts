import { join } from 'node:path'
import { readPlainFile } from '../plain-files.ts'
import type { PlaceRecord } from './place.ts'

/** Where a git directory has its patterns. */
export const SPARSE_FILE = 'info/sparse-checkout'

type Of = Pick<PlaceRecord, 'gitDir' | 'sparse'>

/** The patterns of a place: of the folders it was given, or else those of the project's own checkout. */
export const sparsePatterns = ({ gitDir, sparse }: Of): Buffer | undefined =>
  sparse.length ? Buffer.from(conePatterns(sparse)) : readPlainFile(join(gitDir, SPARSE_FILE))

export const sparseSettings = ({ sparse }: Of): (readonly [key: string, value: string])[] =>
  sparse.length
    ? [
        ['core.sparsecheckout', 'true'],
        ['core.sparsecheckoutcone', 'true'],
      ]
    : []

/** Folders as git writes them for a sparse checkout: each with all below it, and the files of the folders above. */
export function conePatterns(folders: readonly string[]): string {
  const wanted = [...new Set(folders.map(folder => folder.replace(/^\/+|\/+$/g, '')))]
  const tops = wanted.filter(folder => !wanted.some(other => folder.startsWith(`${other}/`)))
  const above = [...new Set(tops.flatMap(parentsOf))].sort()
  return [
    '/*',
    '!/*/',
    ...above.flatMap(folder => [`/${escaped(folder)}/`, `!/${escaped(folder)}/*/`]),
    ...tops.sort().map(folder => `/${escaped(folder)}/`),
    '',
  ].join('\n')
}

const parentsOf = (folder: string): string[] => {
  const steps = folder.split('/')
  return steps.slice(0, -1).map((_, i) => steps.slice(0, i + 1).join('/'))
}

/** Git reads these characters as patterns. */
const escaped = (folder: string): string => folder.replace(/[*?[\\]/g, '\\$&')
