import { expect } from 'vitest'
import { KNOWN_NAMES, type KnownTool, type NameKind } from '../../src/config/known-names/index.ts'
import type { Connected } from '../../src/server/mcp/client.testkit.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of an answer
export type Anything = any

/** Records which of the working names a test has called, and which it forgot. */
export function ledger(from: KnownTool | undefined, ...kinds: NameKind[]) {
  const names = KNOWN_NAMES.filter(
    each =>
      ['kept', 'changed'].includes(each.fate) &&
      kinds.includes(each.kind) &&
      (from === undefined || each.from === from),
  )
  const called = new Set<string>()
  return {
    names,
    call(...given: string[]): void {
      for (const name of given) {
        if (!names.some(each => each.name === name)) throw new Error(`${name} is not among the names that work here`)
        called.add(name)
      }
    },
    forgotten: () => names.flatMap(({ name }) => (called.has(name) ? [] : [name])),
  }
}

/** Calls tools and records which; a failing tool fails the test. */
export function toolsOf(mcp: Connected, call: (name: string) => void) {
  return async (tool: string, input: object = {}): Promise<Anything> => {
    call(tool)
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, `${tool}: ${text}`).toBe(false)
    return JSON.parse(text)
  }
}
