import { expect, onTestFinished, test } from 'vitest'
import { type Grant, ROLES } from '../../src/domain/records/principal.ts'
import { aFleet } from '../../src/fleet/fleet.testkit.ts'
import { addPrincipal } from '../../src/fleet/people/principals.ts'
import { makeToken } from '../../src/fleet/people/tokens.ts'
import { CLAUDE_FLEET_ROUTES } from '../../src/operations/aliases/claude-fleet/index.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { FOREIGN, fill, OWN, refsOf } from '../../src/operations/two-projects.testkit.ts'
import { raw } from '../../src/server/server.testkit.ts'
import { serve } from '../../src/server/server.ts'
import { VIEWS } from '../../web/src/views.ts'

test('no address of another tool is one of ours, or a page', () => {
  const form = (path: string): string => path.replace(/:\w+/g, ':')
  const pages = VIEWS.map(view => `GET ${form(view)}`)
  const own = OPERATIONS.map(each => form(each.http))
  const theirs = CLAUDE_FLEET_ROUTES.map(({ http }) => form(http))
  expect(theirs.filter(each => pages.includes(each) || own.includes(each))).toEqual([])
  expect(new Set(theirs).size).toBe(theirs.length)
})

/** What a client of claude-fleet sends, about something in a project. */
function bodyOf(project: string): Record<string, unknown> {
  const member = `${project}-member`
  return {
    ...{
      from: member,
      to: member,
      uid: member,
      uid1: member,
      uid2: 'other',
      handle: member,
      teamName: `team-of-${project}`,
    },
    ...{
      fromHandle: member,
      toHandle: member,
      senderHandle: member,
      readerHandle: member,
      swarmId: `${project}-swarm`,
    },
    ...{ messageIds: [`${project}-post`], messageType: 'status', payload: {}, context: {}, goal: 'x', now: 'x' },
    ...{ text: 'x', body: 'x', message: 'x', name: 'xyz', title: 'xyz', subject: 'xyz', task: 'x' },
    ...{ requesterHandle: member, targetAgentType: 'worker', workerHandle: member },
  }
}

async function aWorld() {
  const fleet = aFleet()
  await fill(fleet, OWN)
  await fill(fleet, FOREIGN)
  const server = await serve(fleet, OPERATIONS, { port: 0, say: () => {} })
  onTestFinished(() => server.close())
  const ask = { operation: 'test', actor: 'person' }
  const enter = async (name: string, grants: Grant[]) => {
    const service = await addPrincipal(fleet, ask, { kind: 'service', name, grants })
    return (await makeToken(fleet, ask, service, { name: 't', grants: null, expires_at: null })).token
  }
  /** Every route, about what is in this project. */
  const walk = async (token: string | undefined, project: string) => {
    const refs = refsOf(project)
    const values: Record<string, string> = {
      ...{ uid: refs.member!, handle: refs.member!, team: `team-of-${project}`, swarmId: refs.swarm_id! },
      chat: [refs.member, 'other'].toSorted().join('.'),
    }
    const idOf = (http: string): string =>
      /\/(tasks|workitems|batches)/.test(http)
        ? refs.task_id!
        : http.includes('/spawn-queue')
          ? refs.spawn_id!
          : http.includes('/swarms')
            ? refs.swarm_id!
            : http.includes('/checkpoints')
              ? refs.checkpoint_id!
              : refs.mail_id!
    const answers = []
    for (const route of CLAUDE_FLEET_ROUTES) {
      const { method, path, pathFields, rest } = routeOf(route)
      const address = path.replace(/:(\w+)/g, (_, field) => values[field] ?? idOf(route.http))
      const body = Object.fromEntries(
        Object.entries(bodyOf(project)).filter(([name]) => name in route.input.shape && !pathFields.includes(name)),
      )
      const { status, text } = await raw(
        server.url,
        method,
        address,
        {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(rest === 'body' && { 'content-type': 'application/json' }),
        },
        rest === 'body' ? body : undefined,
      )
      answers.push({ http: route.http, status, text })
    }
    return answers
  }
  return { enter, walk }
}

test('every route × every role: nothing without a right to it, and nothing of another project', async () => {
  const { enter, walk } = await aWorld()
  const wrong: string[] = []
  for (const role of ROLES) {
    const token = await enter(`a ${role}`, [{ role, project_id: OWN }])
    const own = await walk(token, OWN)
    // A merger and a monitor only read in teams. Opening a chat writes nothing.
    const reads = (http: string): boolean => http.startsWith('GET ') || http === 'POST /chats'
    if (role === 'merger' || role === 'monitor')
      for (const { http, status, text } of own)
        if (!reads(http) && status < 400) wrong.push(`${role} may ${http}: ${text}`)
    for (const { http, status, text } of await walk(token, FOREIGN)) {
      if (text.replaceAll(`"id":"${FOREIGN}`, '').includes(`of-${FOREIGN}`) && status === 200)
        wrong.push(`${role} is shown another project by ${http}: ${text}`)
      // What is not about a record is about the only team that its reader sees.
      const lists = / \/(orchestrate\/workers|swarms|workitems|batches|spawn-queue\/status)$/.test(http)
      if (status === 200 && !lists) wrong.push(`${role} reaches another project by ${http}: ${text}`)
    }
  }
  for (const [name, token] of [
    ['nobody', await enter('nobody', [])],
    ['a stranger', undefined],
  ] as const)
    for (const { http, status } of await walk(token, OWN)) if (status < 400) wrong.push(`${name} may ${http}`)
  expect(wrong).toEqual([])
}, 300_000)
