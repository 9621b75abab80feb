/** Loads a plugin in its own thread, and finds its parts. */
import { pathToFileURL } from 'node:url'
import { type AdapterFunction, FUNCTIONS } from './adapter-seat.ts'
import type { CodeAgent, Plugin } from './plugin.ts'

export async function loaded(file: string): Promise<Plugin> {
  const module = (await import(pathToFileURL(file).href)) as { default?: Plugin & { default?: Plugin } }
  // A module compiled to CommonJS has its default within the default.
  const plugin = module.default?.default ?? module.default
  if (!plugin || typeof plugin !== 'object') throw new Error('Its default export is not a plugin.')
  return plugin
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Called as a method, so that an adapter written as a class works too. */
export function functionIn(agent: CodeAgent, name: AdapterFunction): ((...input: unknown[]) => unknown) | undefined {
  const path = name.split('.')
  const last = path.pop()!
  const owner = path.reduce<unknown>((within, key) => (within as Record<string, unknown> | undefined)?.[key], agent)
  const found = (owner as Record<string, unknown> | undefined)?.[last]
  return typeof found === 'function' ? (...input) => found.apply(owner, input) : undefined
}

/** The description of an adapter without its functions. */
export const described = (agent: CodeAgent): object => {
  const { kind, name, title, provider, models, folders, can } = agent
  const functions = FUNCTIONS.filter(each => functionIn(agent, each))
  return { kind, name, title, provider, models, folders, can, functions }
}
