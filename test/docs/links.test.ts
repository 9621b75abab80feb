import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { makeProgram } from '../../src/cli/program.ts'
import { verbatim } from '../../src/cli/verbatim.ts'
import { ROOT } from '../kit/fleet.ts'
import { blocksOf, PAGES, type Page } from './pages.ts'

describe.each(PAGES)('$path', page => {
  test('leads only to what exists', () => {
    expect(relativeLinks(page).filter(link => !leadsSomewhere(page, link))).toEqual([])
  })

  test.runIf(aboutTheCode(page))('names only files that exist', () => {
    const folders = ['', 'src', 'web/src', 'src/git']
    const isThere = (name: string) => folders.some(folder => existsSync(join(ROOT, folder, name)))
    expect(filesIn(page).filter(name => !isThere(name))).toEqual([])
  })

  test('names only commands and options that exist', () => {
    expect(commandsIn(page).flatMap(line => complaintAbout(line) ?? [])).toEqual([])
  })
})

test('a command or an option that does not exist is found', () => {
  expect(complaintAbout('fleet mission create "x" --dispatch')).toBeUndefined()
  expect(complaintAbout('fleet task ls')).toBeUndefined()
  expect(complaintAbout('fleet mission lnd abc')).toContain('lnd')
  expect(complaintAbout('fleet fly')).toContain('fly')
  expect(complaintAbout('fleet run "x" --quickly')).toContain('--quickly')
})

const aboutTheCode = ({ path }: Page): boolean =>
  path.startsWith('docs/architecture') || path === 'AGENTS.md' || path === 'CONTRIBUTING.md'

/** Names of source files that include their folder. */
const filesIn = ({ text }: Page): string[] =>
  [...text.matchAll(/`([\w./-]+\/[\w.-]+\.(?:tsx?|sh|mjs|js))`/g)].map(match => match[1]!)

function relativeLinks({ text }: Page): string[] {
  const outsideBlocks = text.replace(/^```[\s\S]*?^```/gm, '')
  return [...outsideBlocks.matchAll(/\]\(([^)\s]+)\)/g)].map(match => match[1]!).filter(link => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: Page, link: string): boolean {
  const [path, anchor] = link.split('#') as [string, string?]
  const target = path ? join(dirname(page.path), path) : page.path
  if (!existsSync(join(ROOT, target))) return false
  return anchor === undefined || anchorsOf(PAGES.find(each => each.path === target)).includes(anchor)
}

/** The anchors that code hosts make from headings. */
function anchorsOf(page: Page | undefined): string[] {
  const headings = [...(page?.text.matchAll(/^#+ +(.+)$/gm) ?? [])].map(match => match[1]!.toLowerCase())
  return headings.map(heading => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'))
}

/** Everything that begins with `fleet` in a shell block or in inline code. */
function commandsIn(page: Page): string[] {
  const inBlocks = blocksOf(page).flatMap(block => (block.info.startsWith('sh') ? block.text.split('\n') : []))
  const inline = [...page.text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`(fleet [^`]+)`/g)].map(match => match[1]!)
  const calls = inBlocks.flatMap(line => {
    const command = line.replace(/\s# .*$/, '')
    // A command inside a command is checked too.
    const parts = [
      command.replace(/\$\([^)]*\)/g, 'VALUE'),
      ...command.matchAll(/\$\(([^)]*)\)/g).map(([, inner]) => inner!),
    ]
    return parts.flatMap(part => [...part.matchAll(/(?:^|[;|(]|&&)\s*(fleet [^;|)]*)/g)].map(match => match[1]!))
  })
  return [...inline, ...calls]
}

/** The problem with a command line, if any. Options may belong to the command itself or to `fleet`. */
function complaintAbout(line: string): string | undefined {
  const program = makeProgram()
  const all = verbatim(
    line
      .replace(/(["'])(?:\\.|(?!\1).)*\1/g, 'TEXT')
      .split(/\s+/)
      .slice(1),
  )
  // The rest is for another program.
  const words = all.includes('--') ? all.slice(0, all.indexOf('--')) : all
  let command: Command = program
  for (const word of words) {
    if (!command.commands.length || word.startsWith('-')) break
    const next = command.commands.find(each => each.name() === word || each.aliases().includes(word))
    if (!next && /^[a-z-]+$/.test(word) && word !== 'help') return `${line}: there is no ${word}`
    if (!next) break
    command = next
  }
  const known = [...command.options, ...program.options].flatMap(option => [option.long, option.short])
  const unknown = words
    .map(word => word.replace(/=.*/, ''))
    .find(word => /^--?[a-z]/i.test(word) && !['--help', '-h', ...known].includes(word))
  return unknown && `${line}: there is no ${unknown}`
}
