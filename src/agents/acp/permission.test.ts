import { expect, test } from 'vitest'
import type { ToolPreset } from '../../domain/records/project.ts'
import { PRESETS } from '../presets.ts'
import { isAllowed } from './permission.ts'

const may = (preset: ToolPreset, call: Record<string, unknown>) => isAllowed(PRESETS[preset], ['lab'], call)
const runs = (command: unknown) => ({ kind: 'execute', title: 'git log', rawInput: { command } })
const writes = (...oldTexts: (string | null)[]) => ({
  kind: 'edit',
  content: oldTexts.map(oldText => ({ type: 'diff', path: 'a', oldText, newText: 'b' })),
})

test.each<[string, Record<string, unknown>, ToolPreset[]]>([
  ['reading', { kind: 'read' }, ['full', 'implement', 'fix', 'review', 'test', 'explore']],
  ['searching', { kind: 'search' }, ['full', 'implement', 'fix', 'review', 'test', 'explore']],
  ['a new file', writes(null), ['full', 'implement', 'fix']],
  ['a new file beside a change', writes('a', ''), ['full', 'implement', 'fix']],
  ['a change to a file', writes('a'), ['full', 'implement', 'fix', 'test']],
  ['an edit that does not say of what', { kind: 'edit' }, ['full', 'implement', 'fix']],
  ['deleting', { kind: 'delete' }, ['full', 'implement', 'fix']],
  ['rm', runs('rm -rf .'), ['full', 'implement', 'fix']],
  ['git log', runs('git  log -3'), ['full', 'implement', 'fix', 'review', 'explore']],
  ['npm test', runs('npm test'), ['full', 'implement', 'fix', 'test']],
  ['a command told only in a title', { kind: 'execute', title: 'git log' }, ['full', 'implement', 'fix']],
  ['the web', { kind: 'fetch' }, ['full']],
  ['a tool of a server given', { kind: 'other', name: 'mcp__lab__echo' }, [...Object.keys(PRESETS)] as ToolPreset[]],
  ['a tool of another server', { kind: 'other', name: 'mcp__greedy__rm' }, ['full']],
  ['a change of mode', { kind: 'switch_mode' }, ['full']],
  ['nothing that is known', {}, ['full']],
])('%s', (_what, call, allowed) => {
  const all = Object.keys(PRESETS) as ToolPreset[]
  expect(all.filter(preset => may(preset, call)).sort()).toEqual([...allowed].sort())
})

test.each([
  'git log; rm a',
  'git log && rm a',
  'git log | sh',
  'git log > a',
  'git log $(rm a)',
  'git log `rm a`',
  'git log\nrm a',
  'git diff --output=a',
  'git diff --outp a',
  'git log "--out"put=a',
  'git log --\\output=a',
  'git logs',
  'gitlog',
  'PAGER=x git log',
  ['git', 'log'],
  { toString: 'git log' },
  '',
  null,
])('a reviewer may not run %j', command => {
  expect(may('review', runs(command))).toBe(false)
})
