import { expect, test } from 'vitest'
import { AGENTS } from '../../agents/index.ts'
import { isFull } from '../records/session.ts'
import { costOf, KNOWN_MODELS, KnownModel, knownModel } from './prices.ts'

test('a model is known by the names clients have for it', () => {
  const names = ['gpt-5.5', 'openai/gpt-5.5', 'gpt-5.5-2026-05-01', 'claude-haiku-4-5-20251001', 'claude-opus-5-5[1m]']
  for (const name of names) expect(knownModel(KNOWN_MODELS, name), name).toBeDefined()
  for (const name of ['gpt-5', 'gpt-5.50', 'toString', '']) expect(knownModel(KNOWN_MODELS, name), name).toBeUndefined()
})

test('the table is sound, and has the models that priced clients know by name', () => {
  for (const row of Object.values(KNOWN_MODELS)) KnownModel.parse(row)
  const priced = AGENTS.filter(({ can }) => can.cost === 'priced').flatMap(({ models }) => models)
  for (const { name } of priced) expect(knownModel(KNOWN_MODELS, name)?.price, name).toBeDefined()
})

test('each kind of token has its price, and thinking is paid as output', () => {
  const price = { input: 1, cached_input: 0.1, cache_write: 2, output: 10, long: { over: 100, ...twice } }
  const usage = { input_tokens: 10, cache_read_tokens: 20, cache_write_tokens: 30, output_tokens: 40 }
  expect(costOf(price, { ...usage, reasoning_tokens: 30 }) * 1e6).toBeCloseTo(10 + 2 + 60 + 400)
  expect(costOf(price, { input_tokens: 101, turns: 1 }) * 1e6).toBeCloseTo(202)
  // With several requests in one report, nobody can tell whether one of them was long.
  expect(costOf(price, { input_tokens: 101, turns: 2 }) * 1e6).toBeCloseTo(101)
})

const twice = { input: 2, cached_input: 0.2, cache_write: 4, output: 20 }

test('a window is full beyond its share, and never at 100 % or when nobody knows its size', () => {
  const at = (used_tokens: number, window_tokens: number | null = 1000) => ({
    ...{ used_tokens, peak_tokens: used_tokens, window_tokens },
  })
  expect([isFull(at(900), 90), isFull(at(901), 90), isFull(at(1000), 100)]).toEqual([false, true, false])
  expect([isFull(at(5000, null), 90), isFull(null, 90)]).toEqual([false, false])
})
