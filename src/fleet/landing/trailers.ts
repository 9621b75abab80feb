import type { Landing, Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { withoutControls } from '../../domain/text.ts'

const SUBJECT_CHARS = 100
const BODY_CHARS = 2000
const MOST_NAMED = 50

/** The trailer that names the mission of a commit. */
export const MISSION_TRAILER = 'Fleet-Mission'
/** Only of people and services with a name. The owner of a home has none. */
const LANDED_BY = 'Fleet-Landed-By'
const UNDONE_BY = 'Fleet-Undone-By'
/** The member of a team whose work it is. */
const MEMBER = 'Fleet-Member'

/** Never empty: git makes no commit without a message. */
const subjectOf = ({ id, title }: Pick<Mission, 'id' | 'title'>): string =>
  withoutControls(title).replace(/\s+/g, ' ').trim().slice(0, SUBJECT_CHARS) || `Mission ${id}`

/** The message of a landing: the title, what the agent says it did, and trailers that lead to the rest. */
export function landingMessage(
  mission: Mission,
  session: Session,
  summary: string,
  { member, landedBy }: { member?: string; landedBy?: string } = {},
): string {
  // A line of the summary must not look like a trailer of ours.
  const body = withoutControls(summary)
    .trim()
    .slice(0, BODY_CHARS)
    .replace(/^(Fleet-[\w-]+:)/gim, ' $1')
  const by = [named(MEMBER, member), named(LANDED_BY, landedBy)].filter(Boolean).join('\n')
  return [subjectOf(mission), body, trailers(mission, session, by)].filter(Boolean).join('\n\n')
}

/** The message of a commit that a person adds to the work. */
export const messageOf = (mission: Mission, session: Session, subject: string): string =>
  `${withoutControls(subject).replace(/\s+/g, ' ').trim()}\n\n${trailers(mission, session)}\n`

export function undoMessage(
  mission: Mission,
  session: Session,
  { commit, includes }: Landing,
  undoneBy?: string,
): string {
  const others = includes.map(each => `- ${subjectOf({ id: each.mission_id, title: each.title })} (${each.mission_id})`)
  return [
    `Undo: ${subjectOf(mission)}`,
    `This takes back ${commit}.`,
    ...(others.length ? [`With it goes the work of:\n${others.slice(0, MOST_NAMED).join('\n')}`] : []),
    trailers(mission, session, named(UNDONE_BY, undoneBy)),
  ].join('\n\n')
}

const trailers = (mission: Mission, session: Session, by?: string): string =>
  [
    `${MISSION_TRAILER}: ${mission.id}`,
    `Fleet-Session: ${session.id}`,
    `Fleet-Agent: ${session.agent}`,
    ...(by ? [by] : []),
  ].join('\n')

/** A name is one line: it must not add a trailer of its own. */
function named(trailer: string, name: string | undefined): string | undefined {
  const said = withoutControls(name ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return said && `${trailer}: ${said}`
}
