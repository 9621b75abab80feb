import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NODE, ROOT } from '../kit/fleet.ts'

const DIST = join(ROOT, 'dist')
const root = mkdtempSync(join(tmpdir(), 'flotilla-size-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** In kB. Raise one only for a reason that its commit gives. */
const BUDGET = { 'mission list': 450, bundle: 3300, program: 6300 }

test('fleet mission list evaluates little of the bundle, and stays quick', () => {
  const files = evaluatedBy('mission', 'list')
  expectWithin(
    'mission list',
    sum(files.map(({ bytes }) => bytes)),
    `Find out who uses what is new among these; import it where it is used, not at the top of a schema:\n${files
      .toSorted((a, b) => b.bytes - a.bytes)
      .map(({ name, bytes }) => `${bytes} ${name}`)
      .join('\n')}`,
  )
})

test('the bundle and the whole program stay small', () => {
  const sizes = readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.startsWith(join(DIST, 'web')))
    .map(entry => statSync(join(entry.parentPath, entry.name)).size)
  expectWithin(
    'bundle',
    statSync(join(DIST, 'fleet.cjs')).size,
    'Every command reads it whole. Move what few commands need into a file of its own: SEPARATE_PACKAGES and SEPARATE_FILES in scripts/build.mjs.',
  )
  expectWithin('program', sum(sizes), 'Look for a new package in dist/THIRD-PARTY-LICENSES.txt that is not worth it.')
})

function expectWithin(name: keyof typeof BUDGET, bytes: number, advice: string): void {
  const kilobytes = Math.ceil(bytes / 1000)
  if (kilobytes > BUDGET[name])
    expect.fail(
      `${name}: ${kilobytes} kB are more than the budget of ${BUDGET[name]} kB in ${import.meta.filename}. ${advice}`,
    )
}

/** The files of the bundle that a command evaluates, as V8 counts it: each is a function with the name of the file. */
function evaluatedBy(...command: string[]): { name: string; bytes: number }[] {
  const coverage = join(root, 'coverage')
  execFileSync(NODE, [join(ROOT, 'bin/fleet.js'), ...command], {
    env: { PATH: process.env.PATH, HOME: root, FLEET_HOME: join(root, 'home'), NODE_V8_COVERAGE: coverage },
    stdio: 'ignore',
  })
  const { result } = JSON.parse(readFileSync(join(coverage, readdirSync(coverage)[0]!), 'utf8'))
  const bundle = result.find(({ url }: { url: string }) => url.endsWith('/dist/fleet.cjs'))
  const files = bundle.functions
    .filter(({ functionName, ranges }: Counted) => /\.[cm]?[jt]s$/.test(functionName) && ranges[0].count > 0)
    .map(({ functionName, ranges: [{ startOffset, endOffset }] }: Counted) => ({
      name: functionName,
      bytes: endOffset - startOffset,
    }))
  expect(files.length).toBeGreaterThan(50)
  return files
}

interface Counted {
  functionName: string
  ranges: [{ startOffset: number; endOffset: number; count: number }]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
