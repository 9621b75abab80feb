import { type ChildProcess, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { eventually, NODE, ROOT } from './fleet.ts'

/** A person at a real terminal, made with `script` of util-linux. */
export interface Person {
  /** Everything shown so far, without colours and cursor movements. */
  screen(): string
  type(line: string): void
  /** Keys without an end of line, such as Ctrl-C. */
  press(keys: string): void
  sees(text: string | RegExp): Promise<unknown>
  /** The exit code of the command. */
  over: Promise<number | null>
  /** Closes the terminal while the command runs. */
  close(): Promise<void>
}

/** Runs one fleet command in its own terminal. */
export function atTerminal(args: readonly string[], env: Record<string, string>): Person {
  const line = 'exec "$PTY_NODE" "$PTY_FLEET" $PTY_ARGUMENTS'
  const command = { PTY_NODE: NODE, PTY_FLEET: `${ROOT}/bin/fleet.js`, PTY_ARGUMENTS: args.join(' ') }
  const child: ChildProcess = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...env, ...command, SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let seen = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (seen += chunk))
  // A key that is pressed after the end reaches nobody.
  child.stdin?.on('error', () => {})
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
