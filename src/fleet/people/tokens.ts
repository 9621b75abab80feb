import { createHash, randomBytes } from 'node:crypto'
import { newId } from '../../domain/ids.ts'
import { AccessToken, type Grant, isCurrent, isUsable, type Principal } from '../../domain/records/principal.ts'
import { same } from '../../platform/keys.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, put } from '../records.ts'

/** `flt_<id>_<secret><checksum>`: scanners recognise it, and a mistyped one is refused without a look at the store. */
const FORM = /^flt_([0-9a-z]{12})_([\w-]{43})([0-9a-f]{8})$/
const SECRET_BYTES = 32
/** The time of the last use is for people, so it need not be exact. */
const NOTE_USE_EVERY_MS = 60_000

const checksumOf = (id: string, secret: string): string =>
  createHash('sha256').update(`flt ${id} ${secret}`).digest('hex').slice(0, 8)
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Shown once. Only its hash is kept. */
export async function makeToken(
  fleet: Fleet,
  ask: Ask,
  principal: Principal,
  wanted: { name: string; grants: Grant[] | null; expires_at: string | null },
): Promise<{ token: string; record: AccessToken }> {
  const [id, secret] = [newId(), randomBytes(SECRET_BYTES).toString('base64url')]
  const token = `flt_${id}_${secret}${checksumOf(id, secret)}`
  const { now, actor } = by(fleet, ask)
  const record = AccessToken.parse({
    ...wanted,
    id,
    principal_id: principal.id,
    hash: hashOf(token),
    epoch: principal.epoch,
    created_at: now,
  })
  // Without a receipt: a repeated request could not be answered with the same token.
  await fleet.commit('commit.wish', {
    changes: [put('tokens', record, 'absent')],
    events: [{ kind: 'token_made', time: now, actor, data: dataOf(record) }],
  })
  return { token, record }
}

export async function revokeToken(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'tokens', id)
    if (value.revoked_at) return { subject: id, changes: [], events: [] }
    const { now, actor } = by(fleet, ask)
    return {
      subject: id,
      changes: [put('tokens', { ...value, revoked_at: now }, version)],
      events: [{ kind: 'token_revoked', time: now, actor, data: dataOf(value) }],
    }
  })
}

const dataOf = ({ id, name, principal_id }: AccessToken) => ({ token_id: id, name, principal_id })

/** Newest last, also revoked and expired ones. */
export async function tokensOf(fleet: Fleet, principalId: string): Promise<AccessToken[]> {
  return (await Array.fromAsync(all(fleet, 'tokens', 'principal', [principalId]))).map(({ value }) => value)
}

/** Whose token this is. Undefined: it is none, or no longer valid. */
export async function holderOf(
  fleet: Fleet,
  token: string,
): Promise<{ token: AccessToken; principal: Principal } | undefined> {
  const [, id, secret, checksum] = FORM.exec(token) ?? []
  if (!id || !secret || !checksum || checksumOf(id, secret) !== checksum) return undefined
  const record = (await fleet.store.get('tokens', id))?.value
  if (!isUsable(record, fleet.now()) || !same(record.hash, hashOf(token))) return undefined
  const principal = (await fleet.store.get('principals', record.principal_id))?.value
  if (!isCurrent(principal, record.epoch)) return undefined
  await noteUse(fleet, record)
  return { token: record, principal }
}

async function noteUse(fleet: Fleet, { id, last_used_at }: AccessToken): Promise<void> {
  const now = fleet.now()
  if (last_used_at && Date.parse(now) - Date.parse(last_used_at) < NOTE_USE_EVERY_MS) return
  await retryOnConflict(async () => {
    const stored = await fleet.store.get('tokens', id)
    if (!stored || stored.value.revoked_at) return
    const changes = [put('tokens', { ...stored.value, last_used_at: now }, stored.version)]
    await fleet.commit('commit.wish', { changes })
  }).catch(() => {
    // A store that cannot be written still answers.
  })
}
