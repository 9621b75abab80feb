import { InvalidInput } from '../errors.ts'
import type { Mission } from '../records/mission.ts'
import { MAX_PATTERN_CHARS, type Reservation } from '../records/reservation.ts'
import type { Session } from '../records/session.ts'
import type { Team } from '../records/team.ts'
import { isOver } from './delegation.ts'

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

/** Whether two patterns have something in common; `many` stands for any number of parts, none included. */
function meet<T>(one: readonly T[], other: readonly T[], many: T, same: (a: T, b: T) => boolean): boolean {
  const known = new Map<number, boolean>()
  const from = (i: number, j: number): boolean => {
    if (i === one.length && j === other.length) return true
    const key = i * (other.length + 1) + j
    const before = known.get(key)
    if (before !== undefined) return before
    const [a, b] = [one[i], other[j]]
    const met =
      (a === many && (from(i + 1, j) || (j < other.length && from(i, j + 1)))) ||
      (b === many && (from(i, j + 1) || (i < one.length && from(i + 1, j)))) ||
      (a !== many && b !== many && i < one.length && j < other.length && same(a!, b!) && from(i + 1, j + 1))
    known.set(key, met)
    return met
  }
  return from(0, 0)
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
    return `- ${holder.handle}: ${oneLine(file)}${also}${reason ? `, ${oneLine(reason)}` : ''}`
  })
  const rest = others.length > MOST_TOLD ? [`- ${others.length - MOST_TOLD} more: see team_reservations`] : []
  return ['Other members are about to change these files:', ...lines, ...rest].join('\n')
}

const oneLine = (text: string): string => text.replace(/[\s\u0085]+/g, ' ')
