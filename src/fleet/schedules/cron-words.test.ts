import { expect, test } from 'vitest'
import { cronInWords, cronOf, repeatsOf } from '../../domain/rules/cron-words.ts'
import { cronTimesOf } from './cron-times.ts'

test.each([
  ['* * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['@hourly', 'Every hour'],
  ['5 * * * *', 'Every hour at 05 minutes past the hour'],
  ['0 */6 * * *', 'Every 6 hours'],
  ['0 7 * * *', 'Every day at 07:00'],
  ['30 6 * * 1-5', 'On workdays at 06:30'],
  ['30 6 * * MON-FRI', 'On workdays at 06:30'],
  ['0 9 * * 1,4', 'Every Monday and Thursday at 09:00'],
  ['0 9 * * 7', 'Every Sunday at 09:00'],
  ['0 9 * * 5-7', 'Every Sunday, Friday and Saturday at 09:00'],
  ['@weekly', 'Every Sunday at 00:00'],
  ['0 8 1 * *', 'On day 1 of every month at 08:00'],
  ['0 8 31 * *', 'On day 31 of every month at 08:00 (months without it are skipped)'],
])('%s: %s', (cron, words) => expect(cronInWords(cron)).toBe(words))

test.each([
  '*/7 * * * *',
  '0 7 1 * 1',
  '0 7 * 1 *',
  '0,30 7 * * *',
  '0 7-9 * * *',
  '0 7 L * *',
  '0 7 * * 1#2',
  'never',
  '',
])('%j stays as it is written', cron => {
  expect(repeatsOf(cron)).toBeNull()
  expect(cronInWords(cron)).toBe(`By the cron rule ${cron}`)
})

test.each([
  '* * * * *',
  '*/15 * * * *',
  '@hourly',
  '5 */6 * * *',
  '0 7 * * *',
  '30 6 * * mon-fri',
  '0 9 * * 5-7',
  '@monthly',
])('%s, written from its choice, gives the same times', async cron => {
  const [own, again] = await Promise.all(
    [cron, cronOf(repeatsOf(cron)!)].map(each => cronTimesOf({ cron: each, time_zone: 'Europe/Berlin' })),
  )
  let moment = '2026-03-27T12:00:00.000Z'
  for (let count = 0; count < 40; count++) {
    expect(again!.after(moment)).toBe(own!.after(moment))
    moment = own!.after(moment)!
  }
})
