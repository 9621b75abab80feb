// Takes the picture in the README: a real server, the real Claude Code client and a scripted model, in the middle of a
// day's work. It needs chromium, and the client (`node test/clients/install.mjs claude`).
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { aRepository } from '../src/git/testkit.ts'
import { aBrowser, comeIn, signInLink } from '../test/browser/opening.ts'
import { claudeBinary, HOW_TO_INSTALL } from '../test/clients/clients.ts'
import { aFleet, eventually, ROOT } from '../test/kit/fleet.ts'
import { type Step, startModel, steps } from '../test/model/index.ts'

const PICTURE = join(ROOT, 'docs/images/dashboard.png')
const SIZE = { width: 1440, height: 900 }

const SERVER = `import { createServer } from 'node:http'

export const server = createServer((request, response) => {
  response.end('Harbour')
})
`
const FILES = {
  'README.md': '# Harbour\n\nBerths, tides and arrivals.\n',
  'src/server.js': SERVER,
  'src/tides.js': 'export const tideAt = hour => Math.sin(hour / 2)\n',
  'test/tides.test.js': "import { tideAt } from '../src/tides.js'\n",
}

const binary = claudeBinary()
if (!binary) throw new Error(HOW_TO_INSTALL)
const model = await startModel()
const fleet = await aFleet({
  env: {
    PATH: `${dirname(binary)}:${process.env.PATH}`,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'test-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
})
const gate = join(fleet.root, 'gate')
/** Holds an agent in the middle of its work until the picture is taken. */
const held = `until [ -e ${gate} ]; do sleep 0.1; done`
const repository = await aRepository({
  files: { ...FILES, 'package.json': JSON.stringify({ scripts: { test: held, build: held, lint: held } }) },
})
const write = (file: string, lines: number): Step => ({
  write: file,
  content: Array.from({ length: lines }, (_, i) => `export const berth${i} = ${i}\n`).join(''),
})
const USED = { tokens: { input: 18_400, output: 2_900, cacheRead: 41_000 } }
const say = (text: string): Step => ({ say: text, ...USED })

try {
  await fleet.start()
  const project = await fleet.project(repository.path, { name: 'Harbour', agent: 'claude', daily_budget_usd: 20 })
  const mission = (title: string, script: Step[], more: object = {}) =>
    fleet.mission(project, `${title}.\n${steps(...script)}`, { title, agent: 'claude', ...more })
  const landed = [
    await mission('Cache the tide table', [write('src/cache.js', 24), say('Tides are cached for an hour.')]),
    await mission('Document the arrivals API', [write('docs/arrivals.js', 12), say('Every route is described.')]),
    await mission('Retry lost radio messages', [write('src/radio.js', 31), say('Three tries, with growing pauses.')]),
  ]
  for (const { id } of landed) await fleet.until(id, 'done')
  const reviews = [
    await mission('Assign berths by draught', [write('src/berths.js', 86), say('Deep ships get deep berths.')], {
      landing: 'review',
    }),
    await mission('Log every arrival', [write('src/log.js', 19), say('One line per arrival, with the time.')], {
      landing: 'review',
    }),
  ]
  for (const { id } of reviews) await fleet.until(id, 'review')
  const running = [
    await mission('Write tests for the tides', [write('test/spring-tides.test.js', 40), { run: 'npm test' }]),
    await mission('Stream arrivals to the page', [write('src/stream.js', 52), { run: 'npm run build' }]),
    await mission('Move the schedule to UTC', [write('src/clock.js', 8), { run: 'npm run lint' }]),
  ]
  await mission('Announce delays', [say('Done.')], { depends_on: [running[1]!.id] })
  await mission('Open the harbour gate', [{ run: 'npm run deploy -- --dry-run' }, say('Done.')], {
    tool_preset: 'review',
    approvals: 'ask',
  })
  await eventually('the agents to be at work', async () => {
    const { questions } = await fleet.call<{ questions: object[] }>('list_inbox')
    const { events } = await fleet.fleet.store.events({ limit: 500 })
    return questions.length > 0 && events.filter(({ kind }) => kind === 'session_starting').length >= 8
      ? true
      : undefined
  })
  const browser = await aBrowser()
  const page = await browser.newPage({ viewport: SIZE, reducedMotion: 'reduce' })
  await comeIn(page, await signInLink(fleet))
  await page.getByText('Write tests for the tides').first().waitFor()
  // Their sizes and risks arrive after the cards.
  await page
    .getByText(/ risk$/)
    .nth(reviews.length - 1)
    .waitFor()
  await eventually('the page to be filled', async () =>
    (await page.locator('[aria-busy="true"]').count()) === 0 ? true : undefined,
  )
  mkdirSync(dirname(PICTURE), { recursive: true })
  await page.screenshot({ path: PICTURE })
  await browser.close()
} finally {
  writeFileSync(gate, '')
  await fleet.remove()
  await repository.remove()
  await model.close()
}
