import { NotAllowed, Refusal, Unauthorized } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Keys } from '../platform/keys.ts'
import { authorize } from './authorize.ts'
import type { Caller, Context, Operation, Query } from './operation.ts'

/** Where a server takes what another server of the same fleet passes on. */
export const FORWARDED = '/api/forwarded'
/** How long what is passed on may be on its way. */
const FRESH_MS = 15_000

/** What somebody asked of a server that does not decide. That one has found out who they are. */
export interface Forwarded {
  operation: string
  input: Record<string, unknown>
  caller: Caller
  key?: string
}

interface Letter extends Forwarded {
  id: string
  /** Milliseconds since 1970. */
  until: number
}

/** Signed with the key that all servers of a fleet have: whoever has it is the owner. */
export async function sealed(keys: Keys, asked: Forwarded, nowMs: number): Promise<{ letter: string; seal: string }> {
  const letter = JSON.stringify({ ...asked, id: newId(), until: nowMs + FRESH_MS } satisfies Letter)
  return { letter, seal: await keys.sign(textOf(letter)) }
}

const textOf = (letter: string): string => `forwarded\n${letter}`

/** Takes letters of other servers, each once. */
export class Letterbox {
  readonly #keys: Keys
  readonly #seen = new Map<string, number>()

  constructor(keys: Keys) {
    this.#keys = keys
  }

  async open({ letter, seal }: { letter?: unknown; seal?: unknown }, nowMs: number): Promise<Forwarded> {
    const isOurs =
      typeof letter === 'string' && typeof seal === 'string' && (await this.#keys.isSigned(textOf(letter), seal))
    if (!isOurs)
      throw new Unauthorized('Only a server of this fleet may ask this, with the key that all of them have.', {
        try: 'Compare the files token and key of both homes.',
      })
    const { id, until, ...asked } = JSON.parse(letter) as Letter
    for (const [each, end] of this.#seen) if (end < nowMs - FRESH_MS) this.#seen.delete(each)
    if (this.#seen.has(id)) throw new Unauthorized('This was passed on before.')
    // A clock that differs much is told, because nothing else between servers depends on it.
    if (until < nowMs || until > nowMs + 2 * FRESH_MS)
      throw new Unauthorized('This was passed on too long ago, or the clocks of the two servers differ.')
    this.#seen.set(id, until)
    return asked
  }
}

/** Carries out what another server passed on, with the rights of whoever asked there. That server writes the audit log. */
export async function carryOut(
  fleet: Fleet,
  operation: Operation | undefined,
  { caller, key, input }: Forwarded,
  signal: AbortSignal,
): Promise<unknown> {
  if (!operation || operation.kind === 'stream' || operation.inServer !== true)
    throw new NotAllowed('This is not passed on between servers.')
  // Never passed on twice: two servers that each take the other for the decider would ask each other for ever.
  if (!fleet.daemon) throw new NotAllowed('This server does not decide any more.', { try: 'Ask again.' })
  const seen = await authorize(operation, { fleet, caller }, input)
  const context: Context = { fleet: seen, caller, signal, ...(key && { key }) }
  return (operation as Query).run(context, input)
}

/** A refusal as the deciding server gave it. */
export class PassedOn extends Refusal {
  readonly code: string
  readonly status: number
  readonly exit: number
  constructor(status: number, { code, message, try: hint, ...facts }: Record<string, unknown> & { message?: string }) {
    super(message ?? 'The server that decides refused it.', { try: hint as string | undefined, facts })
    this.code = typeof code === 'string' ? code : 'internal'
    this.status = status
    this.exit = status >= 500 ? 1 : 4
  }
}
