/** The usual cron rules, as a person chooses them. Others stay as they are written. */
export type Repeats =
  | { every: 'minutes'; step: number }
  | { every: 'hour'; minute: number }
  | { every: 'hours'; step: number; minute: number }
  | { every: 'day'; hour: number; minute: number }
  | { every: 'week'; days: number[]; hour: number; minute: number }
  | { every: 'month'; day: number; hour: number; minute: number }

const NAMED: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const WORKDAYS: readonly number[] = [1, 2, 3, 4, 5]

/** The rule as a choice; null if it is none of the usual ones. */
export function repeatsOf(cron: string): Repeats | null {
  const fields = (NAMED[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/)
  const [minutes = '', hours = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5 || month !== '*') return null
  const minute = numberIn(minutes, 59)
  const hour = numberIn(hours, 23)
  if (day === '*' && weekday === '*') {
    const everyMinutes = stepIn(minutes, 60)
    if (everyMinutes && hours === '*') return { every: 'minutes', step: everyMinutes }
    if (minute === null) return null
    if (hours === '*') return { every: 'hour', minute }
    const everyHours = stepIn(hours, 24)
    if (everyHours) return { every: 'hours', step: everyHours, minute }
    return hour === null ? null : { every: 'day', hour, minute }
  }
  if (minute === null || hour === null) return null
  if (day === '*') {
    const days = daysIn(weekday)
    return days && { every: 'week', days, hour, minute }
  }
  const date = numberIn(day, 31)
  return date && weekday === '*' ? { every: 'month', day: date, hour, minute } : null
}

const numberIn = (field: string, most: number): number | null =>
  /^\d{1,2}$/.test(field) && Number(field) <= most ? Number(field) : null

/** Only a step that divides the whole is as regular as it sounds. */
function stepIn(field: string, whole: number): number | null {
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1] ?? (field === '*' && whole === 60 ? 1 : Number.NaN))
  return step > 0 && whole % step === 0 ? step : null
}

function daysIn(field: string): number[] | null {
  const days = new Set<number>()
  for (const part of field.split(',')) {
    const [first, last] = part.split('-').map(dayIn)
    if (first === null || first === undefined || last === null || part.split('-').length > 2) return null
    const end = last ?? first
    if (end < first) return null
    for (let day = first; day <= end; day++) days.add(day % 7)
  }
  return [...days].sort((one, other) => one - other)
}

function dayIn(text: string): number | null {
  const named = DAYS.findIndex(day => day.slice(0, 3).toLowerCase() === text.toLowerCase())
  return named >= 0 ? named : numberIn(text, 7)
}

export function cronOf(repeats: Repeats): string {
  if (repeats.every === 'minutes') return repeats.step === 1 ? '* * * * *' : `*/${repeats.step} * * * *`
  const { minute } = repeats
  if (repeats.every === 'hour') return `${minute} * * * *`
  if (repeats.every === 'hours') return `${minute} */${repeats.step} * * *`
  if (repeats.every === 'day') return `${minute} ${repeats.hour} * * *`
  if (repeats.every === 'week') return `${minute} ${repeats.hour} * * ${weekdayField(repeats.days)}`
  return `${minute} ${repeats.hour} ${repeats.day} * *`
}

const isWorkdays = (days: readonly number[]): boolean => days.join() === WORKDAYS.join()
const weekdayField = (days: readonly number[]): string => (isWorkdays(days) ? '1-5' : days.join(','))

const two = (value: number): string => String(value).padStart(2, '0')
const and = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** "On workdays at 07:00"; a rule that is none of the usual ones stays as it is written. */
export function cronInWords(cron: string): string {
  const repeats = repeatsOf(cron)
  if (!repeats) return `By the cron rule ${cron.trim()}`
  if (repeats.every === 'minutes') return repeats.step === 1 ? 'Every minute' : `Every ${repeats.step} minutes`
  const past = `at ${two(repeats.minute)} minutes past the hour`
  if (repeats.every === 'hour') return repeats.minute === 0 ? 'Every hour' : `Every hour ${past}`
  if (repeats.every === 'hours')
    return `Every ${repeats.step === 1 ? 'hour' : `${repeats.step} hours`}${repeats.minute === 0 ? '' : ` ${past}`}`
  const at = `at ${two(repeats.hour)}:${two(repeats.minute)}`
  if (repeats.every === 'day') return `Every day ${at}`
  if (repeats.every === 'month')
    return `On day ${repeats.day} of every month ${at}${repeats.day > 28 ? ' (months without it are skipped)' : ''}`
  if (repeats.days.length === 7) return `Every day ${at}`
  return isWorkdays(repeats.days) ? `On workdays ${at}` : `Every ${and(repeats.days.map(day => DAYS[day]!))} ${at}`
}
