import { describe, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/domain/errors.ts'
import { type Grant, ROLES } from '../../src/domain/records/principal.ts'
import { aFleet } from '../../src/fleet/fleet.testkit.ts'
import { addPrincipal } from '../../src/fleet/people/principals.ts'
import { makeToken } from '../../src/fleet/people/tokens.ts'
import { authorize } from '../../src/operations/authorize.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { TOOL_SETS } from '../../src/operations/tool-sets.ts'
import { toolsOf } from '../../src/operations/tools.ts'
import { TOPICS } from '../../src/operations/topics.ts'
import { addTeam, aPrincipal, FOREIGN, fill, OWN, refsOf } from '../../src/operations/two-projects.testkit.ts'
import { mcpClient } from '../../src/server/mcp/client.testkit.ts'
import { outside } from '../../src/server/mcp/outside.ts'
import { raw } from '../../src/server/server.testkit.ts'
import { serve } from '../../src/server/server.ts'
import { aReader } from '../../src/server/topics.testkit.ts'
import { held, inputOf, isHeld, OF_A_TASK, OF_TEAMS, pick, published, TYPE_IN_TERMINALS } from './published.ts'

/** What following a topic needs. */
const FOLLOWED: Record<string, string> = {
  fleet: 'missions.read',
  'project:<id>': 'projects.read',
  'mission:<id>': 'missions.read',
  'team:<id>': 'teams.read',
  'session:<id>': 'transcripts.read',
  'claude-fleet': 'missions.read',
}

test('the page has every operation and every role', () => {
  expect([...published.keys()]).toEqual(OPERATIONS.map(({ name }) => name))
  for (const { name } of OPERATIONS) expect(held.has(published.get(name)!.permission!), name).toBe(true)
})

describe('every operation × every role', () => {
  test('in the whole fleet, in the own project, about another project', async () => {
    const fleet = aFleet()
    await fill(fleet, OWN)
    await fill(fleet, FOREIGN)
    const wrong: string[] = []
    let checks = 0
    const isReached = async (operation: Operation, grants: Grant[], project: string) => {
      checks++
      try {
        const seen = await authorize(operation, { fleet, caller: aPrincipal(grants) }, inputOf(operation, project))
        if (published.get(operation.name)!.concerns === 'you') return 'reached'
        // It runs on a fleet: what does not exist there cannot be reached.
        return (await seen.store.get('projects', project)) ? 'reached' : 'not seen'
      } catch (error) {
        if (error instanceof Refusal) return 'refused'
        throw error
      }
    }
    for (const operation of OPERATIONS)
      for (const role of ROLES) {
        const says = isHeld(role, operation)
        const { concerns } = published.get(operation.name)!
        const everywhere = says === '' ? 'refused' : 'reached'
        const namesProject = Object.keys(inputOf(operation, OWN)).length > 0
        const inProject =
          concerns === 'you'
            ? everywhere
            : !['yes', 'project'].includes(says) || concerns === 'fleet' || (concerns === 'either' && !namesProject)
              ? 'refused'
              : 'reached'
        const cases: [string, Grant[], string, string[]][] = [
          ['in the fleet', [{ role, project_id: null }], OWN, [everywhere]],
          ['in the project', [{ role, project_id: OWN }], OWN, [inProject]],
          [
            'about another project',
            [{ role, project_id: OWN }],
            FOREIGN,
            concerns === 'you' ? [everywhere] : ['refused', 'not seen'],
          ],
        ]
        for (const [where, grants, project, expected] of cases) {
          const got = await isReached(operation, grants, project)
          if (!expected.includes(got)) wrong.push(`${operation.name} as ${role} ${where}: ${got}, not ${expected}`)
        }
      }
    for (const operation of OPERATIONS)
      if ((await isReached(operation, [], OWN)) !== 'refused') wrong.push(`${operation.name} without any role`)
    console.log(`${checks} checks, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
    expect(checks).toBeGreaterThan(3000)
  })

  test('with a token for one team, about that team and about another of its project', async () => {
    const fleet = aFleet()
    await fill(fleet, OWN)
    await addTeam(fleet, OWN, FOREIGN)
    const wrong: string[] = []
    let checks = 0
    for (const operation of OPERATIONS.filter(({ name }) => published.get(name)!.concerns !== 'you'))
      for (const role of ROLES) {
        const caller = aPrincipal([{ role, project_id: OWN }], { team: `${OWN}-team`, forAgent: true })
        // What teams have of their own; the rest is of the project, which is theirs.
        const input = { ...inputOf(operation, OWN), ...pick(inputOf(operation, FOREIGN), OF_TEAMS) }
        for (const [about, team] of [
          [inputOf(operation, OWN), OWN],
          [input, FOREIGN],
        ] as const) {
          checks++
          const seen = await authorize(operation, { fleet, caller }, about).catch(error => {
            if (error instanceof Refusal) return undefined
            throw error
          })
          const isSeen = seen && (await seen.store.get('teams', `${team}-team`)) !== undefined
          const may = team === OWN && seen !== undefined
          if ((isSeen ?? false) !== may) wrong.push(`${operation.name} as ${role} about the team of ${team}: ${isSeen}`)
        }
      }
    console.log(`${checks} checks with tokens for one team, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
    expect(checks).toBeGreaterThan(2000)
  })

  test('with a role in one team, about the team, the rest of its project, another team and another project', async () => {
    const fleet = aFleet()
    for (const project of [OWN, FOREIGN]) await fill(fleet, project)
    const other = 'otherteam'
    await addTeam(fleet, OWN, other)
    const wrong: string[] = []
    let checks = 0
    for (const operation of OPERATIONS.filter(({ name }) => published.get(name)!.concerns !== 'you'))
      for (const role of ROLES) {
        const { concerns } = published.get(operation.name)!
        const may = isHeld(role, operation) === 'yes' && concerns !== 'fleet' && !TYPE_IN_TERMINALS.has(operation.name)
        const reads = operation.kind !== 'command'
        const named = { ...inputOf(operation, OWN), ...('mission_id' in operation.input.shape && OF_A_TASK) }
        const inTeam = pick(named, [...OF_TEAMS, 'task_id', 'mission_id', 'project_id'])
        const isOfTeam = Object.keys(inTeam).some(field => field !== 'project_id')
        const inProject = pick(inputOf(operation, OWN), ['project_id', 'mission_id', 'session_id', 'question_id'])
        const inOther = pick(inputOf(operation, other), OF_TEAMS)
        const elsewhere = inputOf(operation, FOREIGN)
        const cases: [string, Record<string, unknown>, boolean][] = [
          ['the team', inTeam, may && (reads || isOfTeam)],
          ['the project', inProject, may && reads],
          ['another team', { ...inProject, ...inOther }, false],
          ['another project', elsewhere, false],
        ]
        for (const [about, input, expected] of cases) {
          if (about !== 'the team' && !Object.keys(about === 'another team' ? inOther : input).length) continue
          checks++
          const caller = aPrincipal([{ role, project_id: OWN, team_id: `${OWN}-team` }])
          const seen = await authorize(operation, { fleet, caller }, input).catch(error => {
            if (error instanceof Refusal) return undefined
            throw error
          })
          const isTeam = about.endsWith('team')
          const [team, project] = [about === 'the team' ? OWN : other, about === 'the project' ? OWN : FOREIGN]
          const reached = isTeam ? seen?.store.get('teams', `${team}-team`) : seen?.store.get('projects', project)
          const isReached = (await reached) !== undefined
          if (isReached !== expected) wrong.push(`${operation.name} as ${role} about ${about}: ${isReached}`)
        }
      }
    console.log(`${checks} checks with roles in one team, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
    expect(checks).toBeGreaterThan(3000)
  })

  test('over REST and MCP, with the token of a service', async () => {
    const fleet = aFleet()
    await fill(fleet, OWN)
    const watched = OPERATIONS.map(operation => ({
      ...operation,
      run: () => {
        throw new Error('reached')
      },
    })) as unknown as typeof OPERATIONS
    const tools = toolsOf(watched)
    const server = await serve(fleet, watched, { port: 0, say: () => {} }, [outside(fleet, tools)])
    onTestFinished(() => server.close())
    const wrong: string[] = []
    let checks = 0
    for (const role of ROLES) {
      const ask = { operation: 'test', actor: 'person' }
      const grants = [{ role, project_id: null }]
      const service = await addPrincipal(fleet, ask, { kind: 'service', name: `a ${role}`, grants })
      const { token } = await makeToken(fleet, ask, service, { name: 't', grants: null, expires_at: null })
      for (const operation of watched) {
        const { method, path, pathFields, rest } = routeOf(operation)
        const refs = refsOf(OWN)
        const address = path.replace(/:(\w+)/g, (_, field) => refs[field] ?? 'someid')
        const query =
          rest === 'query' ? Object.keys(operation.input.shape).filter(each => !pathFields.includes(each)) : []
        const needed = query.filter(each => !operation.input.shape[each]!.safeParse(undefined).success)
        const { status } = await raw(
          server.url,
          method,
          `${address}?${needed.map(each => `${each}=${refs[each] ?? 'someid'}`).join('&')}`,
          { authorization: `Bearer ${token}`, ...(rest === 'body' && { 'content-type': 'application/json' }) },
          rest === 'body' ? {} : undefined,
        )
        checks++
        const may = isHeld(role, operation) !== ''
        if ((status === 403) === may) wrong.push(`${operation.name} as ${role}: ${status}`)
      }
      const { client, call, close } = await mcpClient(`${server.url}/mcp?tools=${Object.keys(TOOL_SETS)}`, token)
      const offered = new Set((await client.listTools()).tools.map(({ name }) => name))
      for (const tool of tools.filter(each => each.operation && each.set !== 'inside')) {
        checks++
        const may = isHeld(role, tool.operation!) !== ''
        if (offered.has(tool.name) && !may) wrong.push(`the tool ${tool.name} is offered to ${role}`)
        if (!offered.has(tool.name) && may) wrong.push(`the tool ${tool.name} is not offered to ${role}`)
      }
      const reading = await call('get_mission', { mission_id: `${OWN}-review` }).catch(error => ({
        text: String(error),
      }))
      expect(reading.text).not.toContain('Your role')
      await close()
    }
    console.log(`${checks} checks over REST and MCP, ${wrong.length} wrong`)
    expect(wrong).toEqual([])
  }, 120_000)

  test('over the WebSocket, every topic in the whole fleet, in the own project and about another', async () => {
    const fleet = aFleet()
    for (const project of [OWN, FOREIGN]) await fill(fleet, project)
    await addTeam(fleet, OWN, 'otherteam')
    const server = await serve(fleet, OPERATIONS, { port: 0, say: () => {} })
    onTestFinished(() => server.close())
    const wrong: string[] = []
    let checks = 0
    for (const role of ROLES)
      for (const place of [null, OWN, 'a team']) {
        const ask = { operation: 'test', actor: 'person' }
        const isInTeam = place === 'a team'
        const grants = [isInTeam ? { role, project_id: OWN, team_id: `${OWN}-team` } : { role, project_id: place }]
        const name = `${role} in ${place ?? 'the fleet'}`
        const service = await addPrincipal(fleet, ask, { kind: 'service', name, grants })
        const { token } = await makeToken(fleet, ask, service, { name: 't', grants: null, expires_at: null })
        const reader = aReader(server.url, { token })
        for (const [topic, permission] of Object.entries(FOLLOWED))
          for (const project of topic.includes('<id>') ? [OWN, FOREIGN] : [null]) {
            const asked = topic.replace('<id>', refsOf(project ?? OWN)[`${topic.split(':')[0]}_id`]!)
            reader.say({ type: 'subscribe', id: ++checks, topics: [asked] })
            const { type } = await reader.hears({ id: checks })
            const isSeen = place === null || project !== FOREIGN
            const may = isSeen && held.get(permission)!.get(role) !== ''
            if ((type === 'subscribed') !== may) wrong.push(`${asked} for ${name}: ${type}`)
          }
        reader.say({ type: 'subscribe', id: ++checks, topics: ['team:otherteam-team'] })
        const { type } = await reader.hears({ id: checks })
        if ((type === 'subscribed') === isInTeam) wrong.push(`another team for ${name}: ${type}`)
        reader.socket.terminate()
      }
    console.log(`${checks} topics over the WebSocket, ${wrong.length} wrong`)
    expect(Object.keys(FOLLOWED)).toEqual(Object.keys(TOPICS))
    expect(wrong).toEqual([])
  })
})
