import { expect, test } from 'vitest'
import { KNOWN_NAMES } from './index.ts'
import { OF_SETTINGS } from './of-settings.ts'

test('every kept name of a setting is in the list that settings are read with', () => {
  const ofSettings = KNOWN_NAMES.filter(
    ({ kind, fate, ours }) => fate === 'kept' && ours && (kind === 'key' || kind === 'variable'),
  )
  expect(ofSettings).toEqual(OF_SETTINGS)
})
