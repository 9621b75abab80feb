import { expect, test } from 'vitest'
import { progressIn } from './cloning.ts'

test('the progress of git in words', () => {
  expect(progressIn('')).toBe('Connecting')
  expect(progressIn("Cloning into 'repository'...\nremote: Counting objects:  3% (1/30)\r")).toBe(
    'Preparing on the other side',
  )
  expect(progressIn('Receiving objects:  44% (1/2)\rReceiving objects:  45% (9/20), 12.50 MiB | 1.00 MiB/s\r')).toBe(
    'Receiving 45 % (12.50 MiB)',
  )
  expect(progressIn('Receiving objects: 100% (20/20), done.\nResolving deltas:  7% (1/14)\r')).toBe('Unpacking 7 %')
  expect(progressIn('Updating files:  60% (6/10)\r')).toBe('Writing files 60 %')
})
