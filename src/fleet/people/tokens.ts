import { createHash, randomBytes } from 'node:crypto'
import { Forbidden } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { AccessToken, isCurrent, isUsable, MOST_PARENTS, type Principal } from '../../domain/records/principal.ts'
import { same } from '../../platform/keys.ts'
import type { Change } from '../../store/index.ts'
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
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** What a token is to be. */
export type Wanted = Pick<AccessToken, 'name' | 'grants' | 'expires_at'> &
  Partial<Pick<AccessToken, 'parent_id' | 'via' | 'team_id'>>

/** Shown once. Only its hash is kept. Without a principal it is the owner's. */
export async function makeToken(
  fleet: Fleet,
  ask: Ask,
  principal: Principal | null,
  wanted: Wanted,
): Promise<{ token: string; record: AccessToken }> {
  const [id, secret] = [newId(), randomBytes(SECRET_BYTES).toString('base64url')]
  const token = `flt_${id}_${secret}${checksumOf(id, secret)}`
  return { token, record: await keepToken(fleet, ask, principal, { id, token, ...wanted }) }
}

/** `changes`: what must happen in the same commit. */
export async function keepToken(
  fleet: Fleet,
  ask: Ask,
  principal: Principal | null,
  { token, ...wanted }: Wanted & { id: string; token: string },
  changes: readonly Change[] = [],
): Promise<AccessToken> {
  await requireShallow(fleet, wanted.parent_id)
  const { now, actor } = by(fleet, ask)
  const record = AccessToken.parse({
    ...wanted,
    principal_id: principal?.id ?? null,
    hash: hashOf(token),
    epoch: principal?.epoch ?? 0,
    created_at: now,
  })
  // Without a receipt: a repeated request could not be answered with the same token.
  await fleet.commit('commit.wish', {
    changes: [put('tokens', record, 'absent'), ...changes],
    events: [{ kind: 'token_made', time: now, actor, data: dataOf(record) }],
  })
  return record
}

async function requireShallow(fleet: Fleet, parentId: string | null | undefined): Promise<void> {
  const parent = parentId && (await fleet.store.get('tokens', parentId))?.value
  if (parent && (await parentsOf(fleet, parent)).length >= MOST_PARENTS)
    throw new Forbidden('Too many tokens stand behind this one, each made with the one before.', {
      try: 'Make it with a browser, or with an earlier one of them.',
    })
}

/** The tokens behind a token, the nearest first. A missing one is undefined. */
async function parentsOf(fleet: Fleet, { parent_id }: AccessToken): Promise<(AccessToken | undefined)[]> {
  const found: (AccessToken | undefined)[] = []
  for (let next: string | null = parent_id; next && found.length <= MOST_PARENTS; ) {
    const parent: AccessToken | undefined = (await fleet.store.get('tokens', next))?.value
    found.push(parent)
    next = parent?.parent_id ?? null
  }
  return found
}

/** Whether a token is this one, or was made with it. */
export const comesFrom = async (fleet: Fleet, token: AccessToken, id: string): Promise<boolean> =>
  token.id === id || (await parentsOf(fleet, token)).some(parent => parent?.id === id)

/** Whose token this is, if it and all tokens behind it still count. Null: the owner of the home. */
export async function standingHolder(
  fleet: Fleet,
  token: AccessToken | undefined,
): Promise<Principal | null | undefined> {
  const holder = await holderNow(fleet, token)
  if (!token || holder === undefined) return undefined
  for (const parent of await parentsOf(fleet, token))
    if ((await holderNow(fleet, parent)) === undefined) return undefined
  return holder
}

async function holderNow(fleet: Fleet, token: AccessToken | undefined): Promise<Principal | null | undefined> {
  if (!isUsable(token, fleet.now())) return undefined
  if (token.principal_id === null) return null
  const principal = (await fleet.store.get('principals', token.principal_id))?.value
  return isCurrent(principal, token.epoch, fleet.now()) ? principal : undefined
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

/** Newest last, also revoked and expired ones. Null: those of the owner. */
export async function tokensOf(fleet: Fleet, principalId: string | null): Promise<AccessToken[]> {
  return (await Array.fromAsync(all(fleet, 'tokens', 'principal', [principalId ?? 'owner']))).map(({ value }) => value)
}

/** Whose token this is. Undefined: it is none, or no longer valid. */
export async function holderOf(
  fleet: Fleet,
  token: string,
): Promise<{ token: AccessToken; principal: Principal | null } | undefined> {
  const [, id, secret, checksum] = FORM.exec(token) ?? []
  if (!id || !secret || !checksum || checksumOf(id, secret) !== checksum) return undefined
  return holderWith(fleet, id, token)
}

/** The same for a token whose id is known. */
export async function holderWith(
  fleet: Fleet,
  id: string,
  token: string,
): Promise<{ token: AccessToken; principal: Principal | null } | undefined> {
  const record = (await fleet.store.get('tokens', id))?.value
  if (!record || !same(record.hash, hashOf(token))) return undefined
  const principal = await standingHolder(fleet, record)
  if (principal === undefined) return undefined
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
