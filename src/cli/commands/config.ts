import type { Command } from 'commander'
import { configurationFile, configurationTemplate } from '../../config/configuration.ts'
import { openHome } from '../../platform/home.ts'
import { behindLinks, replaceText, textOf } from '../../platform/whole-files.ts'
import { type Cli, does, pairFrom } from '../command.ts'
import { knownProjectHere, projectRef } from '../project-here.ts'
import { homeHere } from '../server.ts'

interface Answer {
  file: string
  problem: string | null
  settings: { key: string; in_words: string; origin: string; variable: string }[]
  overruled?: string[]
}
type Shown = Answer['settings'][number]

export function addConfig(program: Command): void {
  const config = program.command('config').description('show and change settings')

  const show = config
    .command('show')
    .description('show every setting, its value and where it comes from')
    .option('--raw', 'print fleet.toml as it is')
    .option('--project <project>', 'show the settings of this project: id, name or path (default: the one you are in)')
  does(show, async (cli, _, options) => (options.raw ? printRaw(cli) : showSettings(cli, options.project)))

  const set = config
    .command('set')
    .description(
      'change settings in fleet.toml and keep its comments and order; a running fleet applies them right away',
    )
    .argument('<key=value...>', 'such as max_concurrent=8 or default_timeout=90min; an empty value resets the setting')
  does(set, async (cli, pairs) => {
    const answer = await cli.ask<Answer>('set_settings', { settings: settingsFrom(pairs) })
    if (cli.terminal.json) return void cli.terminal.data(answer)
    const keys = Object.keys(settingsFrom(pairs))
    for (const key of answer.overruled ?? [])
      cli.terminal.note(`${key} was saved, but the environment or a flag of the fleet overrides it.`)
    cli.terminal.print(`Set ${keys.join(', ')} in ${answer.file}.`)
  })
}

/** Writes a fleet.toml that names every setting. An existing one stays; with force it is kept under another name. */
export function prepareHome({ terminal, where }: Cli, force: boolean): { file: string; written: boolean } {
  const file = behindLinks(configurationFile(openHome(homeHere(where, 'fleet init')).path))
  const before = textOf(file)
  const written = before === undefined || force
  if (written && before !== undefined) replaceText(`${file}.old`, textOf(`${file}.old`), before)
  if (written) replaceText(file, before, configurationTemplate())
  if (terminal.json) return { file, written }
  if (written) terminal.print(`Wrote ${file}.`)
  else terminal.note(`${file} already exists. Use --force to replace it.`)
  return { file, written }
}

export const settingsFrom = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(pairs.map(pair => pairFrom(pair, 'max_concurrent=8')))

async function printRaw(cli: Cli): Promise<undefined> {
  const file = configurationFile(homeHere(cli.where, 'fleet config show --raw'))
  const text = textOf(file)
  if (text === undefined) cli.terminal.note(`There is no ${file}. All settings have their defaults.`)
  else cli.terminal.write(cli.terminal.foreign(text))
}

async function showSettings(cli: Cli, named: unknown): Promise<undefined> {
  const { terminal } = cli
  const project_id =
    named === undefined ? (await knownProjectHere(cli))?.project.id : await projectRef(cli, String(named))
  const answer = await cli.ask<Answer>('get_settings', { project_id })
  if (terminal.json) return void terminal.data(answer)
  terminal.table<Shown>(
    [
      { title: 'SETTING', value: each => each.key },
      {
        title: 'VALUE',
        value: each => each.in_words,
        flexible: true,
        paint: (text, each) => terminal.paint(each.origin === 'default' ? 'dim' : 'bold', text),
      },
      { title: 'FROM', value: each => `(${ORIGIN_WORDS[each.origin]?.(each) ?? each.origin})` },
    ],
    answer.settings,
  )
  if (answer.problem) terminal.note(terminal.foreign(`fleet.toml is not applied: ${answer.problem}`))
}

const ORIGIN_WORDS: Record<string, (setting: Shown) => string> = {
  file: () => 'fleet.toml',
  environment: ({ variable }) => variable,
}
