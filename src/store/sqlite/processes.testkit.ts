import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** A temporary folder, removed after the test. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Running {
  child: ChildProcess
  /** Every line printed so far. */
  printed: string[]
  /** Resolves once this many lines were printed; rejects if the process ends before. */
  lines(count: number): Promise<void>
  exit: Promise<number | string>
}

/** A real process that runs one of this folder's programs. It is ended with the test. */
export function run(program: string, ...args: string[]): Running {
  const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, program), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', line => printed.push(line))
  const exit = new Promise<number | string>(resolve =>
    child.on('close', (code, signal) => resolve(code ?? signal ?? '')),
  )
  const lines = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const look = () => printed.length >= count && resolve()
      reader.on('line', look)
      exit.then(code => reject(new Error(`${program} ended with ${code} after ${printed.length} lines`)))
      look()
    })
  return { child, printed, lines, exit }
}
