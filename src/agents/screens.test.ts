import { expect, test } from 'vitest'
import type { Screen } from '../domain/rules/screen.ts'
import { judgeClaude } from './claude/screen.ts'
import { judgeCodex } from './codex/screen.ts'
import { judgeOpencode } from './opencode/screen.ts'
import { judgeScript } from './screens.ts'

const RULE = '─'.repeat(120)

/** The lines at the bottom of a screen of 40 lines. `^` in a line is the cursor. */
function screen(lines: string[], { faint = '', scrolled = false } = {}): Screen {
  const all = [...Array(40 - lines.length).fill(''), ...lines] as string[]
  const y = all.findIndex(line => line.includes('^'))
  const shown = all.map(line => line.replace('^', ''))
  const bright = shown.map(line => (faint ? line.replace(faint, '').trimEnd() : line))
  return { lines: shown, bright, cursor: { x: Math.max(0, all[y]?.indexOf('^') ?? 0), y: Math.max(0, y) }, scrolled }
}

const claude = (input: string, footer: string, above: string[] = ['● No script was given.', '']): string[] => [
  ...[...above, RULE, ...input.split('\n'), RULE],
  footer,
]
const FOOTER = '  ⏵⏵ auto mode on (shift+tab to cycle) · ← for agents'

test.each([
  ['idle', claude('❯ ^', FOOTER)],
  ['busy', claude('❯ ^', '  ⏵⏵ auto mode on (shift+tab to cycle) · esc to interrupt · ← for agents')],
  ['busy', claude('❯ ^', FOOTER, ['· Booping… (3s · ↓ 20 tokens)', ''])],
  ['typing', claude('❯ half a line^', FOOTER)],
  ['typing', claude('❯ ^half a line', FOOTER)],
  ['typing', claude('❯ one\n  two^', FOOTER)],
  ['typing', claude('! ^', '  ! for shell mode')],
  ['unknown', claude('❯ ', FOOTER)],
  [
    'prompt',
    [RULE, ' Quick safety check', ' ❯ No, exit', '   Yes, I trust this folder', ' Enter to confirm · Esc to cancel'],
  ],
  [
    'prompt',
    [RULE, ' Bash command', ' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', ' Esc to cancel · Tab to amend'],
  ],
  // What an agent prints cannot pass for an idle input above a question.
  ['prompt', [...claude('❯ ^', FOOTER), ' Do you want to proceed?', ' ❯ 1. Yes', ' Esc to cancel']],
  ['unknown', ['bash-5.2$ ^']],
  ['unknown', []],
])('Claude Code is %s', (state, lines) => {
  expect(judgeClaude(screen(lines))).toBe(state)
})

const codex = (input: string, above: string[] = [' Worked for 3s • 06:10', '', '']): string[] => [
  ...[...above, input, '', '  GPT-5.5 default · /work'],
  '  ? for shortcuts                       ⚠ 1 warning · f2 to view',
]
const HINT = 'Ask Codex to do anything'

test.each([
  ['idle', codex(`› ^${HINT}`), HINT],
  ['typing', codex(`› ^${HINT}`), ''],
  ['typing', codex('› hello there^'), ''],
  ['busy', codex(`› ^${HINT}`, ['◦ Working (2s • esc to interrupt) · /stop to close', '', '']), HINT],
  ['prompt', ['› 1. Trust and continue', '  2. Quit', '', '  enter continue · esc quit'], ''],
  ['prompt', ['› 1. Try new model', '  2. Use existing model', '  enter/esc confirm · ^c quit'], ''],
  ['unknown', codex(`› ^${HINT}`, ['  >_ OpenAI Codex (v0.166.0)', '     loading', '']), HINT],
  ['idle', codex(`› ^${HINT}`, ['  >_ OpenAI Codex (v0.166.0)', '     /work', '', '• It is', '  loading', '']), HINT],
  ['unknown', ['$ ^'], ''],
])('Codex is %s', (state, lines, faint) => {
  expect(judgeCodex(screen(lines, { faint }))).toBe(state)
})

const opencode = (input: string, footer = '   /work      tab agents  ctrl+p commands'): string[] => [
  ...['     ▣  Build · model', '', '  ┃', `  ┃  ${input}`, '  ┃', '  ┃  Build · model scripted'],
  ...[`  ╹${'▀'.repeat(60)}`, footer],
]

test.each([
  ['idle', opencode('^')],
  ['idle', opencode('^Ask anything… "What is the tech stack of this project?"')],
  ['typing', opencode('Ask anything… "What?"^')],
  ['typing', opencode('half^')],
  ['busy', opencode('^', '   ⬝⬝⬝⬝⬝⬝⬝⬝  esc interrupt             tab agents')],
  ['idle', opencode(`^${' '.repeat(70)}/a/long/path/of/its/`)],
  ['typing', opencode(`half^${' '.repeat(70)}/a/long/path/of/its/`)],
  ['unknown', opencode('')],
  ['prompt', ['  ┃  △ Permission required', '  ┃  Allow once   Allow always   Reject']],
  ['unknown', ['']],
])('OpenCode is %s', (state, lines) => {
  expect(judgeOpencode(screen(lines))).toBe(state)
})

test.each([
  ['idle', ['heard: hello', '> ^']],
  ['typing', ['> half^']],
  ['typing', ['> ^half']],
  ['busy', ['working', '^']],
  ['prompt', ['Delete it? [y/N] ^']],
  ['prompt', ['Password: ^']],
  ['unknown', ['something odd^']],
])('a script is %s', (state, lines) => {
  expect(judgeScript(screen(lines))).toBe(state)
})

test('whoever scrolls keeps every client from being typed into', () => {
  for (const judge of [judgeClaude, judgeCodex, judgeOpencode, judgeScript])
    expect(judge(screen(['> ^'], { scrolled: true }))).toBe('typing')
})
