import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAM_FOLDER } from './version.ts'

test('the program folder has the command that agents find on their PATH', () => {
  expect(existsSync(join(PROGRAM_FOLDER, 'bin/fleet'))).toBe(true)
})
