import { NotFound, Refusal } from '../domain/errors.ts'
import type { AuditPrincipal } from '../domain/records/audit.ts'
import { clipped } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { record } from '../fleet/people/audit.ts'
import type { About, Asked } from '../fleet/people/refusals.ts'
import { lookUp } from '../fleet/records.ts'
import { isPrincipal, NAMED, seenBy, sightFor } from './authorize.ts'
import { type Caller, type Context, deviceOf, type From, type Operation, tokenOf } from './operation.ts'
import type { Reach } from './roles.ts'

type Asking = Pick<Context, 'fleet' | 'caller' | 'from'>

/** What a request names beside what is in projects. */
const BESIDE_PROJECTS: typeof NAMED = { principal_id: 'principals', token_id: 'tokens', device_id: 'devices' }

/**
 * Runs something that was asked for, with an entry in the audit log: of every command, and of what is refused to a
 * known caller. `named` gives the input as far as it was read; of it, only names of records that exist are stored.
 */
export async function audited<T>(
  operation: Pick<Operation, 'name' | 'kind'>,
  { fleet, caller, from }: Asking,
  named: () => Record<string, unknown>,
  run: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  if (!from) return run(fleet)
  const asked = askedBy(caller, from, operation.name)
  if (operation.kind !== 'command')
    return run(fleet).catch(async error => {
      await noteRefusal({ fleet, caller, from }, operation.name, named(), error)
      throw error
    })
  const recording = record(fleet, asked)
  const about = () => aboutInput(fleet, caller, named())
  let answer: T
  try {
    answer = await run(recording.fleet)
  } catch (error) {
    // What cannot be written down is refused all the same, and for its own reason.
    await recording.refused(codeOf(error), about).catch(() => {})
    throw error
  }
  // It was carried out, so it is said to be. What it committed has its entry already.
  await recording.done(about).catch(() => {})
  return answer
}

/**
 * Notes that something was refused that changes nothing. What is not there is no refusal, except to somebody who may
 * not see it.
 */
export async function noteRefusal(
  { fleet, caller, from }: Asking,
  operation: string,
  named: Record<string, unknown>,
  error: unknown,
): Promise<void> {
  if (!from || !(error instanceof Refusal)) return
  const isHidden = error instanceof NotFound && isPrincipal(caller)
  if (!REFUSED.includes(error.code) && !isHidden) return
  const about = await aboutInput(fleet, caller, named).catch(() => NOTHING)
  if (isHidden && !about.touched.length) return
  fleet.refusals.note(askedBy(caller, from, operation), error.code, about, fleet.now())
}

const REFUSED = ['forbidden', 'too_many']
const NOTHING: About = { project_id: null, mission_id: null, touched: [] }

const codeOf = (error: unknown): string => (error instanceof Refusal ? error.code : 'internal')

function askedBy(caller: Caller, { way, address }: From, operation: string): Asked {
  return {
    principal: principalOf(caller),
    way,
    address: address === undefined ? null : clipped(address, 60),
    device_id: deviceOf(caller) ?? null,
    token_id: tokenOf(caller) ?? null,
    operation,
  }
}

function principalOf(caller: Caller): AuditPrincipal {
  switch (caller.kind) {
    case 'owner':
      return caller.plugin
        ? { kind: 'plugin', id: clipped(caller.plugin, 120), name: clipped(caller.plugin, 120) }
        : { kind: 'owner', id: null, name: 'owner' }
    case 'session':
      return { kind: 'session', id: caller.session_id, name: `session ${caller.session_id}` }
    case 'monitor':
      return { kind: 'monitor', id: null, name: 'scrape token' }
    default:
      return { kind: caller.kind, id: caller.id, name: clipped(caller.name, 120) }
  }
}

/**
 * The records that an input names. A name that nothing has is not kept: it may be anything, also a secret. An entry is
 * read by people of one project, so it names nothing of another, and first letters mean what the caller means by them.
 */
async function aboutInput(fleet: Fleet, caller: Caller, input: Record<string, unknown>): Promise<About> {
  const sight = sightOfCaller(caller)
  const own = sight === 'fleet' ? [] : await namedIn(seenBy(fleet, caller, sight), input)
  // What the caller may not see is an entry of the project that it is in, which they cannot read.
  const all = own.some(({ project_id }) => project_id !== null) ? own : await namedIn(fleet, input)
  const project_id = all.find(each => each.project_id !== null)?.project_id ?? null
  const named = all.filter(each => each.project_id === project_id)
  const mission_id = named.find(each => each.mission_id !== null)?.mission_id ?? null
  return { project_id, mission_id, touched: named.map(({ name }) => name) }
}

const sightOfCaller = (caller: Caller): Reach => {
  if (caller.kind === 'session') return new Map([[caller.project_id, 'all']])
  return isPrincipal(caller) ? sightFor(caller) : 'fleet'
}

interface Named {
  /** `missions/<id>` */
  name: string
  project_id: string | null
  mission_id: string | null
}

async function namedIn(fleet: Fleet, input: Record<string, unknown>): Promise<Named[]> {
  const found: Named[] = []
  for (const [field, collection] of Object.entries({ ...NAMED, ...BESIDE_PROJECTS })) {
    const ref = input[field]
    if (collection === null || typeof ref !== 'string' || !ref || ref.length > 120) continue
    const stored = await lookUp(fleet, collection, ref).catch(() => undefined)
    const value = stored?.value as { id: string; project_id?: string; mission_id?: string } | undefined
    if (value)
      found.push({
        name: `${collection}/${value.id}`,
        project_id: collection === 'projects' ? value.id : (value.project_id ?? null),
        mission_id: collection === 'missions' ? value.id : (value.mission_id ?? null),
      })
  }
  return found
}
