import type { LaunchRequest } from './contract.ts'

const INPUT = 'input'
const READING = 'exec "$@" <"$0"'

/** For clients without an option for instructions: they come before the prompt, in a file. */
export function inputFile({ systemPrompt, prompt }: LaunchRequest): Record<string, string> {
  return { [INPUT]: systemPrompt ? `${systemPrompt}\n\n${prompt}` : prompt }
}

/** For clients that run a script: its text alone. */
export const scriptFile = ({ script }: LaunchRequest): Record<string, string> => ({ [INPUT]: script })

/** The command with that file as standard input. The shell script is always the same, so nothing is interpolated. */
export function readingInput({ directory }: LaunchRequest, command: readonly string[]): [string, ...string[]] {
  return ['sh', '-c', READING, `${directory}/${INPUT}`, ...command]
}

/** The program that runs in the end. */
export const programOf = (argv: readonly [string, ...string[]]): string => (argv[2] === READING ? argv[4]! : argv[0])
