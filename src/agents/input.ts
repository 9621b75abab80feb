import type { LaunchRequest } from './contract.ts'

const INPUT = 'input'

/** For clients that have no place for instructions of their own: said before the prompt, and read from a file. */
export function inputFile({ systemPrompt, prompt }: LaunchRequest): Record<string, string> {
  return { [INPUT]: systemPrompt ? `${systemPrompt}\n\n${prompt}` : prompt }
}

/** For those that run a script: its text alone. */
export const scriptFile = ({ script }: LaunchRequest): Record<string, string> => ({ [INPUT]: script })

/** The command with that file as its standard input. The script is always the same, so nothing is interpolated. */
export function readingInput({ directory }: LaunchRequest, command: readonly string[]): [string, ...string[]] {
  return ['sh', '-c', 'exec "$@" <"$0"', `${directory}/${INPUT}`, ...command]
}
