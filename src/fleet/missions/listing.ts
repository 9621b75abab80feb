import { InvalidInput } from '../../domain/errors.ts'
import type { Mission, Status } from '../../domain/records/mission.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import { effective } from '../../domain/rules/effective.ts'
import { headOf } from '../../domain/text.ts'
import type { KeyPart, Query } from '../../store/index.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { lookUp, readable } from '../records.ts'

/** How many records one call reads where no index covers the whole filter. */
export const MOST_LOOKED_AT = 1000
export const MOST_IDS = 200
const PAGE = 100
/** A shorter text is more likely part of a word than the start of an id. */
const ID_PREFIX = /^[0-9a-z]{4,12}$/
const MOST_BY_ID = 20

export interface Filter {
  project_id?: string
  status?: Status | Status[]
  agent?: string
  tag?: string
  text?: string
  ids?: string[]
  parent_mission_id?: string
  result?: Mission['result']
  ended_since?: string
  created_since?: string
  order: 'created' | 'ended'
  limit: number
  cursor?: string
}

export interface Listed {
  missions: Mission[]
  cursor?: string
}

/** Where a list continues: after this one, in the order of the list. */
interface ListPosition {
  time: string
  id: string
}

/** Newer than any. */
const BEFORE_ALL: ListPosition = { time: '9999-12-31T23:59:59.999Z', id: '~' }

/**
 * Lists missions, newest first. The narrowest index finds them, with one range per status where it tells them apart.
 * What it does not cover is filtered record by record, up to a limit per call.
 */
export async function listMissions(fleet: Fleet, filter: Filter): Promise<Listed> {
  const project = filter.project_id && (await lookUp(fleet, 'projects', filter.project_id)).value.id
  const parent = filter.parent_mission_id && (await lookUp(fleet, 'missions', filter.parent_mission_id)).value.id
  const byEnd = filter.order === 'ended' || filter.ended_since !== undefined
  const timeOf = (mission: Mission): string => (byEnd ? mission.ended_at! : mission.created_at)
  const fits = await fitting(fleet, { ...filter, project_id: project, parent_mission_id: parent })
  if (filter.ids) return { missions: (await named(fleet, filter.ids)).filter(fits).toSorted(newestFirst) }

  const missions = filter.cursor ? [] : await withIdLike(fleet, filter, fits)
  const after = filter.cursor === undefined ? undefined : positionOf(filter.cursor)
  let looked = 0
  let last = BEFORE_ALL
  for await (const mission of merged(rangesFor({ ...filter, project, parent, byEnd }).map(inRange), timeOf)) {
    // A mission whose status changed during the read is in both ranges.
    if (mission.id === last.id) continue
    if (missions.length >= filter.limit || looked >= MOST_LOOKED_AT) return { missions, cursor: cursorAt(last) }
    looked++
    last = { time: timeOf(mission), id: mission.id }
    if (fits(mission) && !isIdLike(mission, filter.text)) missions.push(mission)
  }
  return { missions }

  async function* inRange(range: Range): AsyncGenerator<Mission> {
    // Records with the time of the last one are read again, and left out by their id.
    const below = after && `${after.time}\0`
    let cursor: string | undefined
    do {
      const page = await fleet.store.find('missions', {
        ...range,
        ...(below !== undefined && { below }),
        newestFirst: true,
        limit: Math.min(PAGE, filter.limit + 1),
        cursor,
      })
      for (const { value } of page.items)
        if (!after || timeOf(value) < after.time || (timeOf(value) === after.time && value.id < after.id)) yield value
      cursor = page.cursor
    } while (cursor)
  }
}

type Range = Pick<Query, 'index' | 'equals' | 'from'>

interface Wanted extends Omit<Filter, 'project_id' | 'parent_mission_id'> {
  project?: string
  parent?: string
  byEnd: boolean
}

/** The narrowest index, and a range of it for each status where it tells them apart. */
function rangesFor({ project, parent, status, tag, byEnd, ended_since, created_since }: Wanted): Range[] {
  if (byEnd) {
    const from = ended_since
    return [project ? { index: 'project_ended', equals: [project], from } : { index: 'ended', equals: [], from }]
  }
  const statuses = status === undefined ? [undefined] : [...new Set([status].flat())]
  const narrowest = (one: Status | undefined): [string, (KeyPart | undefined)[]][] => [
    ['parent', [parent]],
    ['tag_status', [tag, one]],
    ['tag_project', [tag, project]],
    ['tag', [tag]],
    ['project_status', [project, one]],
    ['project', [project]],
    ['status', [one]],
    ['created', []],
  ]
  const ranges = statuses.map(one => {
    const [index, equals] = narrowest(one).find(([, keys]) => keys.every(key => key !== undefined))!
    return { index, equals: equals as KeyPart[], from: created_since }
  })
  // Where the index does not tell statuses apart, one range has them all.
  return ranges[0]!.index.endsWith('status') ? ranges : ranges.slice(0, 1)
}

/** Merges several streams, each newest first, into one. */
async function* merged(
  streams: AsyncGenerator<Mission>[],
  timeOf: (mission: Mission) => string,
): AsyncGenerator<Mission> {
  const heads = await Promise.all(streams.map(stream => stream.next()))
  for (;;) {
    let newest = -1
    for (const [at, head] of heads.entries()) {
      if (head.done) continue
      const best = newest < 0 ? undefined : (heads[newest]!.value as Mission)
      if (!best || isNewer(head.value, best)) newest = at
    }
    if (newest < 0) return
    yield heads[newest]!.value as Mission
    heads[newest] = await streams[newest]!.next()
  }

  function isNewer(one: Mission, other: Mission): boolean {
    const [a, b] = [timeOf(one), timeOf(other)]
    return a === b ? one.id > other.id : a > b
  }
}

const newestFirst = (one: Mission, other: Mission): number =>
  other.created_at.localeCompare(one.created_at) || other.id.localeCompare(one.id)

/** The missions with these ids that still exist. */
async function named(fleet: Fleet, ids: readonly string[]): Promise<Mission[]> {
  const found = await Promise.all([...new Set(ids)].map(id => readable(fleet, 'missions', id)))
  return found.flatMap(stored => stored?.value ?? [])
}

/** Whether a mission passes the filter, by its own record and its project. */
async function fitting(fleet: Fleet, filter: Filter): Promise<(mission: Mission) => boolean> {
  const statuses = filter.status && new Set([filter.status].flat())
  const text = filter.text?.toLowerCase()
  const agentOf = filter.agent === undefined ? undefined : await agents(fleet)
  return mission =>
    (!filter.project_id || mission.project_id === filter.project_id) &&
    (!filter.parent_mission_id || mission.parent_mission_id === filter.parent_mission_id) &&
    (!statuses || statuses.has(mission.status)) &&
    (!filter.tag || mission.tags.includes(filter.tag)) &&
    (!filter.result || mission.result === filter.result) &&
    (!filter.ended_since || (isOver(mission) && mission.ended_at! >= filter.ended_since)) &&
    (!filter.created_since || mission.created_at >= filter.created_since) &&
    (!agentOf || agentOf(mission) === filter.agent) &&
    (!text || isIdLike(mission, text) || says(mission, text))
}

const says = (mission: Mission, text: string): boolean =>
  mission.title.toLowerCase().includes(text) || headOf(mission.prompt).toLowerCase().includes(text)

const isIdLike = ({ id }: Mission, text: string | undefined): boolean =>
  text !== undefined && ID_PREFIX.test(text.toLowerCase()) && id.startsWith(text.toLowerCase())

/** A text that starts an id finds that mission however old it is, before all others. */
async function withIdLike(fleet: Fleet, { text }: Filter, fits: (mission: Mission) => boolean): Promise<Mission[]> {
  if (text === undefined || !ID_PREFIX.test(text.toLowerCase())) return []
  const page = await fleet.store.find('missions', { index: 'id', prefix: text.toLowerCase(), limit: MOST_BY_ID })
  return page.items.map(({ value }) => value).filter(fits)
}

/** The agent of a mission: its own, its project's, or the fleet's. */
async function agents(fleet: Fleet): Promise<(mission: Mission) => string | undefined> {
  const defaults = defaultsOf(fleet)
  const { items } = await fleet.store.find('projects', { index: 'created', limit: 5000 })
  const projects = new Map(items.map(({ value }) => [value.id, value]))
  return mission => {
    const project = projects.get(mission.project_id)
    return (project && effective(mission, project, defaults).agent) ?? undefined
  }
}

const cursorAt = ({ time, id }: ListPosition): string => Buffer.from(`${time} ${id}`).toString('base64url')

function positionOf(cursor: string): ListPosition {
  const [, time, id] = /^(\S+Z) (\S+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  if (time && id) return { time, id }
  throw new InvalidInput('cursor', 'this is not a cursor of this list', {
    try: 'Leave it out to start at the beginning.',
  })
}
