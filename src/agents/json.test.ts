import { expect, test } from 'vitest'
import { AGENTS } from './index.ts'
import { parseObject } from './json.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('JSON that is nested too deep to be written again is not an object', () => {
  expect(parseObject(`{"a":${nested(400)}}`)).toBeDefined()
  expect(parseObject(`{"a":${nested(20_000)}}`)).toBeUndefined()
  // Brackets inside a text do not count, even after an escaped quotation mark.
  const text = `\\"${'['.repeat(2000)}\\\\`
  expect(parseObject(JSON.stringify({ text }))).toEqual({ text })
  expect(parseObject('{"a')).toBeUndefined()
})

test('deeply nested JSON crashes no reader', () => {
  const deep = nested(20_000)
  for (const agent of AGENTS)
    for (const line of [
      `{"type":"user","message":{"content":[{"type":"tool_result","content":${deep}}]}}`,
      `{"type":"assistant","message":{"content":[${deep}]}}`,
      `{"method":"item/completed","params":{"item":{"type":"userMessage","content":[${deep}]}}}`,
    ])
      expect(() => JSON.stringify(agent.read(line, 'stdout'))).not.toThrow()
})
