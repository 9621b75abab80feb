import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { which } from '../../agents/detect.ts'
import { NotAllowed, NotFound, Refusal, Unfit } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { HOME_DATABASE } from '../../domain/rules/beads.ts'
import type { Passed } from '../../fleet/beads/bridge.ts'
import { openHome } from '../../platform/home.ts'
import { behindLinks, replaceText, textOf } from '../../platform/whole-files.ts'
import { capturing } from '../bead-capture.ts'
import { homeOf } from '../client.ts'
import { type Cli, countFrom, does, textFrom } from '../command.ts'
import { projectHere, projectRef } from '../project-here.ts'

const SETTING = 'beads_bridges'
const FILES = ['issues.jsonl', 'beads.jsonl']
const FILE_SUMMARY = 'the file (default: that in .beads of the repository)'

export function addBeads(program: Command): void {
  const beads = program.command('beads').description('exchange with a beads database (.beads/*.jsonl)')

  const take = beads
    .command('import')
    .description('make missions of beads; doing it again makes nothing twice')
    .argument('[file]', `${FILE_SUMMARY}; - reads the input, such as what bd export prints`)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue what is open at once; what waits for others starts after them')
  does(take, async (cli, [file], options) => {
    const project = await projectOf(cli, options.project)
    const from = fileFor(cli, project, file)
    const jsonl = file === '-' ? await textFrom(cli, file) : textOf(from)
    if (jsonl === undefined) throw new NotFound('file', from)
    const client = await cli.client()
    const done = await client.call<Record<'made' | 'known' | 'skipped', string[]> & { links: number }>('import_beads', {
      project_id: project.id,
      jsonl,
      auto_dispatch: options.dispatch === true,
    })
    if (options.dispatch) await client.wake()
    if (cli.terminal.json) return void cli.terminal.data(done)
    cli.terminal.print(
      `${done.made.length} missions made, ${done.known.length} known already, ${done.skipped.length} beads closed or no work.`,
    )
    if (done.links)
      cli.terminal.note(`${done.links} links are of kinds that a mission cannot have; they stay in the file.`)
  })

  const give = beads
    .command('export')
    .description('bring a file up to date: beads of missions, their states and comments; everything else in it stays')
    .argument('[file]', FILE_SUMMARY)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(give, async (cli, [file], options) => {
    const project = await projectOf(cli, options.project)
    const to = behindLinks(fileFor(cli, project, file))
    const before = textOf(to)
    const answer = await (await cli.client()).call<{ jsonl: string; beads: number }>('export_beads', {
      project_id: project.id,
      jsonl: before ?? '',
    })
    mkdirSync(dirname(to), { recursive: true })
    if (answer.jsonl !== before) replaceText(to, before, answer.jsonl)
    if (cli.terminal.json) cli.terminal.data({ file: to, beads: answer.beads })
    else cli.terminal.print(`${answer.beads} beads are in ${to}.`)
  })

  const bridge = beads
    .command('bridge')
    .description('claim ready beads as missions through bd, and close them when their missions are done')
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--of-home', 'the database of the home, which fleet bd works on, for all repositories')
    .option('--once', 'look once and end')
    .option('--every <seconds>', 'how often to look', secondsFrom, 30)
    .option('--at-once <n>', 'how many beads to have claimed at a time', countFrom, 5)
    .option('--detach', 'have the server do it from now on, also after a restart (setting beads_bridges)')
    .option('--stop', 'have the server do it no more')
  does(bridge, async (cli, _, options) => {
    const project = options.ofHome ? undefined : await projectOf(cli, options.project)
    if (options.detach || options.stop)
      return leaveToServer(cli, project?.path ?? HOME_DATABASE, options.detach === true)
    const leaving = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort())
    const look = (): Promise<void> => lookOnce(cli, { project_id: project?.id, at_once: Number(options.atOnce) })
    await look()
    if (options.once) return
    while (await pausedFor(Number(options.every), leaving.signal)) await look().catch(error => tellProblem(cli, error))
  })

  const bd = program
    .command('bd')
    .description(
      'run bd, the program of beads, in the home of the fleet, with its exit code; bd create also notes where you stand, and takes --coder and --model',
    )
    .argument('[arguments...]', 'handed on as they are')
    .helpOption(false)
  does(bd, async (cli, args) => passThrough(cli, args))
}

function secondsFrom(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds from 1 to 99999.')
  return Number(text)
}

const BEFORE_A_COMMAND = /^--(json|home=.*|url=.*)$/
const WITH_A_VALUE = ['--home', '--url']

/** What follows `fleet bd` is for bd, options too. */
export function verbatim(args: readonly string[]): readonly string[] {
  let at = 0
  while (at < args.length && (BEFORE_A_COMMAND.test(args[at]!) || WITH_A_VALUE.includes(args[at]!)))
    at += WITH_A_VALUE.includes(args[at]!) ? 2 : 1
  return args[at] === 'bd' ? [...args.slice(0, at + 1), '--', ...args.slice(at + 1)] : args
}

async function projectOf(cli: Cli, given: unknown): Promise<Pick<Project, 'id' | 'path'>> {
  if (given === undefined) return (await projectHere(cli)).project
  return (await cli.client()).call<Project>('get_project', { project_id: await projectRef(cli, String(given)) })
}

function fileFor(cli: Cli, project: Pick<Project, 'path'>, given: string | undefined): string {
  if (given) return resolve(cli.terminal.streams.cwd, given)
  const known = FILES.map(name => join(project.path, '.beads', name))
  return known.find(existsSync) ?? known[0]!
}

interface Settings {
  settings: { key: string; value: unknown }[]
}

async function leaveToServer(cli: Cli, folder: string, goesOn: boolean): Promise<undefined> {
  const client = await cli.client()
  const { settings } = await client.call<Settings>('get_settings', {})
  const now = settings.find(each => each.key === SETTING)?.value as string[]
  const folders = [...now.filter(each => each !== folder), ...(goesOn ? [folder] : [])]
  const wanted = { settings: { [SETTING]: folders.length ? folders : null } }
  const { overruled } = await client.call<{ overruled: string[] }>('set_settings', wanted)
  if (overruled.length)
    throw new NotAllowed(`${SETTING} is written down, but the environment or a flag of the fleet says otherwise.`)
  await client.wake()
  if (cli.terminal.json) cli.terminal.data({ bridges: folders })
  else
    cli.terminal.print(
      goesOn ? `The server goes on with the beads of ${folder}.` : `The server leaves the beads of ${folder} alone.`,
    )
}

async function lookOnce(cli: Cli, asked: { project_id: string | undefined; at_once: number }): Promise<void> {
  const client = await cli.client()
  const passed = await client.call<Passed>('bridge_beads', asked)
  if (passed.claimed.length) await client.wake()
  if (cli.terminal.json) cli.terminal.data(passed)
  else tellPassed(cli, passed)
}

/** What worked once may fail for a while: bd has its database locked, or the server is being restarted. */
function tellProblem({ terminal }: Cli, error: unknown): void {
  if (!(error instanceof Refusal)) throw error
  terminal.note(terminal.foreign(`Nothing was looked at: ${error.message}`))
}

function tellPassed({ terminal }: Cli, { claimed, closed, refused }: Passed): void {
  if (claimed.length) terminal.print(`Claimed ${claimed.join(', ')}.`)
  if (closed.length) terminal.print(`Closed ${closed.join(', ')}.`)
  for (const { bead, reason } of refused) terminal.note(terminal.foreign(`${bead} is left alone: ${reason}`))
}

/** False: it is time to go. */
const pausedFor = (seconds: number, signal: AbortSignal): Promise<boolean> =>
  setTimeout(seconds * 1000, true, { signal }).catch(() => false)

async function passThrough(cli: Cli, given: readonly string[]): Promise<number> {
  const { env } = cli.where
  const program = await which('bd', env)
  if (!program) throw new Unfit('bd was not found.', { try: 'Install beads, so that bd is on the PATH.' })
  const home = openHome(homeOf(cli.where)).path
  const { agentsOf } = await import('../../agents/index.ts')
  const args = given[0] === 'create' ? capturing(given, cli.terminal.streams.cwd, agentsOf(home)) : given
  const child = spawn(program, args, { cwd: home, env, stdio: 'inherit' })
  return new Promise((done, failed) => {
    child.once('error', failed)
    // As a shell tells it: a program that was killed has no exit code.
    child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}
