import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { type Cli, countFrom, does } from '../command.ts'
import { wrapped } from '../wrap.ts'

interface Found {
  hits: {
    kind: string
    mission: { id: string; title: string }
    session_id: string | null
    part: string
    at: string
    snippet: string
    more: number
  }[]
  complete: boolean
}

export function addSearch(program: Command): void {
  const search = program
    .command('search')
    .description('search missions, comments, reports and transcripts of ended sessions')
    .argument('<words...>', 'all must occur; "quoted words" occur exactly so')
    .option('--project <project>', 'only this project (id, first letters or name)')
    .option('--since <date>', 'only what was written on this day or later, such as 2026-11-01')
    .option('--limit <n>', 'at most this many of each kind', countFrom, 10)
    .addHelpText('after', '\nExample: fleet search --since 2026-11-01 "rate limit"')
  does(search, async (cli, words, { project, since, limit }) => {
    const from = since ? new Date(String(since)) : undefined
    if (from && Number.isNaN(from.getTime()))
      throw new InvalidInput('since', 'is not a date', { try: '--since 2026-11-01' })
    const input = { text: words.join(' '), project_id: project, from: from?.toISOString(), limit }
    return show(cli, await cli.ask<Found>('search', input))
  })
}

const INDENT = ' '.repeat(8)

const WORDS: Record<string, string> = {
  mission: 'Mission',
  comment: 'Comment',
  report: 'Report',
  transcript: 'Transcript',
}

function show({ terminal }: Cli, found: Found): undefined {
  if (terminal.json) return void terminal.data(found)
  if (!found.complete) terminal.note('The search index is still being made. Search again in a moment for the rest.')
  if (!found.hits.length) return void terminal.note('No results.')
  for (const { kind, mission, at, snippet, more } of found.hits) {
    const others = more ? ` and ${more} more` : ''
    terminal.headline(shortId(mission.id), mission.title, `  ${WORDS[kind] ?? kind}, ${at.slice(0, 10)}${others}`)
    const text = terminal.foreign(snippet.replace(/\s+/g, ' ').trim())
    for (const line of wrapped(text, terminal.width - INDENT.length)) terminal.print(`${INDENT}${line}`)
  }
  return undefined
}
