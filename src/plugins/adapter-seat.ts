/** What an adapter's thread and whoever asks it have in common. No library: it is loaded into every such thread. */
import type { MessagePort } from 'node:worker_threads'

export const NEEDED = ['detect', 'launch', 'read', 'outcome'] as const
export const TALKING = ['dialogue.begin', 'dialogue.step', 'dialogue.due', 'dialogue.isOver', 'dialogue.say'] as const
/** The functions an adapter may have, where they are found in it. */
export const FUNCTIONS = [
  ...NEEDED,
  ...TALKING,
  'dialogue.answer',
  'dialogue.interrupt',
  'interactive',
  'listModels',
] as const
export type AdapterFunction = (typeof FUNCTIONS)[number]

/** What it is given at its start. */
export interface AdapterSeat {
  file: string
  port: MessagePort
  /** How often it said something, so that one can wait for it without an event loop; and whether it is gone. */
  signs: Int32Array
}
export const SAID = 0
export const GONE = 1

/** What it is told. All data is JSON: nothing but data gets across. */
export interface AdapterOrder {
  id: number
  agent: string
  of: AdapterFunction
  /** The arguments; of `read`, those of every line. */
  json: string
}

/** The id of its first word: it is loaded, or why not. */
export const READY = 0
