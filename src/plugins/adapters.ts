import { statSync } from 'node:fs'
import * as z from 'zod'
import type { Agent, Detected } from '../agents/contract.ts'
import { agentsFrom, DeclaredAgents } from '../agents/declared.ts'
import { AdapterFault } from '../agents/reading.ts'
import { textOf } from '../platform/whole-files.ts'
import { ANSWERS, CodeDeclaration, capabilitiesOf } from './adapter-contract.ts'
import type { AdapterFunction } from './adapter-seat.ts'
import { AdapterThread } from './adapter-thread.ts'

/** The file in the home with the agents of plugins, for every process of it. */
export const PLUGIN_AGENTS_FILE = 'plugin-agents.json'

const Brought = z.strictObject({
  agents: DeclaredAgents.shape.agents,
  code: z
    .array(
      z.strictObject({
        plugin: z.string(),
        file: z.string(),
        /** Changes each time the plugin is reloaded. */
        reading: z.string(),
        agent: CodeDeclaration,
      }),
    )
    .default([]),
})
export type Brought = z.infer<typeof Brought>
type Code = Brought['code'][number]

/** What a server that runs plugins wants to know about their adapters. */
export interface AdapterNews {
  fault(plugin: string, fault: AdapterFault): void
  printed(plugin: string, text: string): void
}

/** The agents of plugins, in any process. Their code is loaded when it is first needed, and again after a reload. */
export class PluginAgents {
  news: AdapterNews | undefined
  readonly #file: string
  #stamp = ''
  #brought: Brought = { agents: [], code: [] }
  #all: readonly Agent[] = []
  readonly #threads = new Map<string, { reading: string; thread: AdapterThread }>()

  constructor(file: string) {
    this.#file = file
  }

  get all(): readonly Agent[] {
    this.#look()
    return this.#all
  }

  /** Loads the adapters of a plugin before the first call. */
  async ready(plugin: string): Promise<void> {
    this.#look()
    const code = this.#brought.code.find(each => each.plugin === plugin)
    if (code) await this.#threadOf(code).ready()
  }

  /** The checked answer of an adapter's function. A fault names the agent and the plugin. */
  call<F extends AdapterFunction>(plugin: string, agent: string, of: F, input: readonly unknown[]): Answered<F> {
    try {
      return checked(of, this.#threadOf(this.#code(plugin, agent)).call(agent, of, input))
    } catch (error) {
      throw this.#blamed(plugin, agent, error)
    }
  }

  async ask<F extends AdapterFunction>(
    plugin: string,
    agent: string,
    of: F,
    input: readonly unknown[],
  ): Promise<Answered<F>> {
    try {
      return checked(of, await AdapterThread.ask(this.#code(plugin, agent).file, agent, of, input))
    } catch (error) {
      throw this.#blamed(plugin, agent, error)
    }
  }

  /** The next call loads the code again. */
  end(): void {
    for (const { thread } of this.#threads.values()) thread.end()
    this.#threads.clear()
  }

  #code(plugin: string, agent: string): Code {
    this.#look()
    const found = this.#brought.code.find(each => each.plugin === plugin && each.agent.name === agent)
    if (found) return found
    throw new SwitchedOff(`The plugin ${plugin} is switched off.`, false)
  }

  #threadOf({ plugin, file, reading }: Code): AdapterThread {
    const known = this.#threads.get(plugin)
    if (known?.reading === reading && !known.thread.isOver) return known.thread
    const thread = new AdapterThread(file, text => this.news?.printed(plugin, text))
    this.#threads.set(plugin, { reading, thread })
    return thread
  }

  #blamed(plugin: string, agent: string, error: unknown): unknown {
    if (!(error instanceof AdapterFault)) return error
    const fault = new AdapterFault(
      `The agent ${agent}, code of the plugin ${plugin}, failed: ${error.message}`,
      error.ended,
    )
    if (!(error instanceof SwitchedOff)) this.news?.fault(plugin, fault)
    return fault
  }

  #look(): void {
    const stamp = stampOf(this.#file)
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    this.#brought = read(this.#file)
    const declared = agentsFrom(this.#brought.agents)
    this.#all = [...declared, ...this.#brought.code.map(each => codeAgent(each, this))]
    for (const [plugin, { reading, thread }] of this.#threads)
      if (!this.#brought.code.some(each => each.plugin === plugin && each.reading === reading)) {
        thread.end()
        this.#threads.delete(plugin)
      }
  }
}

class SwitchedOff extends AdapterFault {}

type Answered<F extends AdapterFunction> = z.infer<(typeof ANSWERS)[F]>

function checked<F extends AdapterFunction>(of: F, said: unknown): Answered<F> {
  const { success, data, error } = ANSWERS[of].safeParse(said ?? undefined)
  if (success) return data as Answered<F>
  const [issue] = error.issues
  const where = issue!.path.length ? `${issue!.path.join('.')}: ` : ''
  throw new AdapterFault(`${of} gave an invalid answer: ${where}${issue!.message}.`, false)
}

/** An agent whose answers all come from the code of a plugin. */
function codeAgent({ plugin, agent }: Code, of: PluginAgents): Agent {
  const { name, title = name, provider = name, models, folders, functions } = agent
  const has = (each: AdapterFunction) => functions.includes(each)
  const call = <F extends AdapterFunction>(each: F, ...input: unknown[]) => of.call(plugin, name, each, input)
  return {
    name,
    title,
    provider,
    plugin,
    can: capabilitiesOf(agent),
    models,
    folders,
    detect: environment => of.ask(plugin, name, 'detect', [environment]).catch(notThere),
    ...(has('listModels') && { listModels: environment => of.ask(plugin, name, 'listModels', [environment]) }),
    launch: request => call('launch', request),
    ...(has('interactive') && { interactive: opening => call('interactive', opening) }),
    read: (text, stream) => call('read', [text, stream])[0]!,
    readAll: lines => (lines.length ? call('read', ...lines.map(({ text, stream }) => [text, stream])) : []),
    outcome: (digest, exit) => call('outcome', digest, exit),
    ...(has('dialogue.begin') && {
      dialogue: {
        begin: request => call('dialogue.begin', request),
        step: (state, line, stream) => call('dialogue.step', state, line, stream),
        due: state => call('dialogue.due', state),
        isOver: state => call('dialogue.isOver', state),
        say: (state, id, text) => call('dialogue.say', state, id, text),
        ...(has('dialogue.answer') && { answer: (state, id, answer) => call('dialogue.answer', state, id, answer) }),
        ...(has('dialogue.interrupt') && { interrupt: (state, id) => call('dialogue.interrupt', state, id) }),
      },
    }),
  }
}

function notThere(error: unknown): Detected {
  if (!(error instanceof AdapterFault)) throw error
  return { installed: false, advice: error.message }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : ''
}

/** Only the fleet writes this file. An invalid file means no agents. */
function read(file: string): Brought {
  try {
    return Brought.parse(JSON.parse(textOf(file) ?? ''))
  } catch {
    return { agents: [], code: [] }
  }
}
