/** Units in which people write settings: for each, its sizes from the smallest, measured in the unit itself. */
export const UNITS = {
  seconds: { s: 1, min: 60, h: 3600, days: 86_400 },
  hours: { min: 1 / 60, h: 1, days: 24 },
  days: { days: 1, weeks: 7 },
  bytes: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 },
  gigabytes: { MB: 1e-3, GB: 1, TB: 1e3 },
  percent: { '%': 1 },
  'dollars per day': { '$ per day': 1 },
} as const satisfies Record<string, Record<string, number>>

export type Unit = keyof typeof UNITS

/** An amount as a person would write it: 5400 seconds are 90 min. */
export interface Amount {
  amount: number
  size: string
}

const sizesOf = (unit: Unit): [string, number][] => Object.entries(UNITS[unit])
/** 0.1 + 0.2 is 0.3 to a person. */
const rounded = (value: number): number => Number(value.toPrecision(12))

/** In the largest size that gives a whole number; a fraction where there is none. */
export function amountOf(value: number, unit: Unit): Amount {
  const sizes = sizesOf(unit)
  const [own] = sizes.find(([, size]) => size === 1)!
  if (value === 0) return { amount: 0, size: own }
  const fitting = sizes.findLast(([, size]) => Number.isInteger(rounded(value / size)))
  const [size, factor] = fitting ?? [own, 1]
  return { amount: rounded(value / factor), size }
}

export const measureOf = ({ amount, size }: Amount, unit: Unit): number =>
  rounded(amount * (sizesOf(unit).find(([name]) => name === size)?.[1] ?? 1))

/** 512000000 bytes → 512 MB. */
export function inUnits(value: number, unit: Unit): string {
  const { amount, size } = amountOf(value, unit)
  if (size === '%') return `${amount}%`
  if (size.startsWith('$')) return `$${amount}${size.slice(1)}`
  return `${amount} ${amount === 1 ? size.replace(/s$/, other => (size === 's' ? other : '')) : size}`
}

/** "15 min" as 900 seconds. A bare number is in the unit itself. Undefined if it is no amount of this unit. */
export function readUnits(text: string, unit: Unit): number | undefined {
  const [, dollar, digits, word = ''] = /^\s*(\$?)\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z%$][a-z$ ]*)?\s*$/i.exec(text) ?? []
  if (digits === undefined || (dollar && unit !== 'dollars per day')) return undefined
  const named = word.trim().toLowerCase()
  if (!named) return Number(digits)
  const size = sizesOf(unit).find(([name]) => [name, name.replace(/s$/, '')].some(each => each.toLowerCase() === named))
  if (size) return measureOf({ amount: Number(digits), size: size[0] }, unit)
  return dollar && named === 'per day' ? Number(digits) : undefined
}
