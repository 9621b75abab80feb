import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Unfit } from '../domain/errors.ts'

/** The tar of the system: people can open a backup without this program, even in ten years. */
export async function tar(args: readonly string[]): Promise<void> {
  // Otherwise macOS adds its own files.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', COPYFILE_DISABLE: '1' }
  await promisify(execFile)('tar', [...args], { env, maxBuffer: 1024 * 1024 }).catch(cause => {
    if (cause.code === 'ENOENT') throw new Unfit('tar was not found.', { try: 'Install tar.', cause })
    throw new Unfit(`tar: ${String(cause.stderr || cause.message).trim()}`, { cause })
  })
}
