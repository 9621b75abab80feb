import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Unfit } from '../domain/errors.ts'
import type { Screen } from '../domain/rules/screen.ts'
import { linesOf } from '../domain/rules/screen.ts'
import { effect } from '../platform/effects.ts'
import { type Identity, identityOf, isAlive } from '../runner/processes.ts'
import { type Ran, runProgram } from '../spawning/index.ts'
import type { Key } from './keys.ts'

/** One pane, told apart from everything that may have its names later: after a restart of tmux they are given again. */
export interface Pane {
  server: Identity
  pane: string
  process: Identity
}

/** What is in a pane now. `gone`: it is not the one that was meant, and nothing is typed into it. */
export type Look = { gone: string } | { over: true; screen: Screen } | { over: false; screen: Screen }

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4 * 1024 * 1024
/** A longer path does not fit into the address of a socket. */
const LONGEST_SOCKET = 100
export const SIZE = { columns: 160, rows: 50 } as const

/** The person's own settings are not read: they could run programs, or type into panes. */
const SETTINGS = `set -g remain-on-exit on
set -g history-limit 20000
set -g default-terminal screen-256color
set -g update-environment ""
set -s escape-time 10
set -s set-clipboard off
set -g allow-rename off
set -g mouse on
set -g status-right ""
`

const FACTS = [...['pid', 'pane_id', 'pane_pid', 'pane_dead', 'cursor_x', 'cursor_y', 'pane_in_mode']] as const

/** A tmux server of the fleet's own, with a socket that only its user can open. */
export class Tmux {
  readonly #folder: string
  readonly #environment: Record<string, string>
  #socket: string | undefined

  /** `home`: the folder of the fleet. `environment`: what programs in it find. */
  constructor(home: string, environment: Record<string, string>) {
    this.#folder = join(home, 'tmux')
    this.#environment = environment
  }

  get socket(): string {
    this.#socket ??= socketIn(this.#folder)
    return this.#socket
  }

  async isInstalled(): Promise<boolean> {
    const { code, failure } = await this.#program(['-V'])
    return failure === undefined && code === 0
  }

  /** Opens a window with a program. A second one of the same name is refused by tmux. */
  async open(name: string, cwd: string, argv: readonly string[]): Promise<Pane> {
    const { socket } = this
    const settings = join(this.#folder, 'tmux.conf')
    writeFileSync(settings, SETTINGS, { mode: 0o600 })
    const how = ['-f', settings, 'new-session', '-d', '-s', name, '-x', `${SIZE.columns}`, '-y', `${SIZE.rows}`]
    const printed = ['-P', '-F', '#{pid} #{pane_id} #{pane_pid}']
    const ran = await effect('tmux.open', () =>
      this.#run(socket, [...how, '-c', asFolder(cwd), ...printed, '--', ...argv]),
    )
    const [server, pane = '', process] = said(ran).trim().split(' ')
    const [of, child] = [identityOf(Number(server)), identityOf(Number(process))]
    if (!of || !child || !isPaneId(pane)) throw new Unfit(`The program in the window ${name} ended at once.`)
    return { server: of, pane, process: child }
  }

  /** Reads what a pane shows, and whether it still is the one that was opened. */
  async look({ server, pane, process }: Pane): Promise<Look> {
    if (!isAlive(server)) return { gone: 'tmux was restarted since, so its window is gone.' }
    const format = FACTS.map(fact => `#{${fact}}`).join(' ')
    const ran = await this.#run(this.socket, [
      ...['display-message', '-p', '-t', pane, format, ';', 'capture-pane', '-p', '-e', '-t', pane],
    ])
    if (ran.code !== 0) return { gone: 'Its window is closed.' }
    const text = ran.stdout.toString('utf8')
    const end = text.indexOf('\n')
    const [pid, id, child, dead, x, y, mode] = text.slice(0, end).split(' ')
    if (Number(pid) !== server.pid) return { gone: 'Another tmux answers where its window was.' }
    if (id !== pane || Number(child) !== process.pid) return { gone: 'Something else runs where its window was.' }
    const screen = {
      ...linesOf(text.slice(end + 1)),
      cursor: { x: Number(x), y: Number(y) },
      scrolled: mode !== '0',
    }
    if (dead === '1') return { over: true, screen }
    if (!isAlive(process)) return { gone: 'Something else runs where its window was.' }
    return { over: false, screen }
  }

  /** The last lines of a pane, also those that were scrolled away. Undefined: it is not the one that was meant. */
  async lines(pane: Pane, count: number): Promise<string[] | undefined> {
    const found = await this.look(pane)
    if ('gone' in found) return undefined
    const ran = await this.#run(this.socket, ['capture-pane', '-p', '-e', '-S', `-${count}`, '-t', pane.pane])
    if (ran.code !== 0) return undefined
    const { lines } = linesOf(ran.stdout.toString('utf8'))
    const last = lines.findLastIndex(line => line !== '')
    return lines.slice(0, last + 1).slice(-count)
  }

  /** Types a text as a paste, so that nothing in it is a key. False: the pane or its cursor is not as it was seen. */
  async paste(pane: Pane, seen: Screen, text: string): Promise<boolean> {
    const buffer = `fleet-${createHash('sha256').update(`${pane.pane} ${performance.now()}`).digest('hex').slice(0, 12)}`
    const loaded = await this.#run(this.socket, ['load-buffer', '-b', buffer, '-'], text)
    if (loaded.code !== 0) return false
    const done = await effect('tmux.type', () =>
      this.#asSeen(pane, seen, `paste-buffer -p -d -b ${buffer} -t ${pane.pane}`),
    )
    if (!done) await this.#run(this.socket, ['delete-buffer', '-b', buffer])
    return done
  }

  /** Presses keys by their names in tmux, if the pane is as it was seen. */
  press(pane: Pane, seen: Screen, keys: readonly Key[]): Promise<boolean> {
    return effect('tmux.type', () => this.#asSeen(pane, seen, `send-keys -t ${pane.pane} ${keys.join(' ')}`))
  }

  /** Closes a window by the name it was opened with. */
  async close(name: string): Promise<void> {
    await effect('tmux.close', () => this.#run(this.socket, ['kill-session', '-t', `=${name}`]))
  }

  /** The command with which a person looks at a window. */
  attachment(name: string): string[] {
    return ['tmux', '-S', this.socket, 'attach-session', '-t', `=${name}`]
  }

  /** Looks and acts in one command of tmux, so that nothing can come between the two. */
  async #asSeen({ server, pane, process }: Pane, { cursor }: Screen, act: string): Promise<boolean> {
    if (!isAlive(server) || !isAlive(process) || !isPaneId(pane)) return false
    const facts = {
      ...{ pid: server.pid, pane_pid: process.pid, pane_dead: 0, pane_in_mode: 0 },
      ...{ cursor_x: cursor.x, cursor_y: cursor.y },
    }
    const all = Object.entries(facts)
      .map(([fact, value]) => `#{==:#{${fact}},${value}}`)
      .reduce((one, other) => `#{&&:${one},${other}}`)
    const ran = await this.#run(this.socket, [
      ...['if-shell', '-F', '-t', pane, all, `${act} ; display-message -p done`, 'display-message -p changed'],
    ])
    return ran.code === 0 && ran.stdout.toString('utf8').trim() === 'done'
  }

  #run(socket: string, args: readonly string[], input?: string): Promise<Ran> {
    return this.#program(['-u', '-S', socket, ...args], input)
  }

  #program(args: readonly string[], input?: string): Promise<Ran> {
    const cwd = this.#environment.HOME ?? '/'
    const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
    return runProgram({ command: 'tmux', args, cwd, env: this.#environment, input, ...limits })
  }
}

/**
 * tmux reads a format in it, which could run programs, and takes a semicolon at its end for the end of the command. It
 * leaves what looks like a style as it is.
 */
const asFolder = (path: string): string =>
  path.replace(/#+(\[?)/g, (run, style) => (style ? run : run + run)).replace(/;$/, '\\;')

const isPaneId = (id: string): boolean => /^%\d+$/.test(id)

function said({ code, stdout, stderr, failure }: Ran): string {
  if (code === 0) return stdout.toString('utf8')
  throw new Unfit(`tmux could not open a window: ${(failure ?? stderr).trim()}`)
}

/** In the home, or where that path is too long, in a folder of the user's own. */
function socketIn(folder: string): string {
  const socket = join(folder, 'socket')
  if (Buffer.byteLength(socket) <= LONGEST_SOCKET) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return socket
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const short = join(tmpdir(), `fleet-tmux-${process.getuid?.() ?? 0}-${name}`)
  mkdirSync(short, { recursive: true, mode: 0o700 })
  const found = lstatSync(short)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0)
    throw new Unfit(`The folder ${short} is not only yours, so no socket of tmux is made there.`)
  return join(short, 'socket')
}
