import { expect, test } from 'vitest'
import { AGENTS } from './index.ts'
import { parseObject } from './json.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('what is nested deeper than anything could be written down again is no object', () => {
  expect(parseObject(`{"a":${nested(400)}}`)).toBeDefined()
  expect(parseObject(`{"a":${nested(20_000)}}`)).toBeUndefined()
  // Brackets in a text are letters, also behind a quotation mark that is one.
  const text = `\\"${'['.repeat(2000)}\\\\`
  expect(parseObject(JSON.stringify({ text }))).toEqual({ text })
  expect(parseObject('{"a')).toBeUndefined()
})

test('no reader is brought down by what is nested deep', () => {
  const deep = nested(20_000)
  for (const agent of AGENTS)
    for (const line of [
      `{"type":"user","message":{"content":[{"type":"tool_result","content":${deep}}]}}`,
      `{"type":"assistant","message":{"content":[${deep}]}}`,
      `{"method":"item/completed","params":{"item":{"type":"userMessage","content":[${deep}]}}}`,
    ])
      expect(() => JSON.stringify(agent.read(line, 'stdout'))).not.toThrow()
})
