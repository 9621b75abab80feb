/** What an adapter's thread and its callers share. It uses no library, because every such thread loads it. */
import type { MessagePort } from 'node:worker_threads'

export const NEEDED = ['detect', 'launch', 'read', 'outcome'] as const
export const TALKING = ['dialogue.begin', 'dialogue.step', 'dialogue.due', 'dialogue.isOver', 'dialogue.say'] as const
/** The functions an adapter may have, by their path in it. */
export const FUNCTIONS = [
  ...NEEDED,
  ...TALKING,
  'dialogue.answer',
  'dialogue.interrupt',
  'interactive',
  'listModels',
] as const
export type AdapterFunction = (typeof FUNCTIONS)[number]

/** What the thread gets at its start. */
export interface AdapterSeat {
  file: string
  port: MessagePort
  /** How many messages it has sent, so that a caller can wait without an event loop; and whether it is gone. */
  signs: Int32Array
}
export const SAID = 0
export const GONE = 1

/** A call. All data is JSON: only data gets across. */
export interface AdapterOrder {
  id: number
  agent: string
  of: AdapterFunction
  /** The arguments; for `read`, those of every line. */
  json: string
}

/** The id of its first message: it is loaded, or why not. */
export const READY = 0
