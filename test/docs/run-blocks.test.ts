import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NODE, ROOT } from '../kit/fleet.ts'
import { blocksOf, isRun, PAGES } from './pages.ts'

const pages = PAGES.map(page => ({ ...page, blocks: blocksOf(page).filter(isRun) })).filter(page => page.blocks.length)
/** Less than the five minutes that a reader has for the first page, and enough for a loaded machine. */
const PATIENCE_MS = 150_000

describe.concurrent('what the pages tell people to type works', () => {
  test.for(pages)('$path', { timeout: PATIENCE_MS + 30_000 }, async ({ path, blocks }, { onTestFinished }) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-docs-')))
    onTestFinished(async () => {
      await shell(root, 'fleet down --agents')
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    })
    for (const folder of ['bin', 'home', 'work', 'tmp']) mkdirSync(join(root, folder))
    writeFileSync(join(root, 'bin/fleet'), `#!/bin/sh\nexec '${NODE}' '${ROOT}/bin/fleet.js' "$@"\n`)
    chmodSync(join(root, 'bin/fleet'), 0o755)

    // One shell for the whole page, as a reader has, so that folders and variables carry over between blocks.
    const script = blocks.map(({ line, text }) => `echo '# ${path}:${line}'\n${text}`).join('\n')
    const { code, output } = await shell(root, `set -e\n${script}`)
    expect(code, output).toBe(0)
  })
})

test('the first page is among them', () => {
  expect(pages.map(page => page.path)).toContain('README.md')
})

/** An environment of its own: home, temporary folder and a name for commits. */
function shell(root: string, script: string): Promise<{ code: number | null; output: string }> {
  const env = {
    PATH: [join(root, 'bin'), dirname(NODE), process.env.PATH].join(delimiter),
    LANG: 'C.UTF-8',
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'user.name',
    GIT_CONFIG_VALUE_0: 'A reader',
    GIT_CONFIG_KEY_1: 'user.email',
    GIT_CONFIG_VALUE_1: 'reader@example.org',
  }
  return new Promise((resolve, reject) => {
    // A command that hangs is killed, so that the output up to there is shown.
    const options = { cwd: join(root, 'work'), env, timeout: PATIENCE_MS }
    const child = spawn('sh', ['-c', script], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    // A server that was started keeps none of our pipes open, so the output ends with the shell.
    child.once('error', reject).once('exit', code => resolve({ code, output }))
  })
}
