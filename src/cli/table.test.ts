import { expect, test } from 'vitest'
import { widthOf } from '../platform/safe-text.ts'
import { type Column, table } from './table.ts'

interface Row {
  id: string
  title: string
  size: number
}
const COLUMNS: Column<Row>[] = [
  { title: 'ID', value: row => row.id },
  { title: 'TITLE', value: row => row.title, flexible: true },
  { title: 'SIZE', value: row => String(row.size), right: true },
]
const ROWS: Row[] = [
  { id: 'abc', title: 'a title that is rather long', size: 7 },
  { id: 'de', title: '日本', size: 1234 },
]

test('columns line up, also with wide characters', () => {
  expect(table(COLUMNS, ROWS, Number.POSITIVE_INFINITY)).toEqual([
    'ID   TITLE                        SIZE',
    'abc  a title that is rather long     7',
    'de   日本                         1234',
  ])
})

test('a narrow terminal shortens the flexible column only', () => {
  const lines = table(COLUMNS, ROWS, 25)
  expect(lines.every(line => widthOf(line) <= 25)).toBe(true)
  expect(lines[1]).toBe('abc  a title that…      7')
})

test('what is too narrow for anything keeps the rest whole', () => {
  expect(table(COLUMNS, ROWS, 5)[1]).toContain('abc  a title…')
})

test('paint does not change how columns line up', () => {
  const painted = COLUMNS.map(column => ({ ...column, paint: (text: string) => `<${text}>` }))
  expect(table(painted, ROWS, Number.POSITIVE_INFINITY)[2]).toBe('<de>   <日本>                         <1234>')
})
