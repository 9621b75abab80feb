import { type ChildProcess, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { eventually, NODE, ROOT } from './fleet.ts'

/** A person at a real terminal: `script` of util-linux gives one. */
export interface Person {
  /** All that was ever on it, without colours and cursor movements. */
  screen(): string
  type(line: string): void
  /** Keys without an end of line, such as Ctrl-C. */
  press(keys: string): void
  sees(text: string | RegExp): Promise<unknown>
  /** The exit code of the command. */
  over: Promise<number | null>
  /** The terminal is closed over its head. */
  close(): Promise<void>
}

/** Runs one fleet command in a terminal of its own. */
export function atTerminal(args: readonly string[], env: Record<string, string>): Person {
  const line = 'exec "$PTY_NODE" "$PTY_FLEET" $PTY_ARGUMENTS'
  const command = { PTY_NODE: NODE, PTY_FLEET: `${ROOT}/bin/fleet.js`, PTY_ARGUMENTS: args.join(' ') }
  const child: ChildProcess = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...env, ...command, SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let seen = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (seen += chunk))
  const screen = () => stripVTControlCharacters(seen)
  const over = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  const close = async () => {
    child.kill('SIGKILL')
    await over
  }
  onTestFinished(close)
  return {
    screen,
    type: text => void child.stdin?.write(`${text}\r`),
    press: keys => void child.stdin?.write(keys),
    sees: text =>
      eventually(
        `the screen shows ${text}`,
        () => (typeof text === 'string' ? screen().includes(text) : text.test(screen())) || undefined,
        screen,
      ),
    over,
    close,
  }
}
