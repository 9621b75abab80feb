import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import type { Comment, Mission, MissionType, Status } from '../records/mission.ts'

/** How the settings name the database of the home, which `fleet bd` works on. */
export const HOME_DATABASE = 'home'

/** One line of a beads database (`.beads/*.jsonl`). Fields not named here are kept as they are. */
export const Bead = z.looseObject({
  id: z.string().min(1).max(120),
  title: z.string().regex(/\S/, 'must not be empty'),
  description: z.string().default(''),
  design: z.string().default(''),
  notes: z.string().default(''),
  acceptance_criteria: z.string().default(''),
  status: z.string().default('open'),
  assignee: z.string().nullish(),
  priority: z.number().int().default(2).describe('0 is the most urgent, 4 the least'),
  issue_type: z.string().default('task'),
  labels: z
    .array(z.string())
    .nullish()
    .transform(labels => labels ?? []),
  dependencies: z
    .array(z.looseObject({ depends_on_id: z.string(), type: z.string().default('blocks') }))
    .nullish()
    .transform(dependencies => dependencies ?? []),
  metadata: z.unknown().optional(),
  comments: z
    .array(
      z.looseObject({
        id: z.union([z.string(), z.number()]).optional(),
        author: z.string().default(''),
        text: z.string().default(''),
        created_at: z.string().optional(),
      }),
    )
    .nullish()
    .transform(comments => comments ?? []),
})
export type Bead = z.infer<typeof Bead>

/** A bead and the line of the file it was read from. */
export interface Line {
  text: string
  bead: Bead
}

export function parseBeads(text: string): Line[] {
  return text.split('\n').flatMap((line, index) => {
    if (!line.trim()) return []
    const wrong = (problem: string): InvalidInput => new InvalidInput('beads', `line ${index + 1}: ${problem}`)
    const parsed = Bead.safeParse(jsonOf(line, wrong))
    if (parsed.success) return [{ text: line, bead: parsed.data }]
    const { path, message } = parsed.error.issues[0]!
    throw wrong(`${path.map(String).join('.') || 'it'}: ${message}`)
  })
}

function jsonOf(line: string, wrong: (problem: string) => InvalidInput): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw wrong('is not JSON')
  }
}

/** Kinds of beads that are work. Others are messages, gates and the like of other tools. */
const WORK = ['task', 'bug', 'feature', 'chore', 'epic']
const OVER = ['closed', 'tombstone']
/** The only kind of dependency that missions have too. */
const BLOCKS = 'blocks'
const PARENT = 'parent-child'

export const isOver = (bead: Bead): boolean => OVER.includes(bead.status)
export const isWork = (bead: Bead): boolean => WORK.includes(bead.issue_type) && !isOver(bead)

export const parentOf = (bead: Bead): string | undefined =>
  bead.dependencies.find(({ type }) => type === PARENT)?.depends_on_id
export const blockersOf = (bead: Bead): string[] =>
  bead.dependencies.filter(({ type }) => type === BLOCKS).map(({ depends_on_id }) => depends_on_id)
/** The number of links of a kind that missions do not have. They stay in the file. */
export const otherLinks = (bead: Bead): number =>
  bead.dependencies.filter(({ type }) => type !== BLOCKS && type !== PARENT).length

/** Puts dependencies before the beads that wait for them. A circle is refused. */
export function inOrder(beads: readonly Bead[]): Bead[] {
  const byId = new Map(beads.map(bead => [bead.id, bead]))
  const before = (bead: Bead): Bead[] =>
    [...blockersOf(bead), parentOf(bead)].flatMap(id => (id === undefined ? [] : (byId.get(id) ?? [])))
  const ordered = new Set<Bead>()
  const path = new Set<Bead>()
  for (const first of byId.values()) {
    // A list instead of recursion: a chain may be longer than the call stack.
    const steps = [{ bead: first, left: before(first) }]
    for (let step = steps.at(-1); step; step = steps.at(-1)) {
      path.add(step.bead)
      const next = step.left.shift()
      if (next && path.has(next)) throw inACircle([...path], next)
      if (next && !ordered.has(next)) steps.push({ bead: next, left: before(next) })
      if (next) continue
      ordered.add(step.bead)
      path.delete(step.bead)
      steps.pop()
    }
  }
  return [...ordered]
}

function inACircle(path: readonly Bead[], back: Bead): InvalidInput {
  const circle = [...path.slice(path.indexOf(back)), back]
  return new InvalidInput('beads', `they wait for each other: ${circle.map(({ id }) => id).join(' → ')}`)
}

const MAX_TITLE_CHARS = 300
const PRIORITY_STEP = 100
const USUAL_PRIORITY = 2

/** The fields of the mission that a bead becomes. */
export function missionOf(bead: Bead) {
  const section = (title: string, text: string): string => (text.trim() ? `## ${title}\n\n${text}` : '')
  const opening = bead.title.length > MAX_TITLE_CHARS || !bead.description.trim() ? bead.title : ''
  const type: MissionType = bead.issue_type === 'bug' ? 'fix' : 'implement'
  return {
    title: bead.title.slice(0, MAX_TITLE_CHARS),
    detailed_prompt: [opening, bead.description, section('Design', bead.design), section('Notes', bead.notes)]
      .filter(part => part.trim())
      .join('\n\n'),
    acceptance_criteria: bead.acceptance_criteria.slice(0, 20_000),
    mission_type: type,
    priority: (USUAL_PRIORITY - clamped(bead.priority)) * PRIORITY_STEP,
    tags: [...new Set(bead.labels.map(label => label.slice(0, 60)).filter(Boolean))].slice(0, 20),
    metadata: { bead: bead.id },
  }
}

/** Where a person was when they ran `fleet bd create`, and what they chose. */
export interface Captured {
  directory?: string
  agent?: string
  model?: string
}
const KEYS = { directory: 'fleet_directory', agent: 'fleet_agent', model: 'fleet_model' } as const

/** In a form that bd keeps with a bead. */
export const asMetadata = (captured: Captured): Record<string, string> =>
  Object.fromEntries(
    Object.entries(KEYS).flatMap(([name, key]) => {
      const value = captured[name as keyof Captured]
      return value === undefined ? [] : [[key, value]]
    }),
  )

export function capturedIn({ metadata }: Bead): Captured {
  const kept = Object.entries(Object(metadata) as Record<string, unknown>)
  return Object.fromEntries(
    Object.entries(KEYS).flatMap(([name, key]) => {
      const value = kept.find(([each]) => each === key)?.[1]
      return typeof value === 'string' && value ? [[name, value]] : []
    }),
  )
}

const clamped = (priority: number): number => Math.min(4, Math.max(0, priority))

/** The id of the bead that a mission came from, or is exported as. */
export const beadIdOf = (mission: Pick<Mission, 'id' | 'metadata'>): string =>
  typeof mission.metadata.bead === 'string' ? mission.metadata.bead : `fleet-${mission.id}`

const STATUSES: Partial<Record<Status, string>> = {
  running: 'in_progress',
  landing: 'in_progress',
  review: 'in_progress',
  needs_input: 'in_progress',
  done: 'closed',
  cancelled: 'closed',
}

export interface Told {
  mission: Mission
  prompt: string
  comments: readonly Comment[]
  /** The beads of its dependencies and of its parent. */
  blockers: readonly string[]
  parent: string | null
}

/** The new line of a bead whose mission has changed. All other fields stay as they are. */
export function updated({ mission, comments }: Told, { text, bead }: Line): string {
  const status = STATUSES[mission.status] ?? 'open'
  // While the mission has not begun, a bead that someone closed, deferred or claimed stays that way.
  const moves = status !== 'open' && !isOver(bead) && status !== bead.status
  const merged = mergedComments(bead.id, bead.comments, comments)
  const comes = merged.length > bead.comments.length
  if (!moves && !comes) return text
  return JSON.stringify({
    ...(JSON.parse(text) as object),
    ...(moves && stateOf(mission, status)),
    ...(comes && { comments: merged }),
    updated_at: mission.updated_at,
  })
}

const stateOf = (mission: Mission, status: string) => ({
  status,
  ...(status === 'closed' && {
    closed_at: mission.ended_at ?? mission.updated_at,
    close_reason: mission.result ?? mission.status,
  }),
})

/** The line of a mission that came from no bead. */
export function newLine({ mission, prompt, comments, blockers, parent }: Told): string {
  const id = beadIdOf(mission)
  const { created_at, updated_at } = mission
  const link = (depends_on_id: string, type: string) => ({ issue_id: id, depends_on_id, type, created_at })
  return JSON.stringify({
    id,
    title: mission.title,
    description: prompt,
    acceptance_criteria: mission.acceptance_criteria,
    priority: clamped(Math.round(USUAL_PRIORITY - mission.priority / PRIORITY_STEP)),
    issue_type: mission.mission_type === 'fix' ? 'bug' : 'task',
    labels: mission.tags,
    dependencies: [...blockers.map(each => link(each, BLOCKS)), ...(parent ? [link(parent, PARENT)] : [])],
    comments: mergedComments(id, [], comments),
    created_at,
    updated_at,
    ...stateOf(mission, STATUSES[mission.status] ?? 'open'),
  })
}

/** The comments of the file come first, unchanged. Two comments are the same if author, time and text are. */
function mergedComments(issue: string, before: Bead['comments'], comments: readonly Comment[]): Bead['comments'] {
  const key = (author: string, at: string | undefined, text: string) =>
    JSON.stringify([author, at && Date.parse(at), text])
  const known = new Set(before.map(each => key(each.author, each.created_at, each.text)))
  const highest = Math.max(0, ...before.map(each => Number(each.id) || 0))
  const more = comments.filter(each => !known.has(key(each.author, each.created_at, each.body)))
  return [
    ...before,
    ...more.map(({ author, body, created_at }, n) => ({
      id: highest + n + 1,
      issue_id: issue,
      author,
      text: body,
      created_at,
    })),
  ]
}
