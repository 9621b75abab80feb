import { TomlError } from 'smol-toml'
import type { Document, LineCounter } from 'yaml'
import type { ZodError } from 'zod'
import { readToml } from '../../config/toml.ts'
import { InvalidInput, NotFound, Refusal } from '../../domain/errors.ts'
import { TeamFile } from '../../domain/records/team-file.ts'
import { problemOf } from '../../domain/rules/input-words.ts'
import { TEAM_TEMPLATES } from './templates.ts'
import { tomlLineOf } from './toml-lines.ts'

/** A team as it was described, with words for what is wrong with it. */
export interface Described {
  team: TeamFile
  /** The same refusal, with the line of the file that it is about. */
  located(error: unknown): unknown
}

type LineOf = (path: readonly string[]) => number | undefined

/** The built-in template with this name. */
export function teamTemplate(name: string): Promise<Described> {
  const found = TEAM_TEMPLATES.find(each => each.name === name)
  if (found) return readTeamFile(found.file)
  throw new NotFound('template', name, { try: `One of ${TEAM_TEMPLATES.map(each => each.name).join(', ')}.` })
}

/** Reads a team from YAML, JSON or TOML. What is wrong is said with its line. */
export async function readTeamFile(text: string): Promise<Described> {
  const { value, lineOf } = looksLikeToml(text) ? fromToml(text) : await fromYaml(text)
  const parsed = TeamFile.safeParse(value)
  if (!parsed.success) throw refusalOf(parsed.error, lineOf)
  return {
    team: parsed.data,
    located: error => {
      const field = error instanceof Refusal && error.facts.field
      if (!(error instanceof InvalidInput) || typeof field !== 'string') return error
      const line = field.startsWith('members') ? lineOf(field.split('.')) : undefined
      return line ? problemAt(line, field, error.message.slice(`${field}: `.length), error.hint) : error
    },
  }
}

function refusalOf({ issues }: ZodError, lineOf: LineOf): InvalidInput {
  const issue = issues[0]!
  const path = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys')
    return problemAt(lineOf(path) ?? 1, path.join('.') || 'file', problemOf(issue))
  const key = issue.keys[0]!
  const known = Object.keys(path.length ? TeamFile.shape.members.element.shape : TeamFile.shape)
  const hint = `It may have ${known.join(', ')}.`
  return problemAt(lineOf([...path, key]) ?? 1, [...path, key].join('.'), 'is not a field of a team file', hint)
}

/** `members.1.role` is `role of member 2` for a person. */
function problemAt(line: number, field: string, problem: string, hint?: string): InvalidInput {
  const [, at, rest] = /^members\.(\d+)(?:\.(.+))?$/.exec(field) ?? []
  const what = at === undefined ? field : [rest, `member ${Number(at) + 1}`].filter(Boolean).join(' of ')
  return new InvalidInput('file', `line ${line}, ${what}: ${problem}`, { try: hint })
}

/** The first line that says something: `key = value`, or a heading. */
const looksLikeToml = (text: string): boolean => /^\ufeff?(?:\s*#.*\n|\s*\n)*\s*(?:\[|["\w-]+\s*=)/.test(text)

function fromToml(text: string): { value: unknown; lineOf: LineOf } {
  try {
    return { value: readToml(text), lineOf: path => tomlLineOf(text, path) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const words = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')
    throw new InvalidInput('file', `line ${error.line}: this is not TOML (${words})`)
  }
}

async function fromYaml(text: string): Promise<{ value: unknown; lineOf: LineOf }> {
  const { parseDocument, LineCounter } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [wrong] = document.errors
  if (wrong)
    throw new InvalidInput('file', `line ${lines.linePos(wrong.pos[0]).line}: this is not YAML (${wrong.message})`)
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), lineOf: path => yamlLineOf(document, lines, path) }
  } catch (cause) {
    throw new InvalidInput('file', `this is not YAML (${(cause as Error).message.split('\n')[0]})`)
  }
}

/** The line of the deepest part of the path that is there. */
function yamlLineOf(document: Document, lines: LineCounter, path: readonly string[]): number | undefined {
  let node: unknown = document.contents
  let start: number | undefined
  for (const step of path) {
    const items = (node as { items?: unknown[] } | null)?.items
    if (!Array.isArray(items)) break
    const pair = items.find(each => String((each as Pair).key?.value) === step) as Pair | undefined
    const next = pair ?? items[Number(step)]
    if (next === undefined) break
    node = pair ? pair.value : next
    start = (pair ? pair.key?.range?.[0] : (next as Ranged).range?.[0]) ?? start
  }
  return start === undefined ? undefined : lines.linePos(start).line
}

interface Ranged {
  range?: [number, number, number]
}
interface Pair {
  key?: Ranged & { value?: unknown }
  value: unknown
}
