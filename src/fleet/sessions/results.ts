import { readPlain } from '../../platform/plain-files.ts'

const MAX_RESULT_BYTES = 256 * 1024

/** The report file that an agent wrote, if it is valid JSON. */
export function readResult(file: string): unknown {
  try {
    return JSON.parse(readPlain(file, MAX_RESULT_BYTES) ?? '')
  } catch {
    return undefined
  }
}
