import { expect, test } from 'vitest'
import { aReport } from '../samples.testkit.ts'
import { composePrompt, type PromptParts } from './prompt.ts'

const parts = (more: Partial<PromptParts> = {}): PromptParts => ({
  reason: 'first',
  prompt: 'Do it.',
  acceptanceCriteria: '',
  handOvers: [],
  children: [],
  notes: [],
  message: null,
  conflicts: [],
  baseBranch: 'main',
  remembers: false,
  mail: '',
  handedOver: '',
  restarted: '',
  ...more,
})

test('the prompt itself arrives byte for byte', () => {
  const prompt = '"quotes" $(and) `more` \\ \'stuff\'\t\n'.repeat(6000)
  expect(composePrompt(parts({ prompt }))).toBe(prompt)
})

test('criteria, the reports of what it depends on and the words of a person follow', () => {
  const report = aReport({
    summary: 'Made the API.',
    what_open: ['errors'],
    files_changed: [{ path: 'api.ts', change: 'added' }],
  })
  const text = composePrompt(
    parts({
      acceptanceCriteria: 'It works.',
      handOvers: [{ mission: { title: 'API' }, report }],
      message: 'Be quick.',
    }),
  )
  expect(text).toBe(
    'Do it.\n\n## Acceptance criteria\n\nIt works.\n\n## What the missions before this one report\n\n### API\n\nMade the API.\n\nOpen:\n- errors\n\n' +
      'Files changed:\n- api.ts (added)\n\n## Added by the person in charge\n\nBe quick.',
  )
})

test('an agent that remembers is not told everything again', () => {
  expect(composePrompt(parts({ reason: 'resume', remembers: true }))).not.toContain('Do it.')
  expect(composePrompt(parts({ reason: 'resume', remembers: false }))).toContain('Do it.')
})

test('a conflict names the files and the branch', () => {
  for (const remembers of [true, false]) {
    const text = composePrompt(parts({ reason: 'conflict', remembers, conflicts: ['a b.txt'], baseBranch: 'trunk' }))
    expect(text).toContain('- a b.txt')
    expect(text).toContain('landed on trunk')
  }
})
