import type { Command } from 'commander'
import { Refusal, Unavailable } from '../domain/errors.ts'
import { forPeople } from '../domain/rules/input-words.ts'
import { safe } from '../platform/safe-text.ts'
import { EXIT, Exit, exitOfError } from './exit.ts'
import type { Streams } from './terminal.ts'

/** The command line itself is wrong. */
class UsageError extends Refusal {
  readonly code = 'usage'
  readonly status = 400
  readonly exit = EXIT.usage
}

/** What Commander found, as a sentence like all others. */
export function usageError(text: string, program: Command, args: readonly string[]): Refusal {
  const [first = '', ...more] = text.trim().split('\n')
  const problem = first.replace(/^error: /, '')
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
  const meant = /\(Did you mean (?:one of )?(.+)\?\)/.exec(more.join(' '))?.[1]?.split(', ') ?? []
  const path = ['fleet', ...pathOf(program, args)]
  return new UsageError(/[.?!)]$/.test(sentence) ? sentence : `${sentence}.`, {
    try: [...meant, '--help'].map(word => [...path, word].join(' ')).join(', or '),
  })
}

/** The words of the command line that name a command. */
function pathOf(command: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args.filter(arg => !arg.startsWith('-'))
  const found = command.commands.find(each => each.name() === name || (name && each.aliases().includes(name)))
  return found && name ? [name, ...pathOf(found, rest)] : []
}

/**
 * One sentence, and what to do next. For programs, the same as one line of JSON: the last line of standard error, in the
 * form in which the REST API answers.
 */
export function complain(error: unknown, streams: Streams, json: boolean): void {
  if (error instanceof Exit) return
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof Refusal || error instanceof Unavailable ? error.hint : undefined
  if (json) {
    const { code, facts } = error instanceof Refusal ? error : { code: 'error', facts: {} }
    const told = { ...facts, code, message, ...(hint && { try: hint }), exit: exitOfError(error) }
    return void streams.stderr.write(`${JSON.stringify({ error: told })}\n`)
  }
  const say = (line: string) => streams.stderr.write(`${streams.stderr.isTTY ? safe(line) : line}\n`)
  const field = error instanceof Refusal ? error.facts.field : undefined
  say(`fleet: ${forPeople(message, field as string | undefined)}`)
  if (hint) say(`  Try: ${hint}`)
  else if (!(error instanceof Refusal) && streams.env.FLEET_DEBUG) say(String((error as Error).stack))
}
