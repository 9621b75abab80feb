import { isDeepStrictEqual } from 'node:util'
import { NotAllowed, Refusal, Unfit } from '../domain/errors.ts'
import { behindLinks, textOf } from '../platform/whole-files.ts'
import { depthOf, type Format, type Item, inserted, isTable, takenOut, valueAt } from './document.ts'
import { type Memories, type Memory, missingFolder, type Put } from './memory.ts'

export interface Change {
  file: string
  before: string | undefined
  /** Undefined: the file is removed. */
  after: string | undefined
  memory: Memory | undefined
}

interface Wish {
  /** What must be in the file. */
  items: readonly Item[]
  /** What must not be in the file, whoever wrote it. */
  drop?: readonly Item[]
  /** What we added earlier for another reason; it stays, unless somebody took it out. */
  keep?: (item: Item) => boolean
}

/** The change of a file after which, of everything we ever added to it, exactly these items are there. */
export function reconciled(path: string, format: Format, memories: Memories, wish: Wish): Change {
  const { drop = [], keep = () => false } = wish
  const file = behindLinks(path)
  const before = textOf(file)
  const memory = memories[file]
  const unchanged: Change = { file, before, after: before, memory }
  const read = (text: string): unknown => understood(file, () => format.read(text))
  const now = read(before ?? '')
  const remembered = memory?.puts ?? []
  const kept = remembered.map(({ item }) => item).filter(item => keep(item) && says(now, item))
  const items = [...kept, ...wish.items]
  const stays = remembered.every(put => items.some(item => isDeepStrictEqual(item, put.item)))
  if (stays && items.every(item => says(now, item)) && drop.every(item => valueAt(now, item.path) === undefined))
    return unchanged

  return understood(file, () => {
    let text = before ?? ''
    for (const { item, insertions, made } of remembered.toReversed())
      if (says(read(text), item)) text = verbatim(text, insertions, item) ?? format.without(text, item, made)
    for (const item of drop) text = format.without(text, item, madeFor(item))

    const puts: Put[] = []
    for (const item of items) {
      const value = read(text)
      if (says(value, item)) continue
      if (!item.element && valueAt(value, item.path) !== undefined) throw notOurs(file, item)
      const above = item.element ? item.path : item.path.slice(0, -1)
      const insertions = format.insertions(text, item)
      text = inserted(text, insertions)
      if (!means(text, withItem(value, item))) throw new Unfit('It is written in a way that cannot be added to safely.')
      puts.push({ item, insertions, made: above.length - depthOf(value, above) })
    }
    const created = memory?.created ?? before === undefined
    const folder = before === undefined ? missingFolder(file) : memory?.folder
    const gone = !puts.length && (before === undefined || (created && /^[\s\ufeff]*(\{\s*\})?\s*$/.test(text)))
    return {
      file,
      before,
      after: gone ? undefined : text,
      memory: puts.length ? { created, ...(folder && { folder }), puts } : undefined,
    }
  })

  function madeFor(item: Item): number {
    return memory?.puts.find(put => isDeepStrictEqual(put.item.path, item.path))?.made ?? 0
  }

  /** The exact text from before, if the rest still has the same meaning. */
  function verbatim(text: string, insertions: Put['insertions'], item: Item): string | undefined {
    const rest = takenOut(text, insertions)
    if (rest === undefined) return undefined
    try {
      return isDeepStrictEqual(withItem(format.read(rest), item), format.read(text)) ? rest : undefined
    } catch {
      return undefined
    }
  }

  function means(text: string, wanted: unknown): boolean {
    try {
      return isDeepStrictEqual(format.read(text), wanted)
    } catch {
      return false
    }
  }
}

function says(value: unknown, item: Item): boolean {
  const found = valueAt(value, item.path)
  return item.element
    ? Array.isArray(found) && found.includes(item.value)
    : found !== undefined && isDeepStrictEqual(found, item.value)
}

function withItem(value: unknown, { path: [key, ...rest], value: wanted, element }: Item): unknown {
  if (key === undefined) return element ? [...((value as unknown[] | undefined) ?? []), wanted] : wanted
  const table = isTable(value) ? value : {}
  return { ...table, [key]: withItem(table[key], { path: rest, value: wanted, element }) }
}

/** A file that cannot be parsed is left alone, and the person learns which one. */
function understood<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof NotAllowed) throw error
    const said = error instanceof Error ? error.message.split('\n')[0]! : String(error)
    const problem = error instanceof Refusal ? said : `It cannot be read as configuration (${said}).`
    throw new Unfit(`${file} is left as it is. ${problem}`, {
      try: error instanceof Refusal && error.hint ? error.hint : 'Fix the file, or add the server by hand.',
      cause: error,
    })
  }
}

const notOurs = (file: string, item: Item): NotAllowed =>
  new NotAllowed(`${file} already has ${item.path.join('.')}, and not as the fleet would write it.`, {
    try: 'Disconnect the client first (in a terminal: --remove), or keep what is there.',
  })

/** A file that is entirely ours. Text that someone else wrote there is not touched. */
export function reconciledFile(path: string, memories: Memories, text: string | undefined): Change {
  const file = behindLinks(path)
  const before = textOf(file)
  const memory = memories[file]
  if (before === text) return { file, before, after: before, memory }
  const ours = before === undefined || before === memory?.text
  if (!ours && text === undefined) return { file, before, after: before, memory: undefined }
  if (!ours) throw new NotAllowed(`${file} is there already and was changed or written by someone else.`)
  const folder = before === undefined ? missingFolder(file) : memory?.folder
  return {
    file,
    before,
    after: text,
    memory: text === undefined ? undefined : { created: true, ...(folder && { folder }), puts: [], text },
  }
}
