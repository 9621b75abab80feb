import { expect, test } from 'vitest'
import { filledIn, MissionTemplate, requirePlaces, TemplateVariable } from './saved-template.ts'

const written = (detailed_prompt: string, title = 'a title') => ({
  ...MissionTemplate.parse({ title }),
  detailed_prompt,
})
const variables = (...names: (string | [string, string])[]) =>
  names.map(each =>
    TemplateVariable.parse(typeof each === 'string' ? { name: each } : { name: each[0], default: each[1] }),
  )

test('variables are filled in wherever they stand, in one pass, and other braces stay', () => {
  const template = written('Fix {what} in {file}: `{ "a": {b} }` $ {file} {file}', '{what}!')
  expect(filledIn(template, variables('what', ['file', 'x.ts']), { what: '{file}' })).toMatchObject({
    title: '{file}!',
    detailed_prompt: 'Fix {file} in x.ts: `{ "a": {b} }` $ x.ts x.ts',
  })
  expect(filledIn(written('{toString} {constructor}'), [], {}).detailed_prompt).toBe('{toString} {constructor}')
})

test('a value that is missing, one too many, and a variable without a place are refused', () => {
  const template = written('Fix {what}')
  expect(() => filledIn(template, variables('what'), {})).toThrow('needs a value for what')
  expect(() => filledIn(template, variables('what'), { what: 'it', who: 'me' })).toThrow('no variable "who"')
  expect(() => requirePlaces(variables('what', 'who'), template)).toThrow('{who}')
  expect(() => requirePlaces(variables('what'), template)).not.toThrow()
})
