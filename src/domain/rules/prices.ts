import * as z from 'zod'
import type { Usage } from '../records/session.ts'

const dollars = z.number().nonnegative().max(100_000)

const Rates = z.strictObject({
  input: dollars,
  cached_input: dollars,
  cache_write: dollars,
  output: dollars.describe('thinking is paid as output'),
})

/** Dollars per million tokens. */
export const Price = Rates.extend({
  long: Rates.extend({ over: z.number().int().positive() })
    .optional()
    .describe('what a request with more tokens than this in its prompt costs instead'),
})
export type Price = z.infer<typeof Price>

/** What is known about a model. Without a price only its tokens are counted. */
export const KnownModel = z.strictObject({
  price: Price.optional(),
  context_window: z.number().int().positive().max(1e9).optional().describe('tokens'),
})
export type KnownModel = z.infer<typeof KnownModel>

export type ModelTable = Readonly<Record<string, KnownModel>>

const price = (input: number, cached_input: number, cache_write: number, output: number): Price => ({
  ...{ input, cached_input, cache_write, output },
})

/** This provider charges twice the input price and one and a half times the output price for long prompts. */
const openai = (...[input, cached, write, output]: Parameters<typeof price>): Price => ({
  ...price(input, cached, write, output),
  long: { over: 272_000, ...price(2 * input, 2 * cached, 2 * write, 1.5 * output) },
})

const K = 1000
const M = 1000 * K
const GEMINI_WINDOW = 1_048_576

/** When the providers' list prices were looked up. */
export const PRICES_DATE = '2026-11-15'

/**
 * The models of clients that report tokens but no money, or do not report their window. These are list prices. A
 * subscription, a cloud or a contract has others; `prices.json` in the home can say so.
 */
export const KNOWN_MODELS: ModelTable = {
  'gpt-6.1-sol': { price: openai(2, 0.1, 2.5, 10), context_window: 272 * K },
  'gpt-6.1-terra': { price: openai(1, 0.05, 1.25, 5), context_window: 500 * K },
  'gpt-6-astra': { price: openai(10, 1, 12.5, 50), context_window: 272 * K },
  'gpt-6-sol': { price: openai(2, 0.2, 2.5, 10), context_window: 272 * K },
  'gpt-6-luna': { price: openai(0.1, 0.01, 0.125, 0.5), context_window: 272 * K },
  'gpt-5.6-sol': { price: openai(4, 0.4, 5, 20), context_window: 272 * K },
  'gpt-5.6-terra': { price: openai(2, 0.2, 2.5, 12), context_window: 272 * K },
  'gpt-5.6-luna': { price: openai(0.2, 0.02, 0.25, 1.2), context_window: 272 * K },
  'gpt-5.5': { price: openai(5, 0.5, 5, 30), context_window: 272 * K },

  'gemini-3.1-pro-preview': {
    price: { ...price(2, 0.2, 2, 12), long: { over: 200 * K, ...price(4, 0.4, 4, 18) } },
    context_window: GEMINI_WINDOW,
  },
  'gemini-3.8-flash': { price: price(0.75, 0.075, 0.75, 3.75), context_window: GEMINI_WINDOW },
  'gemini-3.5-flash': { price: price(1.5, 0.15, 1.5, 9), context_window: GEMINI_WINDOW },
  'gemini-3.5-flash-lite': { price: price(0.3, 0.03, 0.3, 2.5), context_window: GEMINI_WINDOW },
  'gemini-2.5-pro': {
    price: { ...price(1.25, 0.125, 1.25, 10), long: { over: 200 * K, ...price(2.5, 0.25, 2.5, 15) } },
    context_window: GEMINI_WINDOW,
  },
  'gemini-2.5-flash': { price: price(0.3, 0.03, 0.3, 2.5), context_window: GEMINI_WINDOW },
  'gemini-2.5-flash-lite': { price: price(0.1, 0.01, 0.1, 0.4), context_window: GEMINI_WINDOW },

  'claude-opus-5-5': { price: price(4, 0.2, 5, 20), context_window: M },
  'claude-opus-5': { price: price(5, 0.5, 6.25, 25), context_window: M },
  'claude-sonnet-5-5': { price: price(2, 0.1, 2.5, 10), context_window: M },
  'claude-sonnet-5': { price: price(2, 0.2, 2.5, 10), context_window: M },
  'claude-haiku-5-5': { price: price(0.5, 0.05, 0.625, 0.5), context_window: M },
  'claude-opus-4-5': { price: price(5, 0.5, 6.25, 25), context_window: 200 * K },
  'claude-sonnet-4-5': { price: price(3, 0.3, 3.75, 15), context_window: 200 * K },
  'claude-haiku-4-5': { price: price(1, 0.1, 1.25, 5), context_window: 200 * K },
}

/**
 * Finds a model by the name that a client uses, which may have a provider in front, or a date or variant at the end.
 */
export function knownModel(table: ModelTable, name: string): KnownModel | undefined {
  const bare = name.slice(name.lastIndexOf('/') + 1)
  const undated = bare.replace(/\[\w+\]$/, '').replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  const found = [name, bare, undated].find(each => Object.hasOwn(table, each))
  return found === undefined ? undefined : table[found]
}

/** What these tokens cost. Long-prompt prices apply only if one request is reported, not the sum of several. */
export function costOf(price: Price, usage: Partial<Usage>): number {
  const { input_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0, output_tokens = 0, turns } = usage
  const isLong = turns === 1 && input_tokens + cache_read_tokens + cache_write_tokens > (price.long?.over ?? Infinity)
  const rates = isLong ? price.long! : price
  const sum =
    input_tokens * rates.input +
    cache_read_tokens * rates.cached_input +
    cache_write_tokens * rates.cache_write +
    output_tokens * rates.output
  return sum / M
}
