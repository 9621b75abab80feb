import { expect, test } from 'vitest'
import { filledIn, MissionTemplate, requirePlaces, TemplateVariable } from './template.ts'

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
  expect(filledIn(template, variables('what', ['file', 'x.ts']), { what: '{file}' }, false).written).toMatchObject({
    title: '{file}!',
    detailed_prompt: 'Fix {file} in x.ts: `{ "a": {b} }` $ x.ts x.ts',
  })
  const plain = filledIn(written('{toString} {constructor}'), [], {}, false).written
  expect(plain.detailed_prompt).toBe('{toString} {constructor}')
})

test('a value that is missing, one too many, and a variable without a place are refused', () => {
  const template = written('Fix {what}')
  expect(() => filledIn(template, variables('what'), {}, false)).toThrow('needs a value for what')
  expect(() => filledIn(template, variables('what'), { what: 'it', who: 'me' }, false)).toThrow('no variable "who"')
  expect(() => requirePlaces(variables('what', 'who'), template, false)).toThrow('{who}')
  expect(() => requirePlaces(variables('what'), template, false)).not.toThrow()
})

test('in a script a value is never a part of the text: it stands in the environment', () => {
  const hostile = '$(touch canary)`touch canary`"; touch canary #\'\n\0'
  const script = written('echo "$FLEET_VAR_WHAT"', 'Say {what}')
  const { written: made, environment } = filledIn(script, variables('what'), { what: hostile }, true)
  expect(made.detailed_prompt).toBe('echo "$FLEET_VAR_WHAT"')
  expect(environment).toEqual({ FLEET_VAR_WHAT: hostile })

  expect(() => requirePlaces(variables('what'), script, true)).not.toThrow()
  const spliced = written('echo "{what}"')
  expect(() => requirePlaces(variables('what'), spliced, true)).toThrow('{what} cannot be used in a script')
  expect(() => filledIn(spliced, variables('what'), { what: 'x' }, true)).toThrow('cannot be used in a script')
  // `${what}` is the shell's own syntax, so it is not refused as a value, but it does not use the variable either.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a script of a shell
  expect(() => requirePlaces(variables('what'), written('echo ${what}'), true)).toThrow('$FLEET_VAR_WHAT')
  expect(() => requirePlaces(variables('what', 'who'), script, true)).toThrow('$FLEET_VAR_WHO')
})
