import type { Repository } from './layout.ts'
import { settingsOf } from './private/settings.ts'

export const FALLBACK = { name: 'Flotilla', email: 'fleet@localhost' }

type Role = 'author' | 'committer'

interface Person {
  name: string
  email: string
}

/** Who makes a commit in a project, as `asSomeone` would have it. Undefined: only git can say. */
export async function peopleIn(repo: Repository): Promise<{ author: Person; committer: Person } | undefined> {
  const { identity } = await settingsOf(repo)
  const partOf = (role: Role, part: keyof Person): string | undefined => {
    const set = (key: string) => identity.findLast(setting => setting.key === key)?.value
    const value = set(`${role}.${part}`) ?? set(`user.${part}`)
    return process.env[`GIT_${role}_${part}`.toUpperCase()] ?? (value && Buffer.from(value, 'latin1').toString('utf8'))
  }
  const personOf = (role: Role) => ({ name: partOf(role, 'name'), email: partOf(role, 'email') })
  const [author, committer] = [personOf('author'), personOf('committer')]
  const parts = [author.name, author.email, committer.name, committer.email]
  if (parts.includes(undefined)) return { author: FALLBACK, committer: FALLBACK }
  // Values that git refuses, or would have to recode, are left to it.
  if (parts.some(part => !clean(part!) || part!.includes('\uFFFD'))) return undefined
  const cleaned = (person: typeof author): Person => ({ name: clean(person.name!), email: clean(person.email!) })
  return { author: cleaned(author), committer: cleaned(committer) }
}

/** Git leaves these out at both ends, and the brackets everywhere. */
const AT_ENDS = /^[\0- .,:;<>"\\']+|[\0- .,:;<>"\\']+$/g
const clean = (text: string): string => text.replace(AT_ENDS, '').replace(/[\n<>]/g, '')

/** A moment as commits have it: seconds, and the time zone of this machine at that time. */
export function stampOf(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  const two = (number: number): string => String(Math.floor(Math.abs(number))).padStart(2, '0')
  return `${Math.floor(at.getTime() / 1000)} ${minutes < 0 ? '-' : '+'}${two(minutes / 60)}${two(minutes % 60)}`
}
