/** Loads a plugin inside a thread of its own, and finds its way around in it. */
import { pathToFileURL } from 'node:url'
import { type AdapterFunction, FUNCTIONS } from './adapter-seat.ts'
import type { CodeAgent, Plugin } from './plugin.ts'

export async function loaded(file: string): Promise<Plugin> {
  const module = (await import(pathToFileURL(file).href)) as { default?: Plugin & { default?: Plugin } }
  // A module compiled to CommonJS has its default within the default.
  const plugin = module.default?.default ?? module.default
  if (!plugin || typeof plugin !== 'object') throw new Error('It has no default export that is a plugin.')
  return plugin
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** As a method, so that an adapter written as a class works as well. */
export function functionIn(agent: CodeAgent, name: AdapterFunction): ((...input: unknown[]) => unknown) | undefined {
  const path = name.split('.')
  const last = path.pop()!
  const owner = path.reduce<unknown>((within, key) => (within as Record<string, unknown> | undefined)?.[key], agent)
  const found = (owner as Record<string, unknown> | undefined)?.[last]
  return typeof found === 'function' ? (...input) => found.apply(owner, input) : undefined
}

/** What can be said of an adapter without its functions. */
export const described = (agent: CodeAgent): object => {
  const { kind, name, title, provider, models, folders, can } = agent
  const functions = FUNCTIONS.filter(each => functionIn(agent, each))
  return { kind, name, title, provider, models, folders, can, functions }
}
