import { existsSync, lstatSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import * as z from 'zod'
import { runningServer } from '../daemon/running.ts'
import { stopServer } from '../daemon/stop.ts'
import { NotAllowed, Unfit } from '../domain/errors.ts'
import type { Service } from '../install/service-unit.ts'
import { type Home, homePath, openHome } from '../platform/home.ts'
import { PROGRAM_FOLDER } from '../platform/version.ts'
import { removeFile, replaceText, textOf } from '../platform/whole-files.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { homeHere } from './server.ts'
import { type Manager, managerFor } from './service-managers.ts'

/** What was written, so that exactly that is taken away. */
const Written = z.object({ file: z.string(), text: z.string(), folder: z.string().optional() })
type Written = z.infer<typeof Written>

const recordOf = (home: Home): string => join(home.path, 'service.json')

function writtenFor(home: Home): Written | undefined {
  try {
    return Written.safeParse(JSON.parse(textOf(recordOf(home)) ?? 'null')).data
  } catch {
    return undefined
  }
}

interface Place {
  home: Home
  manager: Manager
}

async function placeOf({ where }: Cli): Promise<Place> {
  const home = openHome(homeHere(where, 'fleet service'))
  const isUsual = home.path === homePath({ FLEET_HOME: join(where.env.HOME || homedir(), '.flotilla') })
  return { home, manager: await managerFor(where.env, isUsual ? '' : home.id.slice(0, 12)) }
}

/** Agents are found by the PATH of whoever installs it; Node too, where the machine's own is used. */
function serviceOf(home: Home, env: NodeJS.ProcessEnv, options: readonly string[]): Service {
  const folders = [...(env.PATH ?? '').split(delimiter).filter(Boolean), dirname(process.execPath)]
  return {
    argv: [join(PROGRAM_FOLDER, 'bin', 'fleet.js'), 'up', '--into-log', ...options],
    home: home.path,
    environment: { FLEET_HOME: home.path, PATH: [...new Set(folders)].join(delimiter) },
    log: join(home.logs, 'up.log'),
  }
}

export async function installService(
  cli: Cli,
  { print, start, listening }: { print: boolean; start: boolean; listening: readonly string[] },
): Promise<undefined> {
  const { terminal, where } = cli
  const { home, manager } = await placeOf(cli)
  const text = manager.text(serviceOf(home, where.env, listening))
  if (print) return void terminal.tell({ file: manager.file, text }, () => terminal.write(text))
  const whyNot = start ? await manager.whyNot() : undefined
  if (whyNot)
    throw new Unfit(`${whyNot} Nothing was written.`, {
      try: 'fleet up --detach, or write it only: fleet service install --no-start',
    })
  write(home, manager, text)
  if (start) {
    const running = await runningServer(home)
    if (running && !(await manager.isActive())) {
      terminal.note('The fleet is up already. It stops, and the service starts it again; agents continue.')
      await stopServer(home)
    }
    await manager.start()
  }
  terminal.tell({ file: manager.file, name: manager.name, started: start }, () => {
    terminal.print(`Wrote ${manager.file}.`)
    terminal.print(
      start ? 'The fleet runs as a service, and starts when you log in.' : `Start it with: ${manager.startBy}`,
    )
    for (const line of manager.advice) terminal.note(line)
  })
}

function write(home: Home, { file }: Manager, text: string): void {
  const before = textOf(file)
  const written = writtenFor(home)
  if (before !== undefined && before !== text && before !== written?.text)
    throw new NotAllowed(`${file} is not as fleet service install wrote it, so it was left alone.`, {
      try: `Move it away: mv ${file} ${file}.mine`,
    })
  const firstMissing = topmostMissing(file)
  const next: Written = { file, text, folder: before === undefined ? firstMissing : written?.folder }
  writeFileSync(recordOf(home), `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 })
  if (before !== text) replaceText(file, before, text)
}

/** The topmost folder that writing the file will create. */
function topmostMissing(file: string): string | undefined {
  let found: string | undefined
  for (let folder = dirname(file); !existsSync(folder); folder = dirname(folder)) found = folder
  return found
}

export async function removeService(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const { home, manager } = await placeOf(cli)
  const written = writtenFor(home)
  const now = textOf(manager.file)
  if (now !== undefined && now !== written?.text)
    throw new NotAllowed(`${manager.file} is not as fleet service install wrote it, so it was left alone.`, {
      try: 'Look at it, and remove it yourself.',
    })
  const isThere = now !== undefined
  const isManaged = isThere && !(await manager.whyNot())
  if (isManaged) await manager.stop()
  forgetLogin(manager)
  if (written) removeFile(written.file, written.folder)
  rmSync(recordOf(home), { force: true })
  if (isManaged) await manager.forget()
  terminal.tell({ removed: isThere, file: manager.file }, () =>
    terminal.print(
      isThere
        ? `Removed ${manager.file}. The fleet is down; agents continue, and the next fleet up picks them up.`
        : 'No service is installed for this home.',
    ),
  )
}

/** The link by which systemd starts it at login. Without a running systemd nobody else removes it. */
function forgetLogin({ kind, file, name }: Manager): void {
  if (kind !== 'systemd') return
  const link = join(dirname(file), 'default.target.wants', name)
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === file)
    removeFile(link, dirname(link))
}

export async function showService(cli: Cli): Promise<number> {
  const { terminal } = cli
  const { home, manager } = await placeOf(cli)
  const text = textOf(manager.file)
  const whyNot = await manager.whyNot()
  const state = {
    manager: manager.kind,
    name: manager.name,
    file: manager.file,
    installed: text !== undefined,
    changed_by_hand: text !== undefined && text !== writtenFor(home)?.text,
    active: !whyNot && text !== undefined && (await manager.isActive()),
    problem: whyNot ?? null,
    server: (await runningServer(home))?.pid ?? null,
  }
  terminal.tell(state, () => {
    if (!state.installed) terminal.print('No service is installed for this home. Install it: fleet service install')
    else terminal.print(`${manager.name} is installed and ${state.active ? 'runs' : 'does not run'}.`)
    terminal.facts([
      ['File', state.installed ? state.file : null],
      ['Changed', state.changed_by_hand ? 'by hand: fleet service remove will leave it alone' : null],
      ['Problem', state.problem],
      ['Server', state.server === null ? 'down' : `process ${state.server}`],
    ])
  })
  return state.active ? EXIT.done : EXIT.state
}
