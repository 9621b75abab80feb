import { expect, test } from 'vitest'
import { piecesOf } from './ansi.ts'

const shown = (text: string) => piecesOf(text).map(({ text: piece, look }) => `${look}|${piece}`)

test('colours become classes, and the text stays as it is', () => {
  expect(shown('\x1b[31mred\x1b[0m plain \x1b[1;32mbold green\x1b[22m green\x1b[m.')).toEqual([
    'ansi-red|red',
    '| plain ',
    'ansi-green ansi-bold|bold green',
    'ansi-green| green',
    '|.',
  ])
})

test('256 and true colours are the nearest that can be read', () => {
  expect(shown('\x1b[38;5;196ma\x1b[38;2;20;200;30mb\x1b[38:5:244mc\x1b[48;5;196md\x1b[90me')).toEqual([
    'ansi-red|a',
    'ansi-green|b',
    'ansi-gray|c',
    'ansi-gray|d',
    'ansi-gray|e',
  ])
})

test('nothing of the text gets into a class, and what is cut off is not shown', () => {
  const looks = piecesOf('\x1b[31"onload=alert(1)m x \x1b[9999999999999mz \x1b[3').map(({ look }) => look)
  expect(looks.every(look => /^(ansi-[a-z]+ ?)*$/.test(look))).toBe(true)
  expect(piecesOf('done\x1b[3')).toEqual([{ text: 'done', look: '' }])
  expect(piecesOf(`\x1b[${'1;'.repeat(100_000)}m`).length).toBeLessThan(3)
})
