import { join } from 'node:path'
import { OPERATIONS } from '../../src/operations/index.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { sessionToken } from '../../src/platform/tokens.ts'
import { eventually, NODE, ROOT } from './fleet.ts'
import type { Scene } from './scene.ts'

/** As far as the tests look into one. */
interface Answer {
  error: { code: string; message: string; left?: number }
  limits: object
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A line of a script that asks for an operation as the agent it is. */
export const call = (operation: string, input: object = {}, to = '/dev/null'): string =>
  `${quoted(NODE)} ${quoted(join(ROOT, 'bin/fleet.js'))} call ${operation} ${quoted(JSON.stringify(input))} > ${quoted(to)} 2>&1`

/** A script that does the second part when it is started again. */
export const twice = (first: string[], second: string[]): string =>
  ['if [ "$FLEET_REASON" = first ]; then', ...first, 'else', ...second, 'fi'].join('\n')

export const report = (done: string, more: object = {}) => ({
  ...{ files_changed: 'a.txt', what_done: done, what_open: '', what_tested: ['ran it'], what_untested: '' },
  ...{ next_steps: 'Rest.', errors_encountered: '', ...more },
})

/** An agent that stays at work until the test lets it go, and its token. */
export async function anAgentAtWork({ fleet, project, gate }: Scene, settings: object = {}) {
  const held = gate(`held-${Math.random()}`)
  const { id } = await fleet.mission(project, `echo x > x.txt; ${held.wait}`, settings)
  await eventually('the agent at work', () => held.reached())
  const { sessions } = await fleet.show(id)
  const session = sessions.at(-1)!.id
  const token = sessionToken(fleet.fleet.home, session)
  const ask = async (operation: string, input: Record<string, unknown> = {}) => {
    const { method, path } = routeOf(OPERATIONS.find(({ name }) => name === operation)!)
    const inPath = path.replace(/:(\w+)/g, (_, field: string) => encodeURIComponent(String(input[field])))
    const query = new URLSearchParams(input as Record<string, string>)
    const answer = await fleet.http(method === 'GET' && query.size ? `${inPath}?${query}` : inPath, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(method !== 'GET' && { body: JSON.stringify(input) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answer }
  }
  return { id, session, token, ask, open: held.open }
}
