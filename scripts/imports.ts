/**
 * The tables in docs/architecture.md say which folder may import which, and what each area of the fleet is for. This
 * checks that the code matches: no other imports, no cycles, and every area is listed and not too large. With --tables
 * it prints files, lines and imports per folder.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const TABLE = 'docs/architecture.md'
const MOST_LINES = 2500
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.[^']+)'/g

/** `src/agents/claude/read.ts` is in `agents`, everything below `web/src` is in `web`. */
const roomOf = (file: string): string => (file.startsWith('web/') ? 'web' : file.split('/')[1]!)
/** An area is a folder in src/fleet. */
const areaOf = (file: string): string | undefined => /^src\/fleet\/([^/]+)\//.exec(file)?.[1]

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(file => /\.(tsx?|m?js)$/.test(file) && !/\.(test|testkit)\.tsx?$|\/testkit\.ts$/.test(file))
}

const files = new Set([...sources('src'), ...sources('web/src')])
const text = new Map([...files].map(file => [file, readFileSync(join(root, file), 'utf8')]))
const linesOf = (file: string): number => text.get(file)!.split('\n').length - 1
const imports = new Map(
  [...files].map(file => {
    const named = [...text.get(file)!.matchAll(IMPORT)].map(([, path]) =>
      relative(root, resolve(root, dirname(file), path!)),
    )
    return [file, named.filter(each => files.has(each))]
  }),
)

const page = readFileSync(join(root, TABLE), 'utf8')

/** Rows such as | `src/git` | its job | `domain` `platform` |. */
function table(): Map<string, Set<string>> {
  const rows = [...page.matchAll(/^\| `(?:src\/(\w+)|(web))` \| [^|]* \| ([^|]*) \|$/gm)]
  return new Map(
    rows.map(([, room, web, may]) => [room ?? web!, new Set([...may!.matchAll(/`(\w+)`/g)].map(([, each]) => each!))]),
  )
}

/** Areas that the page does not list, or that are too large. */
function areas(): string[] {
  const sizes = new Map<string, number>()
  for (const file of files) {
    const area = areaOf(file)
    if (area) sizes.set(area, (sizes.get(area) ?? 0) + linesOf(file))
  }
  return [...sizes].flatMap(([area, lines]) => [
    ...(page.includes(`\n| \`${area}\` | `) ? [] : [`${TABLE} does not say what src/fleet/${area} is for.`]),
    ...(lines > MOST_LINES ? [`src/fleet/${area} has ${lines} lines; the limit is ${MOST_LINES}.`] : []),
  ])
}

function forbidden(): string[] {
  const may = table()
  return [...imports].flatMap(([file, named]) =>
    named
      .filter(each => roomOf(each) !== roomOf(file) && !may.get(roomOf(file))?.has(roomOf(each)))
      .map(each => `${file} imports ${each}, which the table in ${TABLE} does not allow.`),
  )
}

/** Files that import each other, directly or indirectly. */
function cycles(): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push(`Import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}.`)
      return
    }
    if (done.has(file)) return
    for (const each of imports.get(file) ?? []) visit(each, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return found
}

function printTables(): void {
  const of = new Map<string, { files: number; lines: number; longest: string; imports: number }>()
  for (const file of files) {
    const area = areaOf(file)
    for (const room of [roomOf(file), ...(area ? [`fleet/${area}`] : [])]) {
      const row = of.get(room) ?? { files: 0, lines: 0, longest: file, imports: 0 }
      row.files++
      row.lines += linesOf(file)
      if (linesOf(file) > linesOf(row.longest)) row.longest = file
      const isInside = (each: string): boolean =>
        each.startsWith(`src/${room}/`) || (room === 'web' && each.startsWith('web/'))
      row.imports += imports.get(file)!.filter(each => !isInside(each)).length
      of.set(room, row)
    }
  }
  console.log('| folder | files | lines | imports from other folders | longest file |\n| --- | --- | --- | --- | --- |')
  for (const [room, { longest, ...row }] of [...of].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`| ${room} | ${row.files} | ${row.lines} | ${row.imports} | ${basename(longest)} ${linesOf(longest)} |`)
}

if (process.argv.includes('--tables')) printTables()
const problems = [...forbidden(), ...cycles(), ...areas()]
for (const problem of problems) console.error(problem)
console.log(`${files.size} files, ${[...imports.values()].flat().length} imports, ${problems.length} problems.`)
process.exitCode = problems.length ? 1 : 0
