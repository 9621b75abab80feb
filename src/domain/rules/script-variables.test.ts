import { expect, test } from 'vitest'
import { givenTo, mentionedIn, nameOf } from './script-variables.ts'

test('a script names variables by number or name, whole or as a file', () => {
  const script =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a script of a shell
    'cat "$FLEET_STAGE_1_SUMMARY" ${FLEET_STAGE_THE_REVIEW_FILES_FILE} $FLEET_TASK_PROMPT $FLEET_STAGE_X $FLEET_TASK_ID'
  expect([...mentionedIn(script)]).toEqual([
    ['FLEET_STAGE_1_SUMMARY', { of: 'stage', stage: '1', fact: 'summary' }],
    ['FLEET_STAGE_THE_REVIEW_FILES', { of: 'stage', stage: 'the_review', fact: 'files' }],
    ['FLEET_TASK_PROMPT', { of: 'task' }],
  ])
  expect(nameOf({ of: 'stage', stage: 'prüfen', fact: 'next_steps' }, 4)).toBe('FLEET_STAGE_4_NEXT_STEPS')
  expect(nameOf({ of: 'stage', stage: 'the_review', fact: 'files' }, 4)).toBe('FLEET_STAGE_THE_REVIEW_FILES')
})

test('files hold everything; the environment has no null character, and no more than it has room for', () => {
  const long = 'ä'.repeat(100_000)
  const { env, files } = givenTo({ A: 'a\0b', B: long }, file => `/there/${file}`)
  expect(files).toEqual({ 'variable-A': 'a\0b', 'variable-B': long })
  expect(env).toMatchObject({ A: 'a\u{FFFD}b', A_FILE: '/there/variable-A', B_FILE: '/there/variable-B' })
  expect(env.B).toMatch(/^ä+\n… \(cut here: all of it is in the file \$B_FILE\)$/)
  expect(Buffer.byteLength(env.B!)).toBeLessThan(40_000)

  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`N${n}`, long]))
  const crowded = givenTo(many, file => file)
  expect(Object.keys(crowded.files)).toHaveLength(60)
  expect(Object.values(crowded.env).reduce((sum, text) => sum + text.length, 0)).toBeLessThan(400_000)
  expect(crowded.env.N59).toBeUndefined()
  expect(crowded.env.N59_FILE).toBe('variable-N59')
})
