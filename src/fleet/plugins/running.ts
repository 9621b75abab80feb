import type * as z from 'zod'
import type { PluginRecord } from '../../domain/records/plugin.ts'
import type { Hook, Manifest } from '../../plugins/contract.ts'
import type { Source } from '../../plugins/finding.ts'
import type { PluginThread } from '../../plugins/thread.ts'

export interface PluginTool {
  plugin: string
  name: string
  summary: string
  read_only: boolean
  input: z.ZodObject
}

/** What is shown of a plugin at work. */
export interface ShownSeat {
  manifest: Manifest | undefined
  tools: PluginTool[]
  thread: PluginThread | undefined
  faults: number
  last: PluginRecord['last_fault']
}

/** The plugins at work, as the rest of the fleet knows them. */
export interface RunningPlugins {
  readonly tools: PluginTool[]
  seat(name: string): ShownSeat | undefined
  open(source: Source): Promise<void>
  shut(source: Source): Promise<void>
  /** Ends those that are no longer among these. */
  keepOnly(sources: readonly Source[]): Promise<void>
  /** The plugins that have this hook. */
  listening(hook: Hook): string[]
  hear<S extends z.ZodType>(name: string, hook: Hook, input: object, answer: S): Promise<z.infer<S> | undefined>
  callTool(plugin: string, name: string, input: object): Promise<unknown>
  /** Asks for an operation in the name of a plugin. */
  askAs(name: string, operation: string, input: object): Promise<unknown>
  /** Notes a fault of a plugin. */
  blame(name: string, what: string): void
}
