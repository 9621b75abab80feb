import { spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FLOOR = join(import.meta.dirname, 'floor.sh')

/** Runs a program to its end and returns its output. Anything but success is an error. */
export function output(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    let complaint = ''
    child.stdout.on('data', chunk => {
      text += chunk
    })
    child.stderr.on('data', chunk => {
      complaint += chunk
    })
    child.once('error', reject)
    child.once('close', code =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${complaint}`)),
    )
  })
}

export const floor = (...args: (string | number)[]): Promise<string> => output('/bin/sh', [FLOOR, ...args.map(String)])

export async function elapsed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

/** Linux's unit for processor times, the same on every machine. */
const TICKS_PER_SECOND = 100

/** A server, its launcher and the small process that starts programs for it, without those programs. */
export function serverProcesses(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.filter(isNode).flatMap(serverProcesses)]
}

/** A git or a shell may be gone by now. */
function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`).endsWith('/node')
  } catch {
    return false
  }
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Seconds of processor time that a process has used so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The most memory a process ever used, or what it uses now, in MiB. */
export function memory(pid: number, which: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${which}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(line?.[1]) / 1024
}

/** Its part of the memory that it shares with other processes, and all of its own, in MiB. */
export function sharedOut(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1]) / 1024
}
