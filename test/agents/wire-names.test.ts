import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { ROOT } from '../kit/fleet.ts'

/** Names in the sources of an adapter that look like protocol names. */
function namesIn(adapter: string, pattern: RegExp): string[] {
  const folder = join(ROOT, 'src/agents', adapter)
  const files = readdirSync(folder).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const text = files.map(name => readFileSync(join(folder, name), 'utf8').replaceAll(/^import .*$/gm, '')).join('\n')
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))].sort()
}

const METHOD = /'([a-z]\w*(?:\/\w+)+)'/g
const SESSION_UPDATE = /'((?:\w+_chunk|\w+_update|tool_call))'/g

const codex = binaryOf('codex')
const acp = binaryOf('claude-agent-acp')
if (!codex || !acp) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!codex)('Codex', () => {
  test('knows every method and notification that its adapter names', () => {
    const home = mkdtempSync(join(tmpdir(), 'flotilla-wire-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const env = { HOME: home, CODEX_HOME: home, PATH: process.env.PATH }
    execFileSync(codex!, ['app-server', 'generate-ts', '--experimental', '--out', join(home, 'ts')], {
      env,
      stdio: 'ignore',
    })
    const unions = ['ClientRequest', 'ClientNotification', 'ServerRequest', 'ServerNotification']
    const known = unions.flatMap(union =>
      [...readFileSync(join(home, 'ts', `${union}.ts`), 'utf8').matchAll(/"method": "([^"]+)"/g)].map(
        ([, name]) => name!,
      ),
    )
    const named = namesIn('codex', METHOD)
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(name => !known.includes(name))).toEqual([])
  })
})

/**
 * Older agents choose their model by this request. It was never in the stable protocol, and newer agents have an
 * option.
 */
const EARLIER = ['session/set_model']

describe.skipIf(!acp)('the Agent Client Protocol', () => {
  const schema = () => {
    const sdk = createRequire(realpathSync(acp!)).resolve('@agentclientprotocol/sdk/schema/v1/schema.unstable.json')
    return JSON.parse(readFileSync(sdk, 'utf8')) as { $defs: Record<string, { 'x-method'?: string; oneOf?: Update[] }> }
  }
  interface Update {
    properties?: { sessionUpdate?: { const?: string } }
  }

  test('knows every method that its adapter names', () => {
    const known = Object.values(schema().$defs).map(each => each['x-method'])
    const named = namesIn('acp', METHOD).filter(name => !name.startsWith('flotilla/'))
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter(name => !known.includes(name))).toEqual(EARLIER)
  })

  test('knows every kind of update that its adapter reads', () => {
    const known = schema().$defs.SessionUpdate!.oneOf!.map(each => each.properties?.sessionUpdate?.const)
    const named = namesIn('acp', SESSION_UPDATE)
    expect(named).toContain('agent_message_chunk')
    expect(named.filter(name => !known.includes(name))).toEqual([])
  })
})
