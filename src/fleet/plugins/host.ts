import * as z from 'zod'
import type { AdapterFault } from '../../agents/index.ts'
import { NotAllowed, NotFound, Unfit } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { Turns } from '../../git/turns.ts'
import { effect } from '../../platform/effects.ts'
import { AFTER, type Hook, type Manifest } from '../../plugins/contract.ts'
import { type Source, settingsOf } from '../../plugins/finding.ts'
import { PluginFault, PluginThread } from '../../plugins/thread.ts'
import { LeaseLost } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { sentence } from '../sentences.ts'
import { type Bringer, keepPluginAgents, requireFreeNames } from './agents.ts'
import { News } from './news.ts'
import { notePlugin, recordOf, sourcesOf, switchPlugin } from './records.ts'
import type { PluginTool, RunningPlugins, ShownSeat } from './running.ts'

/** A thread that ended this often within this time is not started again. */
const MAX_ENDS = 3
const ENDS_WITHIN_MS = 600_000
/** One event for the first fault, then at most one a minute for all that follow. */
const REPORT_EVERY_MS = 60_000
/** Notifications and tools may take this many times as long as a decision that something waits for. */
const PATIENCE = 6
/** A start may take this many times as long: many plugins may start at once on a busy machine. */
const PATIENCE_AT_START = 3

/** A server that stops decides nothing more. The next server asks the plugin again. */
const NEVER = new Promise<never>(() => {})

export interface PluginSurroundings {
  /** Asks for an operation in the name of a plugin. */
  ask(plugin: string, operation: string, input: unknown, key?: string): Promise<unknown>
  onFault(what: string, error: unknown): void
  log(plugin: string, text: string): void
}

interface Seat extends ShownSeat {
  source: Source
  /** A new id each time the plugin is loaded. */
  reading: string
  /** While it is being started. */
  starting: Promise<void> | undefined
  news: News | undefined
  reportedAt: number
  /** When its threads ended. */
  ends: number[]
}

/** Runs the plugins of a home. Only the daemon has one. */
export class PluginHost implements RunningPlugins {
  readonly #fleet: Fleet
  readonly #around: PluginSurroundings
  readonly #seats = new Map<string, Seat>()
  /** By plugin, so that none is started while it is being ended. */
  readonly #turns = new Turns()
  #over = false

  constructor(fleet: Fleet, around: PluginSurroundings) {
    this.#fleet = fleet
    this.#around = around
    fleet.pluginAgents.news = {
      fault: (plugin, fault) => this.#misread(plugin, fault),
      printed: (plugin, text) => around.log(plugin, text),
    }
  }

  /** No plugin makes this fail: one that does not start is switched off. */
  async start(): Promise<void> {
    await Promise.all(
      sourcesOf(this.#fleet).map(async source => {
        if ((await recordOf(this.#fleet, source)).enabled) await this.#inTurn(source, () => this.#launch(source))
      }),
    )
    await this.#bring()
  }

  async stop(): Promise<void> {
    this.#over = true
    this.#fleet.pluginAgents.news = undefined
    this.#fleet.pluginAgents.end()
    await Promise.all([...this.#seats.values()].map(seat => this.#close(seat)))
  }

  /** Starts it again, even one that was switched off for its faults. */
  async open(source: Source): Promise<void> {
    await this.#inTurn(source, async () => {
      await this.#leave(source.name)
      await this.#launch(source)
    })
    await this.#bring()
  }

  /** Ends plugins whose files are gone. */
  async keepOnly(sources: readonly Source[]): Promise<void> {
    const gone = [...this.#seats.values()].filter(seat => sources.every(({ name }) => name !== seat.source.name))
    for (const { source } of gone) await this.shut(source)
  }

  async shut(source: Source): Promise<void> {
    await this.#inTurn(source, () => this.#leave(source.name))
    await this.#bring()
  }

  seat(name: string): ShownSeat | undefined {
    return this.#seats.get(name)
  }

  get tools(): PluginTool[] {
    return [...this.#seats.values()].flatMap(seat => seat.tools)
  }

  /** Which plugins have this hook. */
  listening(hook: Hook): string[] {
    const having = [...this.#seats.values()].filter(seat => seat.manifest?.hooks.includes(hook))
    return having.map(seat => seat.source.name).sort()
  }

  /** A plugin's answer to a hook. A failure is reported, and counts as no answer. */
  async hear<S extends z.ZodType>(name: string, hook: Hook, input: object, answer: S): Promise<z.infer<S> | undefined> {
    const seat = this.#seats.get(name)
    await seat?.starting
    const decides = hook.startsWith('pre_')
    if (this.#over && decides) return NEVER
    if (!seat?.thread || seat.thread.isOver) return undefined
    try {
      const said = await seat.thread.call('hooks', hook, input, this.#limit(decides ? 1 : PATIENCE))
      const { success, data, error } = answer.safeParse(said ?? undefined)
      if (success) return data
      const issue = error.issues[0]!
      const where = issue.path.length ? `${issue.path.join('.')}: ` : ''
      throw new PluginFault(`${hook} gave an invalid answer: ${where}${issue.message}.`, false)
    } catch (error) {
      if (this.#over && decides) return NEVER
      // #ended reports that its thread has ended.
      if (!(error instanceof PluginFault) || !error.ended) this.blame(name, `${hook}: ${sentence(error)}`)
      return undefined
    }
  }

  async callTool(plugin: string, name: string, input: object): Promise<unknown> {
    const seat = this.#seats.get(plugin)
    await seat?.starting
    if (!seat?.thread || seat.thread.isOver)
      throw new NotAllowed(`The plugin ${plugin} is not running.`, { try: 'fleet plugin list' })
    const tool = seat.tools.find(each => each.name === name)
    if (!tool) throw new NotFound(`tool of the plugin ${plugin}`, name, { try: 'fleet plugin list' })
    try {
      return (await seat.thread.call('tools', name, input, this.#limit(PATIENCE))) ?? null
    } catch (error) {
      if (error instanceof PluginFault && !error.ended) this.blame(plugin, `${name}: ${error.message}`)
      throw new Unfit(`The tool ${name} of the plugin ${plugin} failed: ${sentence(error)}`, { cause: error })
    }
  }

  /** Asks for an operation in the name of a plugin. */
  askAs(name: string, operation: string, input: object): Promise<unknown> {
    return this.#around.ask(name, operation, input)
  }

  /** Stores a fault of a plugin. Of many at once, it stores only their number and the last one. */
  blame(name: string, what: string): void {
    const seat = this.#seats.get(name)
    if (!seat) return
    seat.faults++
    seat.last = { at: this.#fleet.now(), text: clipped(what, MAX_REASON_CHARS) }
    if (this.#over || performance.now() - seat.reportedAt < REPORT_EVERY_MS) return
    seat.reportedAt = performance.now()
    this.#around.onFault(`plugin ${name}`, new Unfit(what))
    this.#inBackground(
      name,
      notePlugin(this.#fleet, seat.source, () => ({ faults: seat.faults, last_fault: seat.last }), {
        kind: 'plugin_fault',
        actor: 'fleet',
        cause: what,
      }),
    )
  }

  #limit = (patience: number): number => this.#fleet.settings.pluginTimeout * 1000 * patience

  #inTurn<T>({ name }: Source, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(name, work)
  }

  #inBackground(name: string, work: Promise<unknown>): void {
    work.catch(error => this.#over || this.#around.onFault(`plugin ${name}`, error))
  }

  async #launch(source: Source): Promise<void> {
    if (this.#over) return
    const record = await recordOf(this.#fleet, source)
    const seat: Seat = this.#seats.get(source.name) ?? {
      ...{
        source,
        manifest: undefined,
        reading: '',
        tools: [],
        thread: undefined,
        starting: undefined,
        news: undefined,
      },
      ...{ faults: record.faults, last: record.last_fault, reportedAt: -REPORT_EVERY_MS, ends: [] },
    }
    this.#seats.set(source.name, seat)
    await this.#startingWith(seat, this.#begin(seat))
  }

  async #begin(seat: Seat): Promise<void> {
    const { source } = seat
    try {
      if (!source.file) throw new Error(source.problem)
      const thread = await PluginThread.start({
        file: source.file,
        settings: settingsOf(this.#fleet.home.path, source.name),
        environment: this.#fleet.environment,
        startMs: this.#limit(PATIENCE_AT_START),
        ask: (operation, input, key) => this.#around.ask(source.name, operation, input, key),
        log: text => this.#around.log(source.name, text),
        ended: fault => this.#ended(seat, fault),
      })
      seat.thread = thread
      seat.tools = toolsOf(source.name, thread.manifest)
      requireFreeNames(this.#fleet, thread.manifest.agents, this.#bringers(source.name))
      seat.manifest = thread.manifest
      seat.reading = newId()
      if (this.#over) await this.#close(seat)
      else await this.#listen(seat)
    } catch (error) {
      if (!this.#over) await this.#switchOff(seat, sentence(error))
    }
  }

  async #listen(seat: Seat): Promise<void> {
    if (seat.news || !AFTER.some(hook => seat.manifest?.hooks.includes(hook))) return
    const { name } = seat.source
    const save = (cursor: string) => notePlugin(this.#fleet, seat.source, () => ({ cursor }))
    const { cursor } = await recordOf(this.#fleet, seat.source)
    // Saved at once: the next server tells it what happens until then.
    const from = cursor ?? (await save(await this.#fleet.store.tail())).cursor!
    seat.news = new News(this.#fleet, {
      actor: `plugin:${name}`,
      cursor: from,
      listens: hook => seat.manifest?.hooks.includes(hook) === true,
      // A server that was stopped for a while must not tell what the next one has told.
      tell: (hook, told) => effect('plugin.tell', async () => void (await this.hear(name, hook, told, z.unknown()))),
      save: async cursor => void (await save(cursor)),
      onFault: error => error instanceof LeaseLost || this.#around.onFault(`telling the plugin ${name}`, error),
    })
  }

  /** Its thread ended by itself. It gets another one, unless that happened too often. */
  #ended(seat: Seat, fault: PluginFault): void {
    const { source } = seat
    const often = this.#endsTooOften(seat, fault)
    const next = this.#inTurn(source, async () => {
      if (this.#seats.get(source.name) !== seat || seat.thread?.isOver === false) return
      if (!often) return this.#launch(source)
      await this.#switchOff(seat, `${fault.message} That was ${MAX_ENDS} times.`)
    })
    this.#inBackground(
      source.name,
      this.#startingWith(seat, next).then(() => this.#bring()),
    )
  }

  /**
   * One of its adapters failed. The next call to the adapter starts a new thread, so there is nothing to start here.
   */
  #misread(name: string, fault: AdapterFault): void {
    const seat = this.#seats.get(name)
    if (!fault.ended) this.blame(name, fault.message)
    if (!seat || !fault.ended || !this.#endsTooOften(seat, fault)) return
    const off = this.#inTurn(seat.source, async () => {
      if (this.#seats.get(name) === seat) await this.#switchOff(seat, `${fault.message} That was ${MAX_ENDS} times.`)
    })
    this.#inBackground(
      name,
      off.then(() => this.#bring()),
    )
  }

  #endsTooOften(seat: Seat, fault: Error): boolean {
    seat.ends = [...seat.ends.filter(at => performance.now() - at < ENDS_WITHIN_MS), performance.now()]
    this.blame(seat.source.name, fault.message)
    return seat.ends.length >= MAX_ENDS
  }

  /** Calls to the plugin wait while it starts. */
  async #startingWith(seat: Seat, work: Promise<void>): Promise<void> {
    const mine = work.catch(() => {})
    seat.starting = mine
    try {
      await work
    } finally {
      if (seat.starting === mine) seat.starting = undefined
    }
  }

  async #switchOff(seat: Seat, reason: string): Promise<void> {
    this.#seats.delete(seat.source.name)
    this.#around.onFault(`plugin ${seat.source.name} is switched off`, new Unfit(reason))
    await switchPlugin(this.#fleet, seat.source, false, { actor: 'fleet', reason: clipped(reason, MAX_REASON_CHARS) })
    this.#inBackground(seat.source.name, this.#close(seat))
  }

  async #leave(name: string): Promise<void> {
    const seat = this.#seats.get(name)
    this.#seats.delete(name)
    if (seat) await this.#close(seat)
  }

  async #close(seat: Seat): Promise<void> {
    const { thread, news } = seat
    Object.assign(seat, { thread: undefined, news: undefined })
    news?.halt()
    // `news` may wait for this thread, so the thread ends first.
    await thread?.end()
    await news?.stopped()
  }

  #bringers = (but = ''): Bringer[] =>
    [...this.#seats.values()].flatMap(({ source: { name, file }, manifest, reading }) =>
      name !== but && file && manifest?.agents.length ? [{ plugin: name, file, reading, agents: manifest.agents }] : [],
    )

  /**
   * Makes the agents of plugins known, and loads their code before anything waits for it. A plugin whose code does not
   * load is switched off.
   */
  async #bring(): Promise<void> {
    if (this.#over) return
    keepPluginAgents(this.#fleet.home.path, this.#bringers())
    const loading = this.#bringers().map(async ({ plugin, reading }) => {
      const seat = this.#seats.get(plugin)
      try {
        await this.#fleet.pluginAgents.ready(plugin)
      } catch (error) {
        if (!seat || this.#over || this.#seats.get(plugin) !== seat || seat.reading !== reading) return
        await this.#switchOff(seat, sentence(error))
        keepPluginAgents(this.#fleet.home.path, this.#bringers())
      }
    })
    await Promise.all(loading)
  }
}

function toolsOf(plugin: string, { tools }: Manifest): PluginTool[] {
  return tools.map(({ name, summary, read_only, input }) => {
    const schema = z.fromJSONSchema(input as Parameters<typeof z.fromJSONSchema>[0])
    if (!(schema instanceof z.ZodObject)) throw new Error(`The input of its tool ${name} is not of type object.`)
    return { plugin, name, summary, read_only, input: schema.strict() as z.ZodObject }
  })
}
