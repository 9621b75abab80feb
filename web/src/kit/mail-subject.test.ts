import { expect, test } from 'vitest'
import { mailSubject } from './mail-subject.ts'

test.each([
  ['Checkpoint 51fhk7nwnxep: The gallery is red', 'Checkpoint: The gallery is red'],
  ['Re: Checkpoint 51fhk7nwnxep: The gallery is red', 'Re: Checkpoint: The gallery is red'],
  ['Checkpoint accepted', 'Checkpoint accepted'],
  ['Checkpoint tomorrow: who comes?', 'Checkpoint tomorrow: who comes?'],
  ['The light', 'The light'],
])('%s is shown as %s', (subject, shown) => expect(mailSubject(subject)).toBe(shown))
