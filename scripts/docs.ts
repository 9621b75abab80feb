// Writes docs/reference from the code: npm run docs. A test fails if the committed pages differ.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { referencePages } from './reference.ts'

const root = join(import.meta.dirname, '..')
for (const [path, text] of Object.entries(referencePages())) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(path)
}
