import { constants, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { storeOf } from '../../config/store.ts'
import { type Cli, does } from '../command.ts'
import { homeHere } from '../server.ts'
import { size } from '../show.ts'

export function addBackup(program: Command): void {
  const backup = program
    .command('backup')
    .description('back up the home to one file, even while the fleet runs')
    .argument('<file>', 'file to create, such as fleet.tar.gz')
    .option('--with-tokens', 'include the token and the key of the home')
  does(backup, async (cli, [file], options) => {
    const { backUp } = await import('../../backup/make.ts')
    makeWay()
    const path = homeHere(cli.where, 'fleet backup')
    const store = storeOf({ path, storeFile: join(path, 'store.db') }, cli.where.env)
    const to = resolve(cli.terminal.streams.cwd, file!)
    const { files, ...manifest } = await backUp(path, store, to, options.withTokens === true)
    const sizes = Object.values(files).map(each => each.bytes)
    const bytes = sizes.reduce((sum, each) => sum + each, 0)
    if (cli.terminal.json) {
      cli.terminal.data({ file: to, files: sizes.length, bytes, ...manifest })
      return undefined
    }
    cli.terminal.print(`Backed up ${manifest.home} as ${to} (${sizes.length} files, ${size(bytes)} unpacked).`)
    tellLeftOut(cli, manifest.left_out)
  })

  const restoring = program
    .command('restore')
    .description('restore a home from a backup into an empty folder')
    .argument('<file>', 'file made by fleet backup')
    .option('--unpaused', 'start missions right away; use it when the original home is gone')
    .option('--with-tokens', 'restore the token and the key too; only for a file that nobody else could change')
    .option('--with-plugins', 'restore the plugins too, which are code; only for a file that nobody else could change')
    .option('--max-gb <number>', 'limit of the unpacked size', sizeFrom, 50)
  does(restoring, async (cli, [file], options) => {
    const { restore } = await import('../../backup/restore.ts')
    const home = homeHere(cli.where, 'fleet restore')
    const unpaused = options.unpaused === true
    const from = resolve(cli.terminal.streams.cwd, file!)
    const { manifest, settled, powers, notTaken } = await restore(from, home, {
      env: cli.where.env,
      unpaused,
      withTokens: options.withTokens === true,
      withPlugins: options.withPlugins === true,
      maxBytes: (options.maxGb as number) * GB,
    })
    const { files, ...about } = manifest
    if (cli.terminal.json) {
      cli.terminal.data({ home, backup: about, powers, not_taken: notTaken, ...settled, paused: !unpaused })
      return undefined
    }
    cli.terminal.print(`Restored ${home} as ${manifest.home} was at ${manifest.made_at}.`)
    tellLeftOut(cli, manifest.left_out)
    tell(cli, 'In the backup, but not restored:', notTaken)
    tell(cli, 'Restored, and able to act on this machine:', powers)
    const say = (count: number, what: string): void => void (count && cli.terminal.print(`  ${count} ${what}`))
    say(settled.lost, 'sessions were running and are now lost; their missions are resumed, or say why not')
    say(settled.asking.length, `missions need you: ${settled.asking.join(', ')}`)
    say(settled.landing.length, `missions were landing and wait for review: ${settled.landing.join(', ')}`)
    if (!unpaused)
      cli.terminal.print(
        'The fleet is paused, so that two fleets do not do the same work. When the other one is gone: fleet unpause',
      )
  })
}

const GB = 1_000_000_000
function sizeFrom(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number of gigabytes from 1 to 999999.')
  return Number(text)
}

/** Lowers our priority, so that the fleet's work goes first. tar inherits this. */
function makeWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // If that is not allowed, the backup runs at normal priority.
  }
}

const tellLeftOut = (cli: Cli, what: readonly string[]): void => tell(cli, 'Not in it:', what)

function tell({ terminal }: Cli, heading: string, what: readonly string[]): void {
  if (what.length) terminal.print(heading)
  for (const each of what) terminal.print(`  ${each}`)
}
