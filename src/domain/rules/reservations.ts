import { InvalidInput } from '../errors.ts'
import type { Mission } from '../records/mission.ts'
import { MAX_PATTERN_CHARS, type Reservation } from '../records/reservation.ts'
import type { Session } from '../records/session.ts'
import type { Team } from '../records/team.ts'
import { isOver } from './delegation.ts'
import { oneLine, saying } from './mail-prompt.ts'

/** More would be as good as none. */
export const MOST_RESERVATIONS = 20

/**
 * A path or pattern as everybody in the team reads it: from the root of the project. Agents name files by where their
 * own worktree is.
 */
export function patternOf(file: string, root: string | null): string {
  const inRoot = root !== null && (file === root || file.startsWith(`${root}/`))
  const path = inRoot ? file.slice(root.length) : file
  const refuse = (problem: string) =>
    new InvalidInput('file', problem, { try: 'Name it from the root of the project.' })
  if (!inRoot && path.startsWith('/')) throw refuse(`${file} is outside the project`)
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) throw refuse(`${file} is outside the project`)
  }
  if (!parts.length) return '**'
  const pattern = parts.join('/') + (path.endsWith('/') ? '/' : '')
  if (pattern.length > MAX_PATTERN_CHARS) throw refuse(`has more than ${MAX_PATTERN_CHARS} characters`)
  return pattern
}

/** Whether one file can fit both. `*` and `?` stand for characters of a name, `**` for any folders. */
export const overlap = (one: string, other: string): boolean =>
  meet(partsOf(one), partsOf(other), '**', (a, b) => meet([...a], [...b], '*', sameCharacter))

/** A name without an ending can be a folder, and then everything in it is meant. */
function partsOf(pattern: string): string[] {
  const parts = pattern.split('/').filter(Boolean)
  const last = parts.at(-1)!
  return pattern.endsWith('/') || /^\.?[^.*?]+$/.test(last) ? [...parts, '**'] : parts
}

const sameCharacter = (a: string, b: string): boolean => a === b || a === '?' || b === '?'

/**
 * Whether two patterns have something in common; `many` stands for any number of parts, none included. Row by row from
 * the end, so that no pattern that somebody made up takes longer than its length.
 */
function meet<T>(one: readonly T[], other: readonly T[], many: T, same: (a: T, b: T) => boolean): boolean {
  const end = other.length
  let below = new Uint8Array(end + 1)
  let row = new Uint8Array(end + 1)
  for (let i = one.length; i >= 0; i--) {
    const isLast = i === one.length
    const a = one[i]!
    for (let j = end; j >= 0; j--) {
      const isEnd = j === end
      const b = other[j]!
      let met: number
      if (isLast && isEnd) met = 1
      else if (!isLast && a === many) met = below[j]! | (isEnd ? 0 : row[j + 1]!)
      else if (!isEnd && b === many) met = row[j + 1]! | (isLast ? 0 : below[j]!)
      else met = !isLast && !isEnd && below[j + 1] === 1 && same(a, b) ? 1 : 0
      row[j] = met
    }
    ;[below, row] = [row, below]
  }
  return below[0] === 1
}

/** What others reserved that fits the same files. */
export const overlapping = (
  { file, holder }: Pick<Reservation, 'file' | 'holder'>,
  all: readonly Reservation[],
): Reservation[] => all.filter(each => each.holder.member_id !== holder.member_id && overlap(each.file, file))

interface Surroundings {
  team: Pick<Team, 'ended_at' | 'roster'>
  /** The session and the task that it ends with, unless they are gone. */
  session?: Pick<Session, 'status'>
  mission?: Pick<Mission, 'status'>
}

/** Why a reservation ends now, if it does. */
export function endOf(
  { holder, session_id, mission_id }: Reservation,
  { team, session, mission }: Surroundings,
): string | null {
  if (team.ended_at) return 'the team was deleted'
  if (!team.roster.some(({ member_id }) => member_id === holder.member_id)) return `${holder.handle} was dismissed`
  if (mission_id) return mission && !isOver(mission) ? null : 'its task is over'
  if (session_id) return session && session.status !== 'ended' ? null : 'the session that made it is over'
  return null
}

/** So many are named in a prompt. */
const MOST_TOLD = 20

/** What others are about to change, for a prompt. */
export function reservedInWords(others: readonly Reservation[], mine: readonly Reservation[]): string {
  if (!others.length) return ''
  const lines = others.slice(0, MOST_TOLD).map(({ holder, file, reason }) => {
    const shared = mine.filter(own => overlap(own.file, file)).map(own => own.file)
    const also = shared.length ? ` (you reserved ${shared.join(', ')})` : ''
    return `- ${holder.handle}: ${oneLine(file)}${also}${reason ? ` and says ${saying(reason)}` : ''}`
  })
  const rest = others.length > MOST_TOLD ? [`- ${others.length - MOST_TOLD} more: see team_reservations`] : []
  return ['Other members are about to change these files:', ...lines, ...rest].join('\n')
}
