import { type Command, InvalidArgumentError } from 'commander'
import { shortId } from '../../domain/ids.ts'
import { type Cli, does } from '../command.ts'
import { projectRef } from '../project-here.ts'
import { size } from '../show.ts'

/** Commands that keep a fleet in order. */
export function addUpkeep(program: Command): void {
  for (const name of ['pause', 'unpause'] as const) {
    const summary = name === 'pause' ? 'start no new missions; running agents continue' : 'let missions start again'
    does(
      program.command(name).description(summary).argument('[project]', 'id, name or path (default: the whole fleet)'),
      async (cli, [project]) => {
        const answer = await cli.ask<{ paused: boolean }>(
          name,
          project ? { project_id: await projectRef(cli, project) } : {},
        )
        if (cli.terminal.json) cli.terminal.data(answer)
        else
          cli.terminal.print(
            `${project ? `Project ${project}` : 'The fleet'} is ${answer.paused ? 'paused' : 'no longer paused'}.`,
          )
      },
    )
  }

  const clean = program
    .command('clean')
    .description('remove worktrees of ended sessions; their work stays in the repository as a ref')
    .option('--older-than <age>', 'only sessions that ended at least this long ago, such as 90m, 12h or 7d', hoursFrom)
    .option('--dry-run', 'show what would be removed and remove nothing')
    .option('--warm', 'also remove the worktrees that wait for the next mission')
  does(clean, showCleaning)
}

const HOURS: Record<string, number> = { m: 1 / 60, h: 1, d: 24, w: 168 }

export function hoursFrom(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([mhdw]?)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('It must be a number with m, h, d or w, such as 12h.')
  return Number(number) * (HOURS[unit || 'h'] ?? 1)
}

export interface Cleaned {
  freed_bytes: number
  /** Absent: a server of an earlier version answered. */
  freed?: { worktrees: number; warm: number }
  worktrees: {
    session_id: string
    mission_id: string
    path: string
    bytes: number
    ref: string
    kept_because?: string
    ends?: string[]
  }[]
}

async function showCleaning(cli: Cli, _: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const dryRun = options.dryRun === true
  terminal.progress('Looking at worktrees…')
  const answer = await cli.ask<Cleaned>('clean', {
    older_than_hours: options.olderThan,
    dry_run: dryRun,
    ...(options.warm === true && { warm: true }),
  })
  terminal.progress('')
  if (terminal.json) return void terminal.data(answer)
  if (answer.worktrees.length) {
    terminal.table<Cleaned['worktrees'][number]>(
      [
        { title: 'MISSION', value: each => shortId(each.mission_id) },
        { title: 'SIZE', value: each => size(each.bytes), right: true },
        { title: 'WORKTREE', value: each => each.path, flexible: true },
        {
          title: 'KEPT AS',
          value: each =>
            each.kept_because
              ? `not removed: ${each.kept_because}`
              : [each.ref, ...(each.ends ?? []).map(kind => `(its ${kind} ends)`)].join(' '),
          flexible: true,
        },
      ],
      answer.worktrees,
    )
  }
  const kinds = [
    ['worktrees', answer.freed?.worktrees],
    ['warm worktrees', answer.freed?.warm],
  ] as const
  const parts = kinds.flatMap(([kind, bytes]) => (bytes ? [`${kind} ${size(bytes)}`] : []))
  const each = parts.length > 1 ? `: ${parts.join(', ')}` : ''
  terminal.print(`${dryRun ? 'Would free' : 'Freed'} ${size(answer.freed_bytes)}${each}.`)
}
