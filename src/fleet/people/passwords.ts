import { randomBytes, scrypt } from 'node:crypto'
import { Forbidden, NotAllowed } from '../../domain/errors.ts'
import type { Principal } from '../../domain/records/principal.ts'
import { same } from '../../platform/keys.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { changePrincipal, lookUpPrincipal } from './principals.ts'

export const MIN_PASSWORD_CHARS = 10
export const MAX_PASSWORD_CHARS = 200

/** As OWASP advises for scrypt: 32 MB and about a tenth of a second for each guess. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const HASH_BYTES = 32
/** More than this waiting are no people. */
const MOST_WAITING = 20

let waiting = 0
let last: Promise<unknown> = Promise.resolve()

/** One after the other, because each takes much memory. */
async function hashOf(password: string, salt: string): Promise<string> {
  if (waiting >= MOST_WAITING) throw new NotAllowed('Too many people sign in at this moment.', { try: 'Try again.' })
  waiting++
  const hashed = last.then(
    () =>
      new Promise<string>((resolve, reject) => {
        scrypt(password.normalize('NFKC'), salt, HASH_BYTES, COST, (error, key) =>
          error ? reject(error) : resolve(key.toString('base64url')),
        )
      }),
  )
  last = hashed.catch(() => {})
  return hashed.finally(() => waiting--)
}

/** Who changes their own password says the one until now. Browsers and tokens stay signed in. */
export async function setPassword(
  fleet: Fleet,
  ask: Ask,
  id: string,
  { password, current, isSelf }: { password: string; current: string | undefined; isSelf: boolean },
): Promise<void> {
  const salt = randomBytes(16).toString('base64url')
  const hash = await hashOf(password, salt)
  await changePrincipal(fleet, ask, id, 'principal_changed', async principal => {
    if (isSelf && principal.password && !(await isRight(principal.password, current ?? '')))
      throw new Forbidden('This is not your password until now.')
    return { ...principal, password: { salt, hash } }
  })
}

const isRight = async ({ salt, hash }: NonNullable<Principal['password']>, given: string): Promise<boolean> =>
  same(await hashOf(given, salt), hash)

/** Takes as long for a name that nobody has as for a wrong password, so that nobody learns who is here. */
const NOBODY = { salt: 'nobody', hash: '' }

/** The person with this name and password. */
export async function personWith(fleet: Fleet, name: string, password: string): Promise<Principal | undefined> {
  const found = (await lookUpPrincipal(fleet, name).catch(() => undefined))?.value
  // Only by the whole name: ids and their beginnings are no names.
  const person = found && found.name.toLowerCase() === name.toLowerCase() && !found.ended_at ? found : undefined
  const right = await isRight(person?.password ?? NOBODY, password)
  return right ? person : undefined
}
