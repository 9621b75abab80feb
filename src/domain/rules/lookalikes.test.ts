import { expect, test } from 'vitest'
import { looksOf } from './lookalikes.ts'

test.each([
  ['Ada', 'ADA'],
  ['Ada', 'аda'],
  ['Ada', 'Αdа'],
  ['Ada', 'Ａｄａ'],
  ['Bob', 'ВОВ'],
  ['scope', 'ѕсоре'],
  ['the owner', 'Тhe  оwnеr '],
])('%j looks like %j', (one, other) => expect(looksOf(other)).toBe(looksOf(one)))

test.each([
  ['Ada', 'Áda'],
  ['bot1', 'bot2'],
  ['Ada', 'Aba'],
  ['Анна', 'Анка'],
  ['李', '王'],
])('%j does not look like %j', (one, other) => expect(looksOf(other)).not.toBe(looksOf(one)))
