/**
 * Refusals: expected failures, each with the facts, a sentence for a person and what to do next.
 * HTTP status and exit code follow from the class, nowhere else.
 */
export abstract class Refusal extends Error {
  abstract readonly code: string
  abstract readonly status: number
  /** What the terminal command exits with; see EXIT in cli. */
  abstract readonly exit: number
  readonly hint: string | undefined
  readonly facts: Record<string, unknown>

  constructor(message: string, more: { try?: string; facts?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.name = new.target.name
    this.hint = more.try
    this.facts = more.facts ?? {}
  }
}

export class InvalidInput extends Refusal {
  readonly code = 'invalid_input'
  readonly status = 400
  readonly exit = 2
  constructor(field: string, problem: string, more: { try?: string } = {}) {
    super(`${field}: ${problem}`, { ...more, facts: { field } })
  }
}

export class NotFound extends Refusal {
  readonly code = 'not_found'
  readonly status = 404
  readonly exit = 4
  constructor(what: string, id: string, more: { try?: string } = {}) {
    super(`There is no ${what} ${JSON.stringify(id)}.`, { ...more, facts: { what, id } })
  }
}

export class Ambiguous extends Refusal {
  readonly code = 'ambiguous'
  readonly status = 400
  readonly exit = 4
  /** `path` tells records with the same name apart. */
  constructor(what: string, given: string, matches: readonly { id: string; path?: string }[]) {
    const each = matches.map(({ id, path }) => (path ? `${id} (${path})` : id))
    super(`${JSON.stringify(given)} could be several ${what}s: ${each.join(', ')}.`, {
      try: matches[0]?.path ? 'Give its id.' : 'Give more letters of the id.',
      facts: { given, matches: matches.map(({ id }) => id) },
    })
  }
}

export class WrongState extends Refusal {
  readonly code = 'wrong_state'
  readonly status = 409
  readonly exit = 4
  constructor(what: string, id: string, is: string, needs: readonly string[], more: { try?: string } = {}) {
    super(`${what} ${id} is ${is}; this needs ${oneOf(needs)}.`, { ...more, facts: { id, is, needs } })
  }
}

/** The request is well formed and the state is right, but a rule forbids it. */
export class NotAllowed extends Refusal {
  readonly code = 'not_allowed'
  readonly status = 409
  readonly exit = 4
}

export class Forbidden extends Refusal {
  readonly code: string = 'forbidden'
  readonly status: number = 403
  readonly exit = 4
}

export class Unauthorized extends Refusal {
  readonly code = 'unauthorized'
  readonly status = 401
  readonly exit = 4
}

/** Something on this machine is missing or unfit: a tool, a disk, a version. */
export class Unfit extends Refusal {
  readonly code = 'unfit'
  readonly status = 422
  readonly exit = 1
}

/** The store itself has a problem, such as a full disk. It says nothing about the work that ran into it. */
export class StoreTrouble extends Unfit {}

export class Unreachable extends Refusal {
  readonly code = 'unreachable'
  readonly status = 503
  readonly exit = 5
}

export function oneOf(options: readonly string[]): string {
  if (options.length <= 1) return options[0] ?? 'nothing'
  return `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`
}

/**
 * The store gave no answer, so nobody knows whether a commit was written.
 * - A command with a key is asked again: its receipt says whether it happened.
 * - A command without a key is left to its caller, who looks before asking again.
 * - A reactor takes stock: its work follows from the records.
 * - A reader reads again.
 * This is no refusal, because it says nothing about the request.
 */
export class Unavailable extends Error {
  readonly hint: string | undefined
  constructor(message: string, more: { try?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.name = 'Unavailable'
    this.hint = more.try
  }
}

/** Whether an error is the store's own. Whatever work ran into it is tried again, and has not failed. */
export const isOfTheStore = (error: unknown): error is StoreTrouble | Unavailable =>
  error instanceof StoreTrouble || error instanceof Unavailable
