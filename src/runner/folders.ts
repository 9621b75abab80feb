import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Each launch has a folder of its own, `agent-1` and so on: one that nobody claimed is never used again. */
export function newestLaunch(directory: string, kind: string): string | undefined {
  if (!existsSync(directory)) return undefined
  const numbers = readdirSync(directory).flatMap(name =>
    name.startsWith(`${kind}-`) ? [Number(name.slice(kind.length + 1))] : [],
  )
  return numbers.length ? join(directory, `${kind}-${Math.max(...numbers)}`) : undefined
}

export function nextLaunch(directory: string, kind: string): string {
  const newest = newestLaunch(directory, kind)
  const number = newest ? Number(newest.slice(newest.lastIndexOf('-') + 1)) + 1 : 1
  const folder = join(directory, `${kind}-${number}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

export function writeFiles(
  directory: string,
  files: Readonly<Record<string, string | { content: string; mode: number }>>,
): void {
  for (const [name, file] of Object.entries(files)) {
    const { content, mode } = typeof file === 'string' ? { content: file, mode: 0o600 } : file
    writeFileSync(join(directory, name), content, { mode })
  }
}

/** The end of what a program printed, errors last: for a sentence, or as evidence. */
export function outputOf(directory: string, maxBytes: number): string {
  return ['stdout', 'stderr']
    .map(name => endOf(join(directory, name), maxBytes))
    .filter(Boolean)
    .join('\n')
}

function endOf(file: string, maxBytes: number): string {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, maxBytes))
    readSync(fd, buffer, 0, buffer.length, size - buffer.length)
    return (size > maxBytes ? '…' : '') + buffer.toString('utf8').trimEnd()
  } finally {
    closeSync(fd)
  }
}
