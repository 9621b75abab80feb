import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { replaceText, textOf } from '../platform/whole-files.ts'
import type { Insertion, Item } from './document.ts'

/** What was added to a file, so that exactly this can be removed again. */
export interface Memory {
  /** The file did not exist before, nor did this folder. */
  created: boolean
  folder?: string
  puts: Put[]
  /** The content of a file that is entirely ours. */
  text?: string
}

export interface Put {
  item: Item
  insertions: Insertion[]
  /** How many of the keys above it were added for it. */
  made: number
}

export type Memories = Record<string, Memory>

const fileIn = (home: string): string => join(home, 'mcp-clients.json')

/** A file that cannot be read counts as empty; entries are then found by their name. */
export function memoriesIn(home: string): Memories {
  try {
    return JSON.parse(textOf(fileIn(home)) ?? '{}') as Memories
  } catch {
    return {}
  }
}

export function remember(home: string, file: string, memory: Memory | undefined): void {
  const before = textOf(fileIn(home))
  const { [file]: _, ...others } = memoriesIn(home)
  const next = memory ? { ...others, [file]: memory } : others
  replaceText(fileIn(home), before, `${JSON.stringify(next, null, 2)}\n`)
}

/** The topmost folder above the file that does not exist yet. */
export function missingFolder(file: string): string | undefined {
  let missing: string | undefined
  for (let folder = dirname(file); !existsSync(folder); folder = dirname(folder)) missing = folder
  return missing
}
