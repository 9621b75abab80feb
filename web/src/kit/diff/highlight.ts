import type { createLowlight } from 'lowlight'
import type { Hunk, Line } from './parse.ts'
import { shown } from './shown.ts'

export interface Token {
  text: string
  /** What it is in its language, such as a keyword. */
  kind?: string
}

type Lowlight = ReturnType<typeof createLowlight>
type Node = { type: string; value?: string; properties?: { className?: unknown }; children?: Node[] }

/** So many lines are coloured in one go: a few milliseconds. */
const CHUNK_LINES = 80
/** Longer lines are data or made by machines, and slow to read. */
const MAX_LINE_CHARS = 1000

/** Names of files whose language their ending does not tell. */
const NAMES: Record<string, string> = {
  makefile: 'makefile',
  dockerfile: 'bash',
  gemfile: 'ruby',
  rakefile: 'ruby',
  '.bashrc': 'bash',
  '.gitconfig': 'ini',
}
/** Endings that the highlighter does not know by themselves. */
const ENDINGS: Record<string, string> = {
  mts: 'typescript',
  cts: 'typescript',
  svelte: 'xml',
  vue: 'xml',
  astro: 'xml',
  gradle: 'java',
  lock: 'yaml',
  cfg: 'ini',
  conf: 'ini',
  env: 'bash',
}

let loading: Promise<Lowlight> | undefined

function load(): Promise<Lowlight> {
  loading ??= import('lowlight').then(({ common, createLowlight: create }) => create(common))
  return loading
}

const languageOf = (lowlight: Lowlight, path: string): string | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const ending = name.slice(name.lastIndexOf('.') + 1)
  const language = NAMES[name] ?? ENDINGS[ending] ?? ending
  return lowlight.registered(language) ? language : undefined
}

/** A few lines of a hunk that are coloured together, once somebody looks at them. */
export class Chunk {
  readonly #path: string
  readonly #lines: readonly Line[]
  readonly #watchers = new Set<() => void>()
  #asked = false
  colours: ReadonlyMap<Line, Token[]> | undefined

  constructor(path: string, lines: readonly Line[]) {
    this.#path = path
    this.#lines = lines
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    if (!this.#asked) {
      this.#asked = true
      enqueue(this)
    }
    return () => void this.#watchers.delete(watcher)
  }

  colour(lowlight: Lowlight): void {
    // Scrolled past before its turn came: asked for again when somebody looks.
    this.#asked = this.#watchers.size > 0
    const language = languageOf(lowlight, this.#path)
    if (!this.#asked || !language || this.#lines.some(line => line.text.length > MAX_LINE_CHARS)) return
    const colours = new Map<Line, Token[]>()
    // The old side first: what is on both sides is coloured as it is now.
    for (const sign of ['+', '-'] as const) {
      const side = this.#lines.filter(line => line.sign !== sign)
      const lines = linesIn(lowlight.highlight(language, side.map(line => shown(line.text)).join('\n')) as Node)
      side.forEach((line, index) => void colours.set(line, lines[index] ?? []))
    }
    this.colours = colours
    for (const watcher of this.#watchers) watcher()
  }
}

const chunks = new WeakMap<Line, Chunk>()

export function chunkOf(path: string, hunk: Hunk, line: Line): Chunk {
  if (!chunks.has(line))
    for (let at = 0; at < hunk.lines.length; at += CHUNK_LINES) {
      const together = hunk.lines.slice(at, at + CHUNK_LINES)
      const chunk = new Chunk(path, together)
      for (const each of together) chunks.set(each, chunk)
    }
  return chunks.get(line)!
}

const queue: Chunk[] = []
let working = false

function enqueue(chunk: Chunk): void {
  queue.push(chunk)
  if (working) return
  working = true
  work().catch(() => {
    // Without colours it can be read all the same.
    working = false
  })
}

/** One chunk at a time, and whatever the person does comes first. */
async function work(): Promise<void> {
  const lowlight = await load()
  for (let chunk = queue.pop(); chunk; chunk = queue.pop()) {
    await new Promise(resolve => setTimeout(resolve))
    chunk.colour(lowlight)
  }
  working = false
}

/** The tree of tokens as flat lists, one for each line: a token may go over several. */
export function linesIn(tree: Node): Token[][] {
  const lines: Token[][] = [[]]
  const walk = (node: Node, kind: string | undefined): void => {
    if (node.type === 'text') {
      node.value!.split('\n').forEach((text, index) => {
        if (index) lines.push([])
        if (text) lines.at(-1)!.push({ text, ...(kind && { kind }) })
      })
      return
    }
    const names = node.properties?.className
    const own = Array.isArray(names) ? String(names[0]).replace('hljs-', '') : undefined
    for (const child of node.children ?? []) walk(child, own ?? kind)
  }
  walk(tree, undefined)
  return lines
}
