/**
 * The positions of everything in a configuration file: JSON, JSON with comments, or JSON5, which clients read. Printing
 * a parsed file again loses comments and spacing. With the positions, the rest can be left alone.
 *
 * We tried `jsonc-parser` 3.3.1: it does not read JSON5, takes a byte order mark for an error, moves the comment after
 * the last entry to the new one, and reprints entries on the same line.
 */
export interface Node {
  kind: 'object' | 'array' | 'scalar'
  start: number
  end: number
  value: unknown
  /** In order. Members of an object have keys. */
  members: Member[]
}

export interface Member {
  key: string | undefined
  start: number
  node: Node
  /** The position of the comma after it, if there is one. */
  comma: number | undefined
}

export class Unreadable extends Error {}

const WHITE = /[\s\ufeff]+/y
const LINE_COMMENT = /\/\/[^\n\r]*/y
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//y
const STRING = /"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S]))*"|'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S]))*'/y
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const WORD = /[^\s\ufeff,:[\]{}"'/]+/y
const NUMBER = /^[+-]?(?:Infinity|NaN|0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/
const WORDS: Record<string, unknown> = { true: true, false: false, null: null }

/** The value of a file, or undefined if it has only spaces and comments. */
export function spansOf(text: string): Node | undefined {
  const reader = new Reader(text)
  reader.skip()
  if (reader.at === text.length) return undefined
  const root = reader.value()
  reader.skip()
  if (reader.at < text.length) reader.fail('something follows the end')
  return root
}

/** The position after spaces and comments. */
export function skipFrom(text: string, at: number): number {
  const reader = new Reader(text)
  reader.at = at
  reader.skip()
  return reader.at
}

class Reader {
  at = 0
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  skip(): void {
    while (this.take(WHITE) ?? this.take(LINE_COMMENT) ?? this.take(BLOCK_COMMENT));
  }

  value(): Node {
    const start = this.at
    if (this.text[start] === '{' || this.text[start] === '[') return this.#container(start)
    const value = this.#scalar()
    return { kind: 'scalar', start, end: this.at, value, members: [] }
  }

  #container(start: number): Node {
    const isObject = this.text[start] === '{'
    const close = isObject ? '}' : ']'
    const members: Member[] = []
    this.at++
    for (;;) {
      this.skip()
      if (this.text[this.at] === close) break
      if (members.length && members.at(-1)!.comma === undefined) this.fail(`"," or "${close}" is missing`)
      members.push(this.#member(isObject))
    }
    this.at++
    const value = isObject
      ? Object.fromEntries(members.map(({ key, node }) => [key, node.value]))
      : members.map(({ node }) => node.value)
    return { kind: isObject ? 'object' : 'array', start, end: this.at, value, members }
  }

  #member(isObject: boolean): Member {
    const start = this.at
    const key = isObject ? this.#key() : undefined
    const node = this.value()
    this.skip()
    const comma = this.text[this.at] === ',' ? this.at++ : undefined
    return { key, start, node, comma }
  }

  #key(): string {
    const string = this.take(STRING)
    const key = string === undefined ? this.take(NAME) : decoded(string)
    if (key === undefined) this.fail('a key is missing')
    this.skip()
    if (this.text[this.at] !== ':') this.fail('":" is missing')
    this.at++
    this.skip()
    return key
  }

  #scalar(): unknown {
    const string = this.take(STRING)
    if (string !== undefined) return decoded(string)
    const word = this.take(WORD)
    if (word !== undefined && Object.hasOwn(WORDS, word)) return WORDS[word]
    if (word === undefined || !NUMBER.test(word)) this.fail(word ? `${word} is not a value` : 'a value is missing')
    return word.startsWith('-') ? -Number(word.slice(1)) : Number(word.replace(/^\+/, ''))
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  fail(problem: string): never {
    throw new Unreadable(`line ${this.text.slice(0, this.at).split('\n').length}: ${problem}`)
  }
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }

function decoded(string: string): string {
  return string
    .slice(1, -1)
    .replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[\s\S]))/g, (_, long?: string, short?: string, one = '') =>
      (long ?? short)
        ? String.fromCharCode(Number.parseInt((long ?? short)!, 16))
        : /[\n\r\u2028\u2029]/.test(one)
          ? ''
          : (ESCAPES[one] ?? one),
    )
}
