import type { LaunchRequest } from './contract.ts'

const INPUT = 'input'
const READING = 'exec "$@" <"$0"'

/** For clients that have no place for instructions of their own: said before the prompt, and read from a file. */
export function inputFile({ systemPrompt, prompt }: LaunchRequest): Record<string, string> {
  return { [INPUT]: systemPrompt ? `${systemPrompt}\n\n${prompt}` : prompt }
}

/** For those that run a script: its text alone. */
export const scriptFile = ({ script }: LaunchRequest): Record<string, string> => ({ [INPUT]: script })

/** The command with that file as its standard input. The script is always the same, so nothing is interpolated. */
export function readingInput({ directory }: LaunchRequest, command: readonly string[]): [string, ...string[]] {
  return ['sh', '-c', READING, `${directory}/${INPUT}`, ...command]
}

/** What is run in the end. */
export const programOf = (argv: readonly [string, ...string[]]): string => (argv[2] === READING ? argv[4]! : argv[0])
