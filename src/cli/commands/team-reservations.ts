import type { Command } from 'commander'
import type { z } from 'zod'
import type { reservations } from '../../operations/reservations.ts'
import { addFields, type Cli, does, type Field, inputFrom } from '../command.ts'
import { ago } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof reservations)[number]['name']> = z.infer<
  Extract<(typeof reservations)[number], { name: N }>['output']
>
type Shown = Answer<'team_claim'>

const RESERVED: readonly Field[] = [
  { flags: '--reason <text>', field: 'reason', summary: 'what you are about to do' },
  TEAM,
]
const RELEASED: readonly Field[] = [
  { flags: '--member <member>', field: 'handle', summary: 'whose (default: yours)' },
  TEAM,
]
const LISTED: readonly Field[] = [
  { flags: '--file <file>', field: 'file', summary: 'only what fits this file or pattern' },
  { flags: '--mine', field: 'mine', summary: 'only your own', kind: 'flag' },
  TEAM,
]

export function addReservations(team: Command): void {
  const reserve = team
    .command('reserve')
    .description('say which files you are about to change; it keeps nobody away')
    .argument('<file...>', 'files, folders or patterns, from the root of the project')
  does(addFields(reserve, RESERVED), async (cli, files, options) => {
    const made: Shown[] = []
    for (const file of files) made.push(await askTeam(cli, 'team_claim', { ...inputFrom(RESERVED, options), file }))
    cli.terminal.tell(made, () => {
      for (const each of made) tell(cli, each)
    })
  })
  const release = team
    .command('release')
    .description('release files that you reserved, or all of them')
    .argument('[file...]', 'as they were reserved (default: all)')
  does(addFields(release, RELEASED), async (cli, files, options) => {
    const input = inputFrom(RELEASED, options)
    const released: string[] = []
    for (const file of files.length ? files : [undefined]) {
      const answer = await askTeam<Answer<'team_release'>>(cli, 'team_release', { ...input, ...(file && { file }) })
      released.push(...answer.released)
    }
    cli.terminal.tell({ released }, () =>
      cli.terminal.print(
        released.length ? `Released ${cli.terminal.foreign(released.join(', '))}.` : 'Nothing to release.',
      ),
    )
  })
  const list = team
    .command('reservations')
    .description('which files members are about to change, and where they overlap')
  does(addFields(list, LISTED), async (cli, _, options) =>
    listReservations(cli, await askTeam(cli, 'team_reservations', inputFrom(LISTED, options))),
  )
}

function tell({ terminal }: Cli, { file, overlaps }: Shown): void {
  terminal.print(`Reserved ${terminal.foreign(file)}.`)
  for (const each of overlaps)
    terminal.note(`${terminal.foreign(each.handle)} reserved ${terminal.foreign(each.file)} ${ago(each.since)}.`)
}

function listReservations({ terminal }: Cli, answer: Answer<'team_reservations'>): undefined {
  if (terminal.json) return void terminal.data(answer)
  if (!answer.reservations.length) return void terminal.note('No files are reserved.')
  terminal.table(
    [
      { title: 'FILE', value: each => terminal.foreign(each.file) },
      { title: 'MEMBER', value: each => terminal.foreign(each.handle) },
      { title: 'SINCE', value: each => ago(each.created_at) },
      { title: 'UNTIL', value: each => each.until },
      {
        title: 'ALSO',
        value: each => terminal.foreign(each.overlaps.map(({ handle, file }) => `${handle}: ${file}`).join(', ')),
        flexible: true,
      },
    ],
    answer.reservations,
  )
  return undefined
}
