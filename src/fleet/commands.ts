import { NotAllowed } from '../domain/errors.ts'
import type { Receipt } from '../domain/records/fleet.ts'
import type { Mission } from '../domain/records/mission.ts'
import type { By, Step } from '../domain/rules/life.ts'
import type { Batch, Change, Check, Stored } from '../store/index.ts'
import { type Fleet, retryOnConflict, retryUntilKnown } from './fleet.ts'
import { current, derivedId, put } from './records.ts'

/** Who asks for which command, with an optional key: the same request with the same key does not happen twice. */
export interface Ask {
  operation: string
  actor: string
  key?: string
  /** A fingerprint of the input: a key is refused when it comes again with another input. */
  input?: string
}

export const by = (fleet: Fleet, ask: Pick<Ask, 'actor'>): By => ({ actor: ask.actor, now: fleet.now() })

/** Carries out a command once per key: its changes are committed with a receipt that names its subject. */
export async function oncePerKey(
  fleet: Fleet,
  ask: Ask,
  decide: () => Promise<Batch & { subject: string }>,
): Promise<string> {
  const receiptId = ask.key && derivedId(ask.operation, ask.actor, ask.key)
  const persist = receiptId ? retryUntilKnown : retryOnConflict
  return persist(async () => {
    const receipt = receiptId && (await fleet.store.get('receipts', receiptId))
    if (receipt) {
      requireSame(receipt.value, ask)
      return receipt.value.subject
    }
    const { subject, ...batch } = await decide()
    const changes: Change[] = receiptId
      ? [
          ...batch.changes,
          put(
            'receipts',
            {
              id: receiptId,
              operation: ask.operation,
              subject,
              input: ask.input ?? null,
              created_at: fleet.now(),
            },
            'absent',
          ),
        ]
      : batch.changes
    if (changes.length || batch.events?.length) await fleet.commit('commit.wish', { ...batch, changes })
    return subject
  })
}

function requireSame({ input }: Receipt, ask: Ask): void {
  if (input !== null && ask.input !== undefined && input !== ask.input)
    throw new NotAllowed('This idempotency key was used for something else.', {
      try: 'Use another key, or send exactly what was sent with it before.',
    })
}

type Decision = Step & { changes?: Change[]; checks?: Check[] }

/** A command on one mission: read it, decide, commit against the version read. */
export async function changeMission(
  fleet: Fleet,
  id: string,
  ask: Ask,
  decide: (mission: Mission, by: By) => Decision | Promise<Decision>,
): Promise<Stored<Mission>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'missions', id)
    if (value.deleting) throw new NotAllowed(`Mission ${id} is being deleted.`)
    const decision = await decide(value, by(fleet, ask))
    return {
      subject: id,
      changes: [put('missions', decision.mission, version), ...(decision.changes ?? [])],
      checks: decision.checks,
      events: decision.events,
    }
  })
  return current(fleet, 'missions', id)
}
