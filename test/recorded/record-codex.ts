// Records the output of the real Codex, for machines without it: node test/recorded/record-codex.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codex } from '../../src/agents/codex/adapter.ts'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { aCodexWorkspace } from '../agents/codex-home.ts'
import { aRequest, type Driven, drive } from '../agents/drive.ts'
import { startMcpLab } from '../agents/mcp.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Step, startModel, steps } from '../model/index.ts'

const binary = binaryOf('codex')
if (!binary) throw new Error(HOW_TO_INSTALL)
const model = await startModel()
const lab = await startMcpLab()
const workspace = aCodexWorkspace(binary, model.url)
const folder = join(import.meta.dirname, 'codex')
mkdirSync(folder, { recursive: true })

async function record(name: string, script: Step[], more: Partial<LaunchRequest> = {}): Promise<Driven> {
  const request = aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, ...more })
  const run = await drive(codex, request, ({ events }, say, answer) => {
    if (name === 'mid-turn' && events.some(({ type }) => type === 'tool_call')) say('live', 'And hurry.')
    for (const event of events) {
      if (event.type === 'permission' && !event.denied) answer(event.id, { allow: name === 'allowed' })
      if (event.type === 'question') answer(event.id, { allow: true, text: 'Blue' })
    }
  })
  const text = run.lines.join('\n').replaceAll(workspace.root, '/place').replaceAll(model.url.slice(7), '127.0.0.1:1')
  writeFileSync(join(folder, `${name}.jsonl`), `${text}\n`)
  console.log(name, run.code, run.ending.outcome)
  return run
}

const edit = await record('edit', [
  { think: 'A file, then.', write: 'a.txt', content: 'one\n', tokens: { cacheRead: 50 } },
  { run: 'cat a.txt; exit 3' },
  { say: 'There is a file now.' },
])
await record('resume', [{ say: 'I remember.' }], { resumes: edit.digest.conversation })
const harm: Step[] = [{ write: 'b.txt', content: 'x' }, { run: 'rm a.txt' }, { say: 'I was not allowed to.' }]
await record('denied', harm, { preset: 'review' })
const asking: Step = {
  tool: 'exec_command',
  input: { cmd: 'echo asked', sandbox_permissions: 'require_escalated', justification: 'May I?' },
}
const ask: Step[] = [{ write: 'c.txt', content: 'x' }, asking, { say: 'Asked.' }]
await record('allowed', ask, { preset: 'review', approvals: 'ask' })
await record('declined', ask, { preset: 'review', approvals: 'ask' })
const options = ['Red', 'Blue'].map(label => ({ label, description: `It is ${label}.` }))
const questions = [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }]
await record('question', [{ tool: 'request_user_input', input: { questions } }], { approvals: 'ask' })
await record('mid-turn', [{ run: 'for i in 1 2 3; do sleep 0.3; done; echo slept' }, { say: 'Hurried.' }])
await record('mcp', [{ tool: 'mcp__lab__echo', input: { text: 'hi' } }], { mcpServers: { lab: { url: lab.url, headers: {} } } })
await record('rate-limit-passed', [{ fail: 429, times: 1, retryAfter: 0 }, { say: 'In the end.' }])
await record('rate-limited', [{ fail: 429, retryAfter: 0 }])
await record('signed-out', [{ fail: 401 }])
await record('unknown-conversation', [{ say: 'Never said.' }], { resumes: crypto.randomUUID() })
await model.close()
await lab.close()
await workspace.remove()
