import type { createLowlight } from 'lowlight'
import type { Hunk, Line } from './parse.ts'
import { shown } from './shown.ts'

export interface Token {
  text: string
  /** Its kind in the language, such as a keyword. */
  kind?: string
}

type Lowlight = ReturnType<typeof createLowlight>
type Node = { type: string; value?: string; properties?: { className?: unknown }; children?: Node[] }

/** This many lines are coloured at a time, which takes a few milliseconds. */
const CHUNK_LINES = 80
/** Longer lines are data or generated, and slow to colour. */
const MAX_LINE_CHARS = 1000

/** File names whose extension does not give the language. */
const NAMES: Record<string, string> = {
  makefile: 'makefile',
  dockerfile: 'bash',
  gemfile: 'ruby',
  rakefile: 'ruby',
  '.bashrc': 'bash',
  '.gitconfig': 'ini',
}
/** Extensions that the highlighter does not know. */
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
  // After a failed load, the next chunk tries again.
  loading.catch(() => {
    loading = undefined
  })
  return loading
}

const languageOf = (lowlight: Lowlight, path: string): string | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const ending = name.slice(name.lastIndexOf('.') + 1)
  const language = NAMES[name] ?? ENDINGS[ending] ?? ending
  return lowlight.registered(language) ? language : undefined
}

/** Some lines of a hunk that are coloured together, once they are visible. */
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
    // If it was scrolled away before its turn, it is queued again when it is visible.
    this.#asked = this.#watchers.size > 0
    const language = languageOf(lowlight, this.#path)
    if (!this.#asked || !language || this.#lines.some(line => line.text.length > MAX_LINE_CHARS)) return
    const colours = new Map<Line, Token[]>()
    // The old side comes first, so that lines on both sides get the colours of the new side.
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
    // The text is readable without colours.
    working = false
  })
}

/** Works on one chunk at a time, so that input is handled first. */
async function work(): Promise<void> {
  const lowlight = await load()
  for (let chunk = queue.pop(); chunk; chunk = queue.pop()) {
    await new Promise(resolve => setTimeout(resolve))
    chunk.colour(lowlight)
  }
  working = false
}

/** The tree of tokens as a list for each line. A token may span several lines. */
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
