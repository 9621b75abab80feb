import { Unfit } from '../domain/errors.ts'

/** One entry of a configuration file: a value under a path of keys, or an element of the list there. */
export interface Item {
  path: readonly string[]
  value: unknown
  element?: boolean
}

export interface Insertion {
  at: number
  text: string
}

/** How a kind of file is read and changed. All other bytes of the file stay the same. */
export interface Format {
  /** The value of the file. */
  read(text: string): unknown
  /** The insertions that add the item. Positions count the insertions before them. */
  insertions(text: string, item: Item): Insertion[]
  /** The text without the item, and without up to `emptied` keys above it that are empty then. */
  without(text: string, item: Item, emptied: number): string
}

export const inserted = (text: string, insertions: readonly Insertion[]): string =>
  insertions.reduce((sofar, { at, text: more }) => sofar.slice(0, at) + more + sofar.slice(at), text)

/** Removes the insertions again; undefined if the text at their place has changed. */
export function takenOut(text: string, insertions: readonly Insertion[]): string | undefined {
  let sofar = text
  for (const { at, text: more } of insertions.toReversed()) {
    if (!sofar.startsWith(more, at)) return undefined
    sofar = sofar.slice(0, at) + sofar.slice(at + more.length)
  }
  return sofar
}

/** The value under a path, or undefined. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isTable(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  )
}

/** How many keys of the path exist already. */
export function depthOf(value: unknown, path: readonly string[]): number {
  let depth = 0
  while (depth < path.length && valueAt(value, path.slice(0, depth + 1)) !== undefined) depth++
  return depth
}

export const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

export const inTheWay = (path: readonly string[], what: string): Unfit =>
  new Unfit(`${path.length ? `"${path.join('.')}"` : 'The file'} ${what}, so nothing can be added to it.`)
