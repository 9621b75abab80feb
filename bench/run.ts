// Measures what the program promises, compares each figure with a floor of the same run, and writes bench/results.md.
//   npm run bench [-- --quick] [-- <figure>…]
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { adoption } from './adoption.ts'
import { authorization } from './authorization.ts'
import type { Bench, Row, Scale } from './figure.ts'
import { handOver } from './hand-over.ts'
import { history } from './history.ts'
import { idle } from './idle.ts'
import { large } from './large.ts'
import { live } from './live.ts'
import { mail } from './mail.ts'
import { members } from './members.ts'
import { packages } from './packages.ts'
import { page } from './page.ts'
import { search } from './search.ts'
import { stages } from './stages.ts'
import { startUp } from './start-up.ts'
import { throughput } from './throughput.ts'
import { transcripts } from './transcripts.ts'

const BENCHES: Record<string, Bench> = {
  startUp,
  handOver,
  throughput,
  live,
  idle,
  adoption,
  history,
  stages,
  transcripts,
  page,
  packages,
  search,
  authorization,
  mail,
  members,
  large,
}
/** These run only when they are named. */
const BY_NAME = ['large']
const RESULTS = join(import.meta.dirname, 'results.md')

// The load of the machine: on a busy one every time is longer, and ratios mean more than milliseconds.
const [loadBefore] = loadavg()
const quick = process.argv.includes('--quick')
const scale: Scale = { quick, of: (full, less) => (quick ? less : full) }
const wanted = process.argv.slice(2).filter(arg => !arg.startsWith('--'))
const unknown = wanted.find(name => !Object.hasOwn(BENCHES, name))
if (unknown) throw new Error(`no figure is called ${unknown}; there are ${Object.keys(BENCHES).join(', ')}`)

const rows: Row[] = []
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length ? !wanted.includes(name) : BY_NAME.includes(name)) continue
  process.stderr.write(`${name} …\n`)
  rows.push(...(await bench(scale)))
}
const text = `${heading()}\n\n${table(rows)}\n`
process.stdout.write(text)
// A part of the figures, or a short run, is not a result.
if (!quick && !wanted.length)
  writeFileSync(
    RESULTS,
    `# Measurements\n\nWritten by \`npm run bench\`. Each figure stands beside a floor measured in the same run.\n\n${text}`,
  )

function heading(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--', '../src', '../bin') ? ' with changes' : ''
  return `${new Date().toISOString().slice(0, 16)}Z, commit ${git('rev-parse', '--short=12', 'HEAD')}${changed}, ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${git('version')}, load ${loadBefore!.toFixed(1)} before it began${quick ? ', short run' : ''}`
}

function table(lines: readonly Row[]): string {
  const cells = [
    ['figure', 'measured', 'floor', 'demanded', 'verdict'],
    ...lines.map(row => [row.figure, row.measured, row.floor, row.demanded, row.met ? 'met' : '**falls short**']),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map(line => line[column]!.length)))
  const drawn = cells.map(line => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`)
  return [drawn[0], `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`, ...drawn.slice(1)].join('\n')
}
