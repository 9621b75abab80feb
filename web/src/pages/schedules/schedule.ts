import type { Output } from '../../api/client.ts'

export type Schedule = Output<'list_schedules'>['schedules'][number]

/** A time as a clock in that time zone shows it: Mon, Nov 23, 07:00. */
export const timeIn = (time: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en', {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  }).format(new Date(time))
