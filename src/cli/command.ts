import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { InvalidInput } from '../domain/errors.ts'
import { connect } from './client.ts'
import type { Client, Where } from './server.ts'
import { type Streams, Terminal } from './terminal.ts'

/** What every command gets. */
export interface Cli {
  terminal: Terminal
  where: Where
  /** Opened on first use, closed when the command is over. */
  client(): Promise<Client>
  ask<T>(operation: string, input: object): Promise<T>
}

/** The input of one run of the command line. */
export interface Invocation {
  streams: Streams
  connect?: (where: Where) => Promise<Client>
}

type Options = Record<string, unknown>
/** A number is the exit code; nothing means done. */
type Work = (cli: Cli, args: string[], options: Options) => Promise<number | undefined>

const invocations = new WeakMap<Command, Invocation>()
const exitCodes = new WeakMap<Command, number>()

export const setInvocation = (program: Command, invocation: Invocation): void =>
  void invocations.set(program, invocation)
export const exitCodeOf = (program: Command): number => exitCodes.get(program) ?? 0

/** Attaches the work to a command. */
export function does(command: Command, work: Work): Command {
  return command.action(async () => {
    const program = rootOf(command)
    const { streams, connect: connecting = connect } = invocations.get(program)!
    const options = command.optsWithGlobals<Options>()
    const terminal = new Terminal(streams, options.json === true)
    const where: Where = {
      home: text(options.home),
      url: text(options.url),
      env: streams.env,
      note: line => terminal.note(line),
    }
    let client: Promise<Client> | undefined
    const opened = () => (client ??= connecting(where))
    const cli: Cli = {
      terminal,
      where,
      client: opened,
      ask: async (operation, input) => (await opened()).call(operation, input),
    }
    try {
      exitCodes.set(program, (await work(cli, command.processedArgs.flat() as string[], options)) ?? 0)
    } finally {
      terminal.progress('')
      await (await client?.catch(() => undefined))?.close()
    }
  })
}

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** An option that sets one field of an operation's input. */
export interface Field {
  flags: string
  field: string
  summary: string
  kind?: 'number' | 'list' | 'flag' | 'text'
  choices?: readonly string[]
}

function optionOf({ flags, summary, kind, choices }: Field): Option {
  const option = new Option(flags, summary)
  if (kind === 'number') option.argParser(numberFrom)
  if (kind === 'list') option.argParser(collected)
  if (kind === 'text') option.argParser(value => value)
  if (choices) option.argParser(value => choiceFrom(value, choices)).argChoices = [...choices]
  return option
}

export function addFields(command: Command, fields: readonly Field[]): Command {
  for (const field of fields) command.addOption(optionOf(field))
  return command
}

/** The given fields. An empty value resets a setting. */
export function inputFrom(fields: readonly Field[], options: Options): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const value = options[optionOf(field).attributeName()]
    if (value !== undefined) input[field.field] = value === '' && field.kind !== 'text' ? null : value
  }
  return input
}

function numberFrom(value: string): number | '' {
  if (value === '') return ''
  if (!/^-?\d+(\.\d+)?$/.test(value)) throw new InvalidArgumentError('It must be a number.')
  return Number(value)
}

export function countFrom(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > 500)
    throw new InvalidArgumentError('It must be a number from 1 to 500.')
  return Number(text)
}

function choiceFrom(value: string, choices: readonly string[]): string {
  if (value !== '' && !choices.includes(value))
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
  return value
}

/** The option may be repeated, and may name several at once. An empty value clears the list. */
export function collected(value: string, before: string[] = []): string[] {
  return [
    ...before,
    ...value
      .split(',')
      .map(each => each.trim())
      .filter(Boolean),
  ]
}

/** A name and a text from the command line. */
export function pairFrom(text: string, example: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidInput(text, `must be a name and a value, such as ${example}`)
  return [text.slice(0, at).trim(), text.slice(at + 1)]
}

/** Text from the command line, `-` for standard input, `@file` for a file. */
export async function textFrom(cli: Cli, argument: string): Promise<string> {
  if (argument === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of cli.terminal.streams.stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  }
  if (!argument.startsWith('@')) return argument
  if (argument.startsWith('@@')) return argument.slice(1)
  const file = resolve(cli.terminal.streams.cwd, argument.slice(1))
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new InvalidInput(argument, `${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`, {
      try: 'For a text that begins with @, write @@.',
    })
  }
}
