import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { FULL } from '../../kit/fleet.ts'
import { type Bill, billOf, PAID, type Paid } from '../../kit/money-clients.ts'
import { AT_TOOL, ENDINGS, type Ending, endIn, environmentOf } from '../../kit/money-endings.ts'
import { type Served, startModel } from '../../model/index.ts'

if (PAID.some(({ binary }) => !binary)) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** Every ending for one client, and one ending for each other. All combinations with FLEET_TEST_SCALE=full. */
const isWanted = ({ name }: Paid, ending: Ending): boolean => FULL || name === 'claude' || ending === 'cancelled'

const cells = new Map<string, string>()
const text = ({ input, output, cacheRead, cacheWrite, usd }: Bill): string =>
  `${input + output + cacheRead + cacheWrite} tokens $${usd.toFixed(4)}`

afterAll(() => {
  const rows = PAID.map(({ name }) => [name, ...ENDINGS.map(ending => cells.get(`${name} ${ending}`) ?? '—')])
  const head = ['served / booked', ...ENDINGS]
  console.log([head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n'))
})

/** The booked usage equals what the model served according to its own log, however a session ended. */
describe.each(PAID)('money: $name', paid => {
  const endings = ENDINGS.filter(ending => isWanted(paid, ending) && (paid.handsOver || ending !== 'handed over'))
  test.skipIf(!paid.binary).each(endings)(
    '%s: what was served is what was booked',
    async ending => {
      const model = await startModel()
      onTestFinished(() => model.close())
      const scene = await paid.scene(model, environmentOf(ending))
      const id = await endIn(ending, scene, paid)

      const { sessions } = await scene.fleet.show(id)
      const booked = bookedBy(sessions.map(({ usage }) => usage!))
      const untold = sessions.reduce((sum, { usage }) => sum + usage!.untold_answers, 0)
      expect(untold === 0 || paid.tellsLate).toBe(true)
      const told = without(model.served, untold)
      const named = told.filter(({ errand }) => !errand)
      const isNamed = !paid.namesLate || booked.input === billOf(told, paid).input
      const served = billOf(isNamed ? told : named, paid)
      const missing = [untold && `${untold} answer not measured`, !isNamed && 'its title not measured'].filter(Boolean)
      cells.set(
        `${paid.name} ${ending}`,
        [`${text(billOf(model.served, paid))} / ${text(booked)}`, ...missing].join(', '),
      )
      const seen = JSON.stringify({ served: model.served, sessions: sessions.map(({ usage }) => usage) })
      expect({ ...booked, usd: 0 }, seen).toEqual({ ...served, usd: 0 })
      expect(booked.usd, seen).toBeCloseTo(served.usd, 6)
      // The daily budget counts the same.
      const { usage } = await scene.fleet.call<{ usage: { cost_usd: number } }>('get_budgets')
      expect(usage.cost_usd).toBeCloseTo(served.usd, 6)
    },
    180_000,
  )
})

/** Leaves out this many of the answers whose tool was held. */
const without = (served: readonly Served[], untold: number): Served[] => {
  const held = served.filter(({ input }) => input === AT_TOOL.input).slice(0, untold)
  expect(held).toHaveLength(untold)
  return served.filter(each => !held.includes(each))
}

interface Told {
  input_tokens: number
  output_tokens: number
  reasoning_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number
}

const bookedBy = (usages: readonly Told[]): Bill => {
  const sum = (key: keyof Told) => usages.reduce((total, each) => total + each[key], 0)
  return {
    ...{ input: sum('input_tokens'), output: sum('output_tokens'), reasoning: sum('reasoning_tokens') },
    ...{ cacheRead: sum('cache_read_tokens'), cacheWrite: sum('cache_write_tokens'), usd: sum('cost_usd') },
  }
}
