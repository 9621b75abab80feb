import type { Command } from 'commander'
import type { z } from 'zod'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { WAYS } from '../../domain/records/audit.ts'
import type { audit } from '../../operations/audit.ts'
import { safeLine } from '../../platform/safe-text.ts'
import { addFields, type Cli, does, type Field, inputFrom } from '../command.ts'
import { projectRef } from '../project-here.ts'

type Answer = z.infer<(typeof audit)[number]['output']>
type Entry = Answer['entries'][number]

const PAGE = 500
const SHOWN = 50

const FIELDS: readonly Field[] = [
  { flags: '--by <who>', field: 'by', summary: 'a name; or owner, person, service, session, plugin' },
  { flags: '--way <way>', field: 'way', summary: 'from where', choices: WAYS },
  { flags: '--operation <name>', field: 'operation', summary: 'such as land_mission' },
  { flags: '--outcome <outcome>', field: 'outcome', summary: 'how it went', choices: ['done', 'refused'] },
  { flags: '--mission <mission>', field: 'mission_id', summary: 'id or first letters' },
]

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('show who asked for what, from where, and what was refused; newest first')
    .option('--project <project>', 'only this project: id, name or path')
    .option('--since <time>', 'a day or a time: 2026-11-18, 2026-11-18T09:00Z')
    .option('--until <time>', 'entries before this time')
    .option('--limit <n>', 'maximum number (default: 50; with --json: all)', Number)
  addFields(command, FIELDS)
  does(command, showAudit)
}

async function showAudit(cli: Cli, _: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const limit = (options.limit as number | undefined) ?? (terminal.json ? Number.POSITIVE_INFINITY : SHOWN)
  if (!(limit >= 1)) throw new InvalidInput('limit', 'must be a number from 1')
  const filter = {
    ...inputFrom(FIELDS, options),
    project_id: options.project === undefined ? undefined : await projectRef(cli, String(options.project)),
    since: timeIn('since', options.since),
    until: timeIn('until', options.until),
  }
  let shown = 0
  let cursor: string | undefined
  do {
    const wanted = { ...filter, cursor, limit: Math.min(PAGE, limit - shown) }
    const page = await cli.ask<Answer>('list_audit', wanted)
    for (const entry of page.entries) terminal.print(terminal.json ? JSON.stringify(entry) : lineOf(cli, entry))
    shown += page.entries.length
    cursor = page.cursor
  } while (cursor !== undefined && shown < limit)
  if (!shown) terminal.note('No entries.')
  else if (cursor !== undefined) terminal.note('There are more: add --limit, --since or --json.')
}

function lineOf({ terminal }: Cli, entry: Entry): string {
  const { principal, way, address, operation, outcome, code, count, mission_id } = entry
  const result = outcome === 'done' ? '' : terminal.paint('red', `refused: ${code}${count > 1 ? ` × ${count}` : ''}`)
  return [
    terminal.paint('dim', entry.last_at),
    safeLine(principal.name),
    terminal.paint('bold', operation),
    mission_id && shortId(mission_id),
    terminal.paint('dim', address ? `${way} ${address}` : way),
    result,
  ]
    .filter(Boolean)
    .join('  ')
}

function timeIn(option: string, text: unknown): string | undefined {
  if (text === undefined) return undefined
  const time = new Date(String(text))
  if (Number.isNaN(time.getTime())) throw new InvalidInput(option, 'is no day or time', { try: '--since 2026-11-18' })
  return time.toISOString()
}
