import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { which } from '../../agents/detect.ts'
import { NotFound, Refusal, Unfit } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { HOME_DATABASE } from '../../domain/rules/beads.ts'
import type { Passed } from '../../fleet/beads/bridge.ts'
import { openHome } from '../../platform/home.ts'
import { behindLinks, replaceText, textOf } from '../../platform/whole-files.ts'
import { capturing } from '../bead-capture.ts'
import { type Cli, countFrom, does, textFrom } from '../command.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { homeOf } from '../server.ts'

const FILES = ['issues.jsonl', 'beads.jsonl']
const FILE_SUMMARY = 'the file (default: that in .beads of the repository)'

export function addBeads(program: Command): void {
  const beads = program.command('beads').description('import, export and sync beads (.beads/*.jsonl)')

  const take = beads
    .command('import')
    .description('create missions from beads; importing again creates no duplicates')
    .argument('[file]', `${FILE_SUMMARY}; - reads stdin, such as the output of bd export`)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue open beads right away; dependencies start first')
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
      `${done.made.length} missions created, ${done.known.length} already known, ${done.skipped.length} beads skipped (closed, or not work).`,
    )
    if (done.links)
      cli.terminal.note(`${done.links} links are of kinds that a mission cannot have; they stay in the file.`)
  })

  const give = beads
    .command('export')
    .description('update a file with the beads of missions, their states and comments; the rest of the file stays')
    .argument('[file]', FILE_SUMMARY)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(give, async (cli, [file], options) => {
    const project = await projectOf(cli, options.project)
    const to = behindLinks(fileFor(cli, project, file))
    const before = textOf(to)
    const answer = await cli.ask<{ jsonl: string; beads: number }>('export_beads', {
      project_id: project.id,
      jsonl: before ?? '',
    })
    mkdirSync(dirname(to), { recursive: true })
    if (answer.jsonl !== before) replaceText(to, before, answer.jsonl)
    cli.terminal.tell({ file: to, beads: answer.beads }, () =>
      cli.terminal.print(`${answer.beads} beads are in ${to}.`),
    )
  })

  const bridge = beads
    .command('bridge')
    .description('claim ready beads as missions with bd, and close them when their missions are done')
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--of-home', 'use the database of the home (the one of fleet bd), for all repositories')
    .option('--once', 'look once and exit')
    .option('--every <seconds>', 'seconds between two looks', secondsFrom, 30)
    .option('--at-once <n>', 'limit of beads claimed at the same time', countFrom, 5)
    .option('--detach', 'let the server do this from now on, also after a restart (setting beads_bridges)')
    .option('--stop', 'tell the server to stop doing this')
  does(bridge, async (cli, _, options) => {
    const project = options.ofHome ? undefined : await projectOf(cli, options.project)
    if (options.detach || options.stop) return void (await leaveToServer(cli, project, options.detach === true))
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
      'run bd (beads) in the home of the fleet; bd create also records your folder, and takes --coder and --model',
    )
    .argument('[arguments...]', 'passed to bd unchanged')
    .helpOption(false)
  does(bd, async (cli, args) => passThrough(cli, args))
}

function secondsFrom(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds from 1 to 99999.')
  return Number(text)
}

async function projectOf(cli: Cli, given: unknown): Promise<Pick<Project, 'id' | 'path'>> {
  if (given === undefined) return (await projectHere(cli)).project
  return cli.ask<Project>('get_project', { project_id: await projectRef(cli, String(given)) })
}

function fileFor(cli: Cli, project: Pick<Project, 'path'>, given: string | undefined): string {
  if (given) return resolve(cli.terminal.streams.cwd, given)
  const known = FILES.map(name => join(project.path, '.beads', name))
  return known.find(existsSync) ?? known[0]!
}

/** The server changes the list itself, so that two simultaneous commands both find their folder in it. */
async function leaveToServer(
  cli: Cli,
  project: Pick<Project, 'id' | 'path'> | undefined,
  active: boolean,
): Promise<void> {
  const client = await cli.client()
  await client.wake()
  const answer = await client.call<{ bridges: string[] }>('set_beads_bridge', { project_id: project?.id, active })
  const folder = project?.path ?? HOME_DATABASE
  cli.terminal.tell(answer, () =>
    cli.terminal.print(
      active
        ? `The server now bridges the beads of ${folder}.`
        : `The server no longer bridges the beads of ${folder}.`,
    ),
  )
}

async function lookOnce(cli: Cli, asked: { project_id: string | undefined; at_once: number }): Promise<void> {
  const client = await cli.client()
  const passed = await client.call<Passed>('bridge_beads', asked)
  if (passed.claimed.length) await client.wake()
  cli.terminal.tell(passed, () => tellPassed(cli, passed))
}

/** A call may fail for a while: bd has its database locked, or the server is restarting. */
function tellProblem({ terminal }: Cli, error: unknown): void {
  if (!(error instanceof Refusal)) throw error
  terminal.note(terminal.foreign(`Could not look at the beads: ${error.message}`))
}

function tellPassed({ terminal }: Cli, { claimed, closed, refused }: Passed): void {
  if (claimed.length) terminal.print(`Claimed ${claimed.join(', ')}.`)
  if (closed.length) terminal.print(`Closed ${closed.join(', ')}.`)
  for (const { bead, reason } of refused) terminal.note(terminal.foreign(`${bead} is left alone: ${reason}`))
}

/** False: the person wants to stop. */
const pausedFor = (seconds: number, signal: AbortSignal): Promise<boolean> =>
  setTimeout(seconds * 1000, true, { signal }).catch(() => false)

async function passThrough(cli: Cli, given: readonly string[]): Promise<number> {
  const { env } = cli.where
  const program = await which('bd', env)
  if (!program) throw new Unfit('bd was not found.', { try: 'Install beads and put bd on the PATH.' })
  const home = openHome(homeOf(cli.where)).path
  const { agentsFor } = await import('../../fleet/agents.ts')
  const args = given[0] === 'create' ? capturing(given, cli.terminal.streams.cwd, agentsFor(home).agents) : given
  const child = spawn(program, args, { cwd: home, env, stdio: 'inherit' })
  return new Promise((done, failed) => {
    child.once('error', failed)
    // The exit code a shell would give: a killed program has none.
    child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}
