import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { homeOf } from '../client.ts'
import { type Cli, does } from '../command.ts'
import { size } from '../show.ts'

export function addBackup(program: Command): void {
  const backup = program
    .command('backup')
    .description('copy the home into one file, also while the fleet runs')
    .argument('<file>', 'what to make, such as fleet.tar.gz')
    .option('--with-tokens', 'with the token and the key of the home')
  does(backup, async (cli, [file], options) => {
    const { backUp } = await import('../../backup/make.ts')
    makeWay()
    const to = resolve(cli.terminal.streams.cwd, file!)
    const { files, ...manifest } = await backUp(homeOf(cli.where), to, options.withTokens === true)
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
    .description('make a home from a backup; the place must be empty')
    .argument('<file>', 'what fleet backup made')
    .option('--unpaused', 'let missions start at once: the home it comes from is gone')
    .option('--with-tokens', 'with the token and the key that it has: only of a file that nobody else could write')
    .option(
      '--with-plugins',
      'with the plugins that it has, which are code: only of a file that nobody else could write',
    )
    .option('--max-gb <number>', 'unpack at most this much', sizeFrom, 50)
  does(restoring, async (cli, [file], options) => {
    const { restore } = await import('../../backup/restore.ts')
    const home = homeOf(cli.where)
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
    tell(cli, 'In it, but not taken over:', notTaken)
    tell(cli, 'Taken over, and able to act on this machine:', powers)
    const say = (count: number, what: string): void => void (count && cli.terminal.print(`  ${count} ${what}`))
    say(settled.lost, 'sessions were at work and are lost now; their missions are resumed, or say why not')
    say(settled.asking.length, `missions need you: ${settled.asking.join(', ')}`)
    say(settled.landing.length, `missions were landing and wait for review: ${settled.landing.join(', ')}`)
    if (!unpaused)
      cli.terminal.print(
        'It is paused, so that two fleets do not do the same work. Once the other one is gone: fleet unpause',
      )
  })
}

const GB = 1_000_000_000
function sizeFrom(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a number of gigabytes from 1 to 999999.')
  return Number(text)
}

/** Whatever the fleet does goes first; tar inherits this. */
function makeWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // Where that is not allowed, it takes its share.
  }
}

const tellLeftOut = (cli: Cli, what: readonly string[]): void => tell(cli, 'Not in it:', what)

function tell({ terminal }: Cli, heading: string, what: readonly string[]): void {
  if (what.length) terminal.print(heading)
  for (const each of what) terminal.print(`  ${each}`)
}
