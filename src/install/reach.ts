import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { textOf } from '../platform/whole-files.ts'
import type { Reach } from './clients.ts'

/** The client starts the program and uses its pipes, so no token is stored. `home`: if it is not the usual one. */
export const byCommand = (program: readonly string[], home: string | undefined, sets: readonly string[]): Reach => {
  const [command, ...first] = program
  const where = home === undefined ? [] : ['--home', home]
  return { command: command!, args: [...first, ...where, 'mcp', ...(sets.length ? ['--tools', sets.join(',')] : [])] }
}

/** Over HTTP; the client takes the token from a variable. */
export function byAddress(server: string, sets: readonly string[]): Reach {
  const url = new URL('/mcp', server)
  if (sets.length) url.searchParams.set('tools', sets.join(','))
  return { url: url.href.replaceAll('%2C', ',') }
}

/**
 * The address of a home's server, even if it is not running, because its port is chosen once. Undefined: it has never
 * run.
 */
export function addressOf(home: string): string | undefined {
  const file = join(home, 'port')
  const port = textOf(file)?.trim()
  return port && `http://127.0.0.1:${port}`
}

/** `fleet` if it is on the PATH, otherwise this program itself. */
export const commandOf = (env: NodeJS.ProcessEnv, program: readonly string[]): string[] =>
  isOnPath('fleet', env) ? ['fleet'] : [...program]

export const isOnPath = (program: string, env: NodeJS.ProcessEnv): boolean =>
  (env.PATH ?? '').split(delimiter).some(folder => folder && isProgram(join(folder, program)))

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
