import type { Cron } from 'croner'
import { InvalidInput } from '../../domain/errors.ts'
import type { CronTimes } from '../../domain/records/schedule.ts'

/** Asks a rule for its next time when it is written, so that a rule without one is refused then. */
export async function cronTimesOf({ cron, time_zone }: { cron: string; time_zone: string }): Promise<CronTimes> {
  const rule = await ruleOf(cron, time_zone)
  return {
    after: moment => rule.nextRun(new Date(moment))?.toISOString() ?? null,
    // The time before the next one: croner looks back from just after a moment, and a rule fires once a minute at most.
    upTo: moment => rule.previousRuns(1, new Date(Date.parse(moment) + 1000))[0]?.toISOString() ?? null,
  }
}

async function ruleOf(cron: string, timezone: string): Promise<Cron> {
  // Loaded on demand, because most commands do not need it.
  const { Cron } = await import('croner')
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw new InvalidInput('time_zone', `${JSON.stringify(timezone)} is not a time zone`, {
      try: 'Such as Europe/Berlin.',
    })
  }
  try {
    return new Cron(cron, { timezone, mode: '5-part', paused: true })
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^\w+: /, '') : 'is not valid'
    throw new InvalidInput('cron', why, { try: 'Five fields: minute hour day month weekday, such as "30 6 * * 1-5".' })
  }
}
