import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DeclaredAgents } from '../../src/agents/declared.ts'
import { CLAUDE_ACP, GEMINI_ACP } from '../agents/acp-agents.ts'
import { LINER } from '../agents/stand-ins.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/guides/declared-agents.md'), 'utf8')
const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(match => DeclaredAgents.parse(JSON.parse(match[1]!)))

test('what the guide declares is what was tried', () => {
  expect(examples.flatMap(({ agents }) => agents)).toEqual(
    DeclaredAgents.parse({ agents: [CLAUDE_ACP, GEMINI_ACP, LINER] }).agents,
  )
})
