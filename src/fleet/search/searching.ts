import type { Mission } from '../../domain/records/mission.ts'
import { END_MARK, MARK, type TextHit, type TextKind } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { lookUp, readable } from '../records.ts'

export interface Search {
  text: string
  kinds: readonly TextKind[]
  project_id?: string
  from?: string
  before?: string
  /** Of each kind. */
  limit: number
}

export interface Hit {
  kind: TextKind
  mission: Pick<Mission, 'id' | 'title' | 'status' | 'result' | 'project_id' | 'created_at'>
  session_id: string | null
  place: string
  part: string
  at: string
  snippet: string
  /** Where the words are in the snippet. */
  marks: { from: number; length: number }[]
  /** How many more hits the same transcript has. */
  more: number
}

/** How long a search waits for an index that is still being made. */
const CATCH_UP_MS = 3000

/**
 * Finds words in missions, comments, reports and transcripts, kind by kind. `complete` is false while the index is still
 * being made, soon after a server has started.
 */
export async function search(fleet: Fleet, wanted: Search): Promise<{ hits: Hit[]; complete: boolean }> {
  const { host } = fleet.indexing
  const complete = host ? await host.catchUp(CATCH_UP_MS) : true
  return { hits: complete || fleet.texts.exists ? await hitsOf(fleet, wanted) : [], complete }
}

async function hitsOf(fleet: Fleet, { kinds, limit, ...wanted }: Search): Promise<Hit[]> {
  const project_id = wanted.project_id && (await lookUp(fleet, 'projects', wanted.project_id)).value.id
  const hits: Hit[] = []
  for (const kind of kinds) {
    const found = fleet.texts.search({
      ...wanted,
      project_id,
      ...(fleet.view && { projects: [...fleet.view.projects] }),
      kind,
      limit,
    })
    const groups =
      kind === 'transcript' ? [...Map.groupBy(found, hit => hit.session_id).values()] : found.map(hit => [hit])
    for (const [best, ...others] of groups.slice(0, limit)) {
      const hit = await shown(fleet, best!, others.length)
      if (hit) hits.push(hit)
    }
  }
  return hits
}

/** Undefined: its mission was deleted a moment ago. */
async function shown(fleet: Fleet, { inTitle, snippet, ...hit }: TextHit, more: number): Promise<Hit | undefined> {
  const mission = (await readable(fleet, 'missions', hit.mission_id))?.value
  if (!mission || mission.deleting) return undefined
  const { id, title, status, result, project_id, created_at } = mission
  const { kind, session_id, place, at } = hit
  return {
    ...{ kind, session_id, place, at, more, part: inTitle ? 'title' : hit.part },
    mission: { id, title, status, result, project_id, created_at },
    ...marked(snippet),
  }
}

function marked(text: string): Pick<Hit, 'snippet' | 'marks'> {
  const marks: Hit['marks'] = []
  let snippet = ''
  for (const part of text.split(MARK)) {
    const end = part.indexOf(END_MARK)
    if (end > 0) marks.push({ from: snippet.length, length: end })
    snippet += part.replace(END_MARK, '')
  }
  return { snippet, marks }
}
