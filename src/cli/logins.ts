import { rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { Unfit } from '../domain/errors.ts'
import { replaceText, textOf } from '../platform/whole-files.ts'

/** Fleets that this terminal is signed in to. The last one is asked where no other is named. */
const Logins = z.object({
  logins: z.array(z.object({ url: z.string(), token: z.string() })),
})
export type Login = z.infer<typeof Logins>['logins'][number]

/** With the configuration of the person, not in a home: this machine may have none. */
export const loginsFile = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'flotilla', 'logins.json')

function loginsIn(env: NodeJS.ProcessEnv): Login[] {
  const text = textOf(loginsFile(env))
  if (text === undefined) return []
  try {
    return Logins.parse(JSON.parse(text)).logins
  } catch (cause) {
    throw new Unfit(`${loginsFile(env)} is damaged.`, { try: 'Remove it, then fleet login <url>', cause })
  }
}

/** Whether an address is of this machine, which has several names. */
export function isThisMachine(url: string): boolean {
  const { hostname = '' } = URL.parse(url) ?? {}
  return ['localhost', '[::1]'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname)
}

export const originOf = (url: string): string => URL.parse(url)?.origin ?? url

/** The fleet that commands ask, or the one at an address. */
export function loginTo(env: NodeJS.ProcessEnv, url?: string): Login | undefined {
  const logins = loginsIn(env)
  return url === undefined ? logins.at(-1) : logins.find(each => each.url === originOf(url))
}

export function saveLogin(env: NodeJS.ProcessEnv, login: Login): void {
  write(env, [...loginsIn(env).filter(({ url }) => url !== login.url), login])
}

export function forgetLogin(env: NodeJS.ProcessEnv, url: string): void {
  write(
    env,
    loginsIn(env).filter(each => each.url !== url),
  )
}

function write(env: NodeJS.ProcessEnv, logins: Login[]): void {
  const file = loginsFile(env)
  if (logins.length) replaceText(file, textOf(file), `${JSON.stringify({ logins }, null, 2)}\n`, 0o600)
  else rmSync(file, { force: true })
}
