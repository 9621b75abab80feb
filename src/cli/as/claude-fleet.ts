import { Refusal, Unreachable } from '../../domain/errors.ts'
import { openHome } from '../../platform/home.ts'
import { openKeys } from '../../platform/keys.ts'
import { tokenFor } from '../client.ts'
import type { Cli } from '../command.ts'
import { complain } from '../errors.ts'
import { EXIT } from '../exit.ts'
import { homeOf, namedServer } from '../server.ts'
import type { TheirCommand, TheirRequest } from './commands-of-claude-fleet.ts'

/** Sends what the command stands for, and prints the answer as JSON, or a list as a table. */
export async function askAsTheirs(
  cli: Cli,
  { ask, columns }: TheirCommand,
  args: string[],
  { token, table }: { token?: string; table: boolean },
): Promise<number> {
  const { terminal } = cli
  try {
    const answer = await sent(await serverOf(cli, token), ask(args))
    if (table && columns && Array.isArray(answer))
      terminal.table(
        columns.map(([title, field]) => ({
          title,
          value: (row: Record<string, unknown>) => terminal.foreign(wordOf(row[field])),
        })),
        answer,
      )
    else terminal.data(answer)
    return EXIT.done
  } catch (error) {
    complain(error, terminal.streams, terminal.json)
    return EXIT.failed
  }
}

const wordOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** The named server with its token; otherwise the one of this home, which is started. */
async function serverOf({ where, client }: Cli, given: string | undefined): Promise<{ url: string; token: string }> {
  const named = where.url ?? (where.env.CLAUDE_FLEET_URL || namedServer(where))
  if (named) return { url: named, token: given ?? (await tokenFor(named, { ...where, url: named })) }
  await (await client()).wake()
  const home = openHome(homeOf(where))
  const { runningServer } = await import('../../daemon/running.ts')
  const running = await runningServer(home)
  if (!running) throw new Unreachable('No fleet is running on this home.', { try: 'fleet up --detach' })
  return { url: running.url, token: given ?? where.env.FLEET_TOKEN ?? (await openKeys(home).ownerToken()) }
}

class Refused extends Refusal {
  readonly code = 'refused'
  readonly exit = EXIT.failed
  readonly status: number
  constructor(status: number, message: string, more: { try?: string; facts?: Record<string, unknown> }) {
    super(message, more)
    this.status = status
  }
}

async function sent(
  { url, token }: { url: string; token: string },
  { method, path, body }: TheirRequest,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(new URL(path, url), {
    ...{ method, headers },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new Unreachable(`The server at ${url} cannot be reached.`, { try: 'fleet up --detach', cause })
  })
  const told: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && told !== undefined) return told
  const { error, hint, ...facts } = (told ?? {}) as {
    error?: string | { message: string; try?: string }
    hint?: string
  }
  if (typeof error === 'string') throw new Refused(answer.status, error, { try: hint, facts })
  if (error) throw new Refused(answer.status, error.message, { try: error.try })
  throw new Unreachable(`The program at ${url} is not a fleet (status ${answer.status}).`, { try: 'fleet status' })
}
