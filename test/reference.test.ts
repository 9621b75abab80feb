import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { referencePages } from '../scripts/reference.ts'

test.each(Object.entries(referencePages()))('%s says what the code says (otherwise: npm run docs)', (path, text) => {
  expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8')).toBe(text)
})
