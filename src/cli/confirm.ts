import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'

/** Asks the person once; anything but yes is no. */
export async function confirmed({ streams }: Terminal, question: string): Promise<boolean> {
  const questions = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return /^(y|yes)$/i.test((await questions.question(`${question} [y/N] `)).trim())
  } finally {
    questions.close()
  }
}
