import { expect, test } from 'vitest'
import { asWords } from './entry-words.ts'

test.each([
  ['reply_mail', 'Reply mail'],
  ['create_team_task', 'Create team task'],
  ['not_found', 'Not found'],
  ['pause', 'Pause'],
  ['', ''],
])('%s reads as %s', (name, words) => expect(asWords(name)).toBe(words))
