import { expect, test } from 'vitest'
import { choicesIn, inputIn } from './question-parts.ts'

test('what a question offers can be clicked; a list within a text, or two questions, is only text', () => {
  expect(choicesIn('Which colour?\n- Red: warm\n- Blue')).toEqual({
    question: 'Which colour?',
    choices: [
      { label: 'Red', about: 'warm' },
      { label: 'Blue', about: '' },
    ],
  })
  for (const text of ['Why?', 'A\n- b\n- c\n\nD\n- e\n- f', '- only one', 'I saw\n- a\n- b\nWhat now?'])
    expect(choicesIn(text)).toEqual({ question: text, choices: [] })
})

test('the input of a tool is read back, and words stay words', () => {
  expect(inputIn('{"command":"ls"}')).toEqual({ command: 'ls' })
  expect(inputIn('run ls')).toBe('run ls')
})
