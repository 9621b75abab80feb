import { eolOf } from '../platform/whole-files.ts'
import { type Format, type Insertion, type Item, inTheWay } from './document.ts'
import { type Member, type Node, skipFrom, spansOf } from './json-spans.ts'

export const json: Format = {
  read: text => spansOf(text)?.value ?? {},
  insertions,
  without,
}

function insertions(text: string, item: Item): Insertion[] {
  const eol = eolOf(text)
  const root = spansOf(text)
  if (!root) {
    const behind = text && !/[\n\ufeff]$/.test(text) ? eol : ''
    return [{ at: text.length, text: `${behind}${printed(wrapped(item, 0), '', '  ', eol)}${eol}` }]
  }
  const keys = item.element ? item.path : item.path.slice(0, -1)
  const { container, depth } = deepest(root, keys)
  const missing = depth < keys.length
  const wanted = item.element && !missing ? 'array' : 'object'
  if (container.kind !== wanted)
    throw inTheWay(keys.slice(0, depth), `is not ${wanted === 'array' ? 'a list' : 'an object'}`)
  const key = wanted === 'object' ? item.path[depth] : undefined
  const value = item.element && !missing ? item.value : wrapped(item, depth + 1)
  return appended(text, container, (indent, unit) => {
    const name = key === undefined ? '' : `${JSON.stringify(key)}: `
    return name + (indent === undefined ? JSON.stringify(value) : printed(value, indent, unit, eol))
  })
}

/** The value, nested in the keys of the path from `depth` on. */
function wrapped(item: Item, depth: number): unknown {
  const innermost = item.element ? [item.value] : item.value
  return item.path.slice(depth).reduceRight<unknown>((value, key) => ({ [key]: value }), innermost)
}

function deepest(root: Node, keys: readonly string[]): { container: Node; depth: number } {
  let container = root
  for (const [depth, key] of keys.entries()) {
    const member = memberOf(container, key, keys.slice(0, depth))
    if (!member) return { container, depth }
    container = member.node
  }
  return { container, depth: keys.length }
}

function memberOf(container: Node, key: string, path: readonly string[]): Member | undefined {
  if (container.kind !== 'object') throw inTheWay(path, 'is not an object')
  const found = container.members.filter(member => member.key === key)
  if (found.length > 1) throw inTheWay([...path, key], 'is in the file twice')
  return found[0]
}

/** Spaces and comments that begin on this line. A block comment may end on a later line. */
const ON_ITS_LINE = /^(?:[^\S\n\r]|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)*/

/** Adds after the last member and the comment on its line; on a new line if the first member has one. */
function appended(
  text: string,
  container: Node,
  print: (indent: string | undefined, unit: string) => string,
): Insertion[] {
  const eol = eolOf(text)
  const unit = unitOf(text)
  const [first, last] = [container.members[0], container.members.at(-1)]
  if (!first || !last) {
    const inner = skipFrom(text, container.start + 1)
    const at = behindComments(text, container.start + 1, inner)
    const open = indentAt(text, container.start)
    const closes = text.slice(at, inner).includes('\n') ? '' : eol + open
    return [{ at, text: eol + open + unit + print(open + unit, unit) + closes }]
  }
  const ownLine = text.slice(container.start, first.start).includes('\n')
  const end = last.comma === undefined ? last.node.end : last.comma + 1
  const at = behindComments(text, end, end + ON_ITS_LINE.exec(text.slice(end))![0].length)
  const indent = ownLine ? indentAt(text, first.start) : undefined
  const space = ownLine ? eol + indent : endsInLineComment(text, end, at) ? eol : ' '
  const comma = last.comma === undefined ? [{ at: end, text: ',' }] : []
  return [...comma, { at: at + comma.length, text: space + print(indent, unit) }]
}

/** The end of the last comment between two positions; the first position if there is none. */
function behindComments(text: string, from: number, to: number): number {
  return from + text.slice(from, to).replace(/[\s\ufeff]+$/, '').length
}

/** Text after such a comment needs a new line. */
function endsInLineComment(text: string, from: number, to: number): boolean {
  const comments = text.slice(from, to).match(/\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g)
  return comments?.at(-1)?.startsWith('//') ?? false
}

const indentAt = (text: string, at: number): string => {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)![0]
}

const unitOf = (text: string): string => /\n([ \t]+)["'\w$]/.exec(text)?.[1] ?? '  '

function printed(value: unknown, indent: string, unit: string, eol: string): string {
  const flat = Array.isArray(value) && value.every(each => typeof each !== 'object')
  if (typeof value !== 'object' || value === null || flat) return JSON.stringify(value).replaceAll('","', '", "')
  const inner = indent + unit
  const lines = Array.isArray(value)
    ? value.map(each => printed(each, inner, unit, eol))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${printed(each, inner, unit, eol)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (!lines.length) return `${open}${close}`
  return `${open}${eol}${lines.map(line => inner + line).join(`,${eol}`)}${eol}${indent}${close}`
}

function without(text: string, item: Item, emptied: number): string {
  const root = spansOf(text)
  if (!root) return text
  const keys = item.element ? item.path : item.path.slice(0, -1)
  const { container, depth } = deepest(root, keys)
  if (depth < keys.length) return text
  const member = item.element
    ? container.members.find(({ node }) => node.value === item.value)
    : memberOf(container, item.path.at(-1)!, keys)
  if (!member) return text
  const rest = cut(text, container, member)
  if (emptied === 0 || container.members.length > 1 || !keys.length) return rest
  return without(rest, { path: keys, value: undefined }, emptied - 1)
}

function cut(text: string, container: Node, member: Member): string {
  const index = container.members.indexOf(member)
  const previous = container.members[index - 1]
  const isLast = index === container.members.length - 1
  const gap = previous ? previous.node.end : container.start + 1
  const spaces = /[\s\ufeff]*$/.exec(text.slice(gap, member.start))![0].length
  const from = member.start - (endsInLineComment(text, gap, member.start) ? 0 : spaces)
  const end = member.comma === undefined ? member.node.end : member.comma + 1
  // The comma before the last member goes with it, unless another comma follows it.
  if (previous && isLast && member.comma === undefined)
    return text.slice(0, previous.comma) + text.slice(previous.comma! + 1, from) + text.slice(end)
  return text.slice(0, from) + text.slice(end)
}
