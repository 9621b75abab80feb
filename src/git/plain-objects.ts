import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { OID } from './layout.ts'
import { readPlainFile } from './plain-files.ts'
import { git } from './run.ts'
import { isByGit } from './writes/mode.ts'

/** One entry of a tree. The name is a byte name. */
export interface Entry {
  mode: string
  name: string
  oid: string
}

type Kind = 'commit' | 'tree'

/** A larger one is left to git. */
const MOST_BYTES = 1024 * 1024
const MOST_KEPT_BYTES = 256 * 1024
/** Whoever has to look at more folders is better off with git. */
const MOST_TREES = 300

/**
 * Reads commits and trees of one repository without a process: objects of recent work are plain files, and an object
 * never changes. Git is asked for those in packs, all that are missing at once. Undefined: only git can answer.
 */
export class ObjectReader {
  readonly #commonDir: string
  #trees = 0

  constructor(commonDir: string) {
    this.#commonDir = commonDir
  }

  async trees(oids: readonly string[]): Promise<Entry[][] | undefined> {
    this.#trees += oids.length
    const contents = this.#trees > MOST_TREES ? undefined : await this.#read('tree', oids)
    const trees = contents?.map((content, i) => entriesIn(content, oids[i]!.length))
    return trees?.every(tree => tree !== undefined) ? trees : undefined
  }

  async commit(oid: string): Promise<{ tree: string; parents: string[] } | undefined> {
    const [content] = (await this.#read('commit', [oid])) ?? []
    if (!content) return undefined
    const [head = ''] = content.toString('latin1').split('\n\n', 1)
    const named = (word: string) =>
      head.split('\n').flatMap(line => (line.startsWith(word) ? [line.slice(word.length)] : []))
    const [tree] = named('tree ')
    return tree === undefined ? undefined : { tree, parents: named('parent ') }
  }

  async #read(kind: Kind, oids: readonly string[]): Promise<Buffer[] | undefined> {
    if (isByGit() || !oids.every(oid => OID.test(oid))) return undefined
    const missing = oids.filter(oid => !this.#plain(kind, oid))
    if (missing.length) await this.#ask(kind, missing)
    const found = oids.map(oid => this.#plain(kind, oid))
    return found.every(content => content !== undefined) ? found : undefined
  }

  #plain(kind: Kind, oid: string): Buffer | undefined {
    const key = `${this.#commonDir}\0${kind}\0${oid}`
    const kept = recent.get(key)
    if (kept) return kept
    const bytes = readPlainFile(join(this.#commonDir, 'objects', oid.slice(0, 2), oid.slice(2)), {
      maxBytes: MOST_BYTES,
    })
    const content = bytes && inflated(bytes, kind, oid)
    if (content) keep(key, content)
    return content
  }

  async #ask(kind: Kind, oids: readonly string[]): Promise<void> {
    const asked = await git(this.#commonDir, ['cat-file', '--batch', '--buffer'], {
      input: oids.map(oid => `${oid}\n`).join(''),
      truncateAt: MOST_KEPT_BYTES,
      answers: [128],
    })
    let rest = asked.stdout
    for (;;) {
      const end = rest.indexOf(0x0a)
      const [, oid, type, size] = /^(\w+) (\w+) (\d+)$/.exec(rest.toString('latin1', 0, Math.max(end, 0))) ?? []
      if (!oid) return
      const content = rest.subarray(end + 1, end + 1 + Number(size))
      if (type !== kind || content.length !== Number(size) || !isNamed(oid, kind, content)) return
      keep(`${this.#commonDir}\0${kind}\0${oid}`, Buffer.from(content))
      rest = rest.subarray(end + 2 + Number(size))
    }
  }
}

/** Contents of objects, the most recently used last. */
const recent = new Map<string, Buffer>()
let keptBytes = 0

function keep(key: string, content: Buffer): void {
  if (recent.has(key) || content.length > MOST_BYTES) return
  recent.set(key, content)
  keptBytes += content.length + key.length
  for (const [oldest, { length }] of recent) {
    if (keptBytes <= MOST_KEPT_BYTES) break
    recent.delete(oldest)
    keptBytes -= length + oldest.length
  }
}

/** The content of a plain object file, if it is what its name says. */
function inflated(bytes: Buffer, kind: Kind, oid: string): Buffer | undefined {
  try {
    const object = inflateSync(bytes, { maxOutputLength: MOST_BYTES })
    const content = object.subarray(object.indexOf(0) + 1)
    return isNamed(oid, kind, content) ? content : undefined
  } catch {
    return undefined
  }
}

const isNamed = (oid: string, kind: Kind, content: Buffer): boolean => nameOf(kind, content, oid.length) === oid

/** The name of an object, with as many digits as those of its repository have. */
export function nameOf(kind: Kind, content: Buffer, digits: number): string {
  const hash = createHash(digits === 64 ? 'sha256' : 'sha1')
  return hash.update(`${kind} ${content.length}\0`).update(content).digest('hex')
}

function entriesIn(content: Buffer, oidLength: number): Entry[] | undefined {
  const bytes = oidLength / 2
  const entries: Entry[] = []
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    if (space < 0 || end < 0 || end + bytes >= content.length + 1) return undefined
    entries.push({
      mode: content.toString('latin1', at, space),
      name: content.toString('latin1', space + 1, end),
      oid: content.toString('hex', end + 1, end + 1 + bytes),
    })
    at = end + 1 + bytes
  }
  return entries
}

export const isTree = ({ mode }: Entry): boolean => mode === '40000'

/** The content of a tree with these entries. Git sorts a folder as if its name ended with a slash. */
export function treeContent(entries: readonly Entry[]): Buffer {
  const sorted = entries
    .map(entry => ({ entry, key: isTree(entry) ? `${entry.name}/` : entry.name }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return Buffer.concat(
    sorted.flatMap(({ entry: { mode, name, oid } }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]),
  )
}
