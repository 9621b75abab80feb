import type { Input, Output } from '../../api/client.ts'

export type Standing = Output<'get_conflict'>
export type ConflictedFile = Standing['files'][number]
type Resolutions = Input<'resolve_conflict'>['files']
export type Place = NonNullable<Resolutions[number]['places']>[number]

/** What a person has decided so far about one file: a side, or each place by its number. */
export type Decided = { take: 'base' | 'work' } | { places: ReadonlyMap<number, Place> }

/** By path. */
export type Decisions = ReadonlyMap<string, Decided>

export const placesOf = (decided: Decided | undefined): ReadonlyMap<number, Place> =>
  decided && 'places' in decided ? decided.places : new Map()

/** How many decisions a file needs, and how many it has. */
export function progressOf(files: readonly ConflictedFile[], decisions: Decisions): { done: number; all: number } {
  let [done, all] = [0, 0]
  for (const { path, regions } of files) {
    const decided = decisions.get(path)
    const count = Math.max(1, regions.length)
    all += count
    done += decided && 'take' in decided ? count : placesOf(decided).size
  }
  return { done, all }
}

/** The decisions as they are sent; undefined: some are missing. */
export function resolutionsOf(files: readonly ConflictedFile[], decisions: Decisions): Resolutions | undefined {
  const { done, all } = progressOf(files, decisions)
  if (done < all) return undefined
  return files.map(({ path, regions }) => {
    const decided = decisions.get(path)!
    return 'take' in decided
      ? { path, take: decided.take }
      : { path, places: regions.map((_, at) => placesOf(decided).get(at)!) }
  })
}

/** A text to begin an edit with. */
export const draftOf = ({ base, work }: ConflictedFile['regions'][number]): string =>
  [base, work].filter(Boolean).join('\n')
