import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rulesOf } from '../../../src/agents/rules.ts'
import { TOOL_PRESETS, type ToolPreset } from '../../../src/domain/records/project.ts'
import { notesOf } from '../../../src/fleet/missions/notes.ts'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually, FULL } from '../../kit/fleet.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { clientScenes, REAL_CLIENTS, type RealClient } from '../../kit/real-clients.ts'
import type { Step } from '../../model/index.ts'

/** The restriction of a session: a preset, or a list of tools. */
interface Held {
  name: string
  preset: ToolPreset
  tools: string[] | null
}

const preset = (name: ToolPreset): Held => ({ name, preset: name, tools: null })
const tools = (...names: string[]): Held => ({ name: names.join(' '), preset: 'full', tools: names })

const PRESETS_WALKED = TOOL_PRESETS.map(preset)
const LISTS = [
  tools('Bash'),
  tools('Read', 'Bash(ls:*)'),
  tools('Read', 'Edit'),
  tools('Read', 'Edit', 'Write'),
  tools('WebFetch', 'WebSearch'),
]
/** Without FLEET_TEST_SCALE=full: the parts that differ most between clients. */
const PART = ['implement', 'review', 'test', 'Bash']
const PART_OF_CLIENTS = ['claude', 'claude-acp', 'codex', 'gemini', 'opencode']
const WALKED = [...PRESETS_WALKED, ...LISTS].filter(({ name }) => FULL || PART.includes(name))

const FILES = {
  'README.md': 'one\n',
  'docs/lantern.txt': 'lit\n',
  'checks/a.test.mjs': "import { writeFileSync } from 'node:fs'\nwriteFileSync('tested.txt', 'tested')\n",
}

/** The actions that an agent tries. Its commit, the model's log and our records show which ones worked. */
const ACTS = [
  ...['write', 'edit', 'make by edit', 'git log', 'ls', 'run tests', 'write by shell', 'write by git'],
  ...['write by disguise', 'web', 'fleet'],
] as const
type Act = (typeof ACTS)[number]
type Walk = Record<Act, boolean>

const COMMANDS = {
  'git log': 'git log --format=%b -- docs/lantern.txt',
  ls: 'ls -l docs/',
  'run tests': 'node --test checks/a.test.mjs',
  'write by shell': 'echo x > docs/shell.txt',
  'write by git': 'git log --output=docs/git.txt',
  'write by disguise': 'git log --o\\utput=docs/disguise.txt',
} as const

const script = (client: RealClient, url: string, tag: string): Step[] => [
  { write: 'new.txt', content: 'new\n' },
  { read: 'README.md' },
  { edit: 'README.md', from: 'one', to: 'two' },
  { edit: 'made.txt', from: '', to: 'made\n' },
  ...Object.values(COMMANDS).map(run => ({ run })),
  ...client.web(url),
  { tool: client.named('note'), input: { text: `A note of ${tag}` } },
  { say: 'I tried everything.' },
]

/** From the preset alone, for any client. */
function allowedBy(held: Held): Walk {
  const rules = rulesOf({ preset: held.preset, allowedTools: held.tools } as Parameters<typeof rulesOf>[0])
  const has = (...names: string[]) => names.every(name => (rules.tools as readonly string[]).includes(name))
  const runs = (act: keyof typeof COMMANDS) =>
    has('Bash') && (rules.commands?.some(start => COMMANDS[act].startsWith(`${start} `)) ?? true)
  return {
    write: has('Write'),
    edit: has('Edit'),
    'make by edit': has('Write', 'Edit'),
    'git log': runs('git log'),
    ls: runs('ls'),
    'run tests': runs('run tests'),
    'write by shell': has('Bash') && rules.commands === null,
    'write by git': has('Bash') && rules.commands === null,
    'write by disguise': has('Bash') && rules.commands === null,
    web: has('WebFetch') || has('WebSearch'),
    fleet: true,
  }
}

/** Where a client allows less than the preset, or enforces it differently. docs/agents.md lists each case. */
function expectedOf({ name }: RealClient, held: Held): Walk {
  const walk = allowedBy(held)
  const looksOnly = !walk.edit && !held.tools
  switch (name) {
    case 'claude':
    case 'claude (sdk)':
    case 'claude-acp':
      // If it has a shell, it runs commands that it knows to be read-only. Whether those of git are among them differs
      // between sessions. Reading is always allowed, so both are right.
      return walk['run tests'] || held.name.includes('Bash') || looksOnly
        ? { ...walk, 'git log': walk['git log'] || (expect.any(Boolean) as unknown as boolean), ls: true }
        : walk
    case 'codex':
      // Its sandbox enforces the preset: it runs any command and can change nothing. It edits by patches only.
      return { ...walk, 'make by edit': false, ...(looksOnly && { 'git log': true, ls: true }) }
    case 'gemini-acp':
      // It searches the web and lists folders without asking, does not show the command when it asks to run one, and
      // reaches no servers from an untrusted folder.
      if (held.preset === 'full') return walk
      return {
        ...walk,
        ls: true,
        web: true,
        fleet: false,
        ...(!walk.write && { 'git log': false, 'run tests': false }),
      }
    default:
      return walk
  }
}

const isRefused = ({ agent: { can } }: RealClient, held: Held): boolean =>
  held.tools
    ? !can.customTools || (can.presets.includes('test') === false && held.name === 'Read Edit')
    : !can.presets.includes(held.preset)

const { model, sceneOf } = clientScenes()

const visits: string[] = []
const page = createServer((request, response) => {
  visits.push(request.url ?? '')
  response.writeHead(200, { 'content-type': 'text/plain' }).end('a page')
})
beforeAll(() => new Promise<void>(ready => page.listen(0, '127.0.0.1', ready)))
afterAll(() => page.close())

/** A search tool of the provider, offered or used. */
const SEARCHES = /"type":"web_search|"googleSearch"|"urlContext"/

/** The results, with a line for each preset or list. */
const tableOf = (name: string, seen: Record<string, Partial<Walk>>): string =>
  [`${name}: ${ACTS.join(' | ')}`]
    .concat(
      Object.entries(seen).map(([held, walk]) => `${held}: ${ACTS.map(act => (walk[act] ? 'yes' : 'no')).join(' | ')}`),
    )
    .join('\n')

for (const client of REAL_CLIENTS.filter(({ name }) => FULL || PART_OF_CLIENTS.includes(name))) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  describe.skipIf(!client.binary)(`${client.name}, as missions get it`, () => {
    test(`is held to what it was given: ${WALKED.map(({ name }) => name).join(', ')}`, async () => {
      const { fleet, repo, project } = await sceneOf(client, { repository: { files: FILES } })
      await repo.git('commit', '--amend', '--quiet', '-m', 'first', '-m', 'Keepers of the light')
      const walked = WALKED.filter(held => !isRefused(client, held))
      const seen: Record<string, Partial<Walk>> = {}
      const tryAll = async (held: Held) => {
        const tag = `walk-${client.name}-${held.name}`.replace(/\W+/g, '-')
        const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/${tag}`
        const { id } = await fleet.mission(project, `${tag}\n${prompt(...script(client, url, tag))}`, {
          ...(held.tools ? { allowed_tools: held.tools } : { tool_preset: held.preset }),
          mission_type: 'review',
        })
        const mission = await eventually(
          `${client.name} under ${held.name}`,
          async () => {
            const shown = await fleet.show(id)
            return ['review', 'done', 'failed', 'needs_input'].includes(shown.status) ? shown : undefined
          },
          undefined,
          240_000,
        )
        const { end_commit } = (await fleet.fleet.store.get('sessions', mission.session_id!))!.value
        const files = end_commit ? await repo.filesOn(end_commit) : []
        const asked = model()
          .requests.map(({ body }) => JSON.stringify(body ?? ''))
          .filter(body => body.includes(tag))
        seen[held.name] = {
          write: files.includes('new.txt'),
          edit: end_commit !== null && (await repo.readOn(end_commit, 'README.md')) === 'two',
          'make by edit': files.includes('made.txt'),
          'git log': asked.some(body => body.includes('Keepers of the light')),
          ls: asked.some(body => body.includes('-rw-r--')),
          'run tests': files.includes('tested.txt'),
          'write by shell': files.includes('docs/shell.txt'),
          'write by git': files.includes('docs/git.txt'),
          'write by disguise': files.includes('docs/disguise.txt'),
          web: visits.includes(`/${tag}`) || asked.some(body => SEARCHES.test(body)),
          fleet: notesOf(fleet.fleet, id).knowledge.includes(tag),
        }
      }
      // A client sets itself up at its first start in a new home, and some cannot do that in parallel.
      await tryAll(walked[0]!)
      await Promise.all(walked.slice(1).map(tryAll))
      if (FULL) console.log(tableOf(client.name, seen))
      expect(seen).toEqual(Object.fromEntries(walked.map(held => [held.name, expectedOf(client, held)])))
    }, 300_000)
  })
}
