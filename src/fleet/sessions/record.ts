import type { Session } from '../../domain/records/session.ts'
import { about } from '../../domain/rules/life.ts'
import type { EffectName } from '../../platform/effects.ts'
import type { Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'

/** The holder of a session knows its generation, and may write about it only while that is the newest. */
export type Held = Pick<Session, 'id' | 'generation'>

/** Another host runs the session by now. */
export class Superseded extends Error {
  constructor({ id, generation }: Held, { host, generation: newest }: Session) {
    super(`Session ${id} belongs to host ${host} in generation ${newest}: nothing of generation ${generation} counts.`)
  }
}

/**
 * Whether this machine starts, signals, ends and cleans it up. A record without a host is from before there were hosts.
 */
export const isHere = ({ home }: Fleet, { host }: { host: string | null }): boolean =>
  host === null || host === home.host

/** The session as it is now, read before a write about it. */
export async function heldSession(fleet: Fleet, held: Held): Promise<Stored<Session>> {
  const stored = await current(fleet, 'sessions', held.id)
  if (stored.value.generation !== held.generation) throw new Superseded(held, stored.value)
  return stored
}

type Told =
  | ('session_running' | 'adopted' | 'dispatch_failed' | 'stalled' | 'usage' | 'retrying' | 'went_on')
  | ('member_quiet' | 'member_lively')

/** Changes a session that has not ended. Undefined: it has. */
export function updateSession(
  fleet: Fleet,
  held: Held,
  name: Extract<EffectName, 'commit.session-stopping' | 'commit.session-running' | 'commit.session-noted'>,
  change: Partial<Session>,
  { event, cause = change.stopping?.reason }: { event?: Told; cause?: string } = {},
): Promise<Session | undefined> {
  return retryOnConflict(async () => {
    const { value, version } = await heldSession(fleet, held)
    if (value.status === 'ended') return undefined
    const next: Session = { ...value, ...change }
    const by = { actor: 'fleet', now: fleet.now() }
    const data = event === 'usage' ? { ...next.usage } : { ...next.retrying, pid: next.pid }
    const subject = { id: next.mission_id, project_id: next.project_id }
    const events = event ? [about(subject, event, by, { session_id: held.id, cause, data })] : []
    await fleet.commit(name, { changes: [put('sessions', next, version)], events })
    return next
  })
}

type Updating = Parameters<typeof updateSession> extends [Fleet, Held, ...infer Rest] ? Rest : never

/** A session as its holder last wrote it. */
export class SessionRecord {
  readonly held: Held
  readonly #fleet: Fleet
  #session: Session

  constructor(fleet: Fleet, session: Session) {
    this.#fleet = fleet
    this.#session = session
    this.held = { id: session.id, generation: session.generation }
  }

  get session(): Session {
    return this.#session
  }

  async update(...change: Updating): Promise<void> {
    this.#session = (await updateSession(this.#fleet, this.held, ...change)) ?? this.#session
  }
}
