import { Unfit } from '../domain/errors.ts'

/** One thing that is to stand in a configuration file: a value under a path of keys, or an element of the list there. */
export interface Item {
  path: readonly string[]
  value: unknown
  element?: boolean
}

export interface Insertion {
  at: number
  text: string
}

/** How a kind of file is read and changed; whatever is not inserted or taken out keeps every byte. */
export interface Format {
  /** What the file says. */
  read(text: string): unknown
  /** What to insert so that it also says the item; later ones count from where the earlier ones have been inserted. */
  insertions(text: string, item: Item): Insertion[]
  /** Without the item, and without as many of the keys above it as are named, if nothing else is left in them. */
  without(text: string, item: Item, emptied: number): string
}

export const inserted = (text: string, insertions: readonly Insertion[]): string =>
  insertions.reduce((sofar, { at, text: more }) => sofar.slice(0, at) + more + sofar.slice(at), text)

/** Takes the insertions out again; undefined if something else stands where they were. */
export function takenOut(text: string, insertions: readonly Insertion[]): string | undefined {
  let sofar = text
  for (const { at, text: more } of insertions.toReversed()) {
    if (!sofar.startsWith(more, at)) return undefined
    sofar = sofar.slice(0, at) + sofar.slice(at + more.length)
  }
  return sofar
}

/** What stands under a path, or undefined. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isTable(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  )
}

/** How many keys of the path are there already. */
export function depthOf(value: unknown, path: readonly string[]): number {
  let depth = 0
  while (depth < path.length && valueAt(value, path.slice(0, depth + 1)) !== undefined) depth++
  return depth
}

export const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

export const inTheWay = (path: readonly string[], what: string): Unfit =>
  new Unfit(`${path.length ? `"${path.join('.')}"` : 'The file'} ${what}, so nothing can be added to it.`)
