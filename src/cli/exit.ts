import { Refusal } from '../domain/errors.ts'

export const EXIT = { done: 0, failed: 1, usage: 2, person: 3, state: 4, unreachable: 5, cancelled: 130 } as const

/** Printed by --help. A test compares it with EXIT. */
export const EXIT_HELP = `Exit codes:
  0    done
  1    failed
  2    usage error
  3    a mission waits for you
  4    not found, not allowed, or in the wrong state
  5    the server cannot be reached
  130  cancelled`

/** The exit code of a command that waited for a mission. */
export function exitOfMission(mission: { status: string }): number {
  switch (mission.status) {
    case 'failed':
      return EXIT.failed
    case 'needs_input':
    case 'review':
      return EXIT.person
    case 'cancelled':
      return EXIT.cancelled
    default:
      return EXIT.done
  }
}

/** Ends a command that has already said what went wrong. */
export class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

export const exitOfError = (error: unknown): number => {
  if (error instanceof Exit) return error.code
  return error instanceof Refusal ? error.exit : EXIT.failed
}
