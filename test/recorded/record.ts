// Records the output of the real client, for machines without it: node test/recorded/record.ts
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claude } from '../../src/agents/claude/adapter.ts'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { aWorkspace, aRequest, type Driven, drive } from '../agents/drive.ts'
import { claudeBinary, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Step, startModel, steps } from '../model/index.ts'

const binary = claudeBinary()
if (!binary) throw new Error(HOW_TO_INSTALL)
const model = await startModel()
const workspace = aWorkspace(binary, model.url)

async function record(name: string, script: Step[], more: Partial<LaunchRequest> = {}): Promise<Driven> {
  const request = aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, ...more })
  const run = await drive(claude, request, ({ events }, say) => {
    if (name === 'mid-turn' && events.some(({ type }) => type === 'tool_call')) say('live', 'And hurry.')
  })
  const text = run.lines.join('\n').replaceAll(workspace.root, '/place').replaceAll(model.url.slice(7), '127.0.0.1:1')
  writeFileSync(join(import.meta.dirname, 'claude', `${name}.jsonl`), `${text}\n`)
  console.log(name, run.code, run.ending.outcome)
  return run
}

const edit = await record('edit', [
  { think: 'A file, then.', write: 'a.txt', content: 'one\n' },
  { run: 'cat a.txt' },
  { say: 'There is a file now.' },
])
await record('resume', [{ say: 'I remember.' }], { resumes: edit.digest.conversation })
await record('denied', [{ write: 'b.txt', content: 'x' }, { run: 'rm a.txt' }, { say: 'I was not allowed to.' }], {
  preset: 'review',
})
await record('mid-turn', [{ run: 'for i in 1 2 3; do sleep 0.3; done; echo slept' }, { say: 'Hurried.' }])
await record('max-turns', [{ run: 'echo 1' }, { run: 'echo 2' }, { run: 'echo 3' }], { maxTurns: 2 })
await record('budget', [{ run: 'echo 1', tokens: { input: 100_000 } }, { say: 'Never said.' }], { maxBudgetUsd: 0.1 })
await record('rate-limit-passed', [{ fail: 429, times: 1, retryAfter: 0 }, { say: 'In the end.' }])
await record('rate-limited', [{ fail: 429, retryAfter: 0 }])
await record('signed-out', [{ fail: 401 }])
await record('unknown-conversation', [{ say: 'Never said.' }], { resumes: crypto.randomUUID() })
await model.close()
await workspace.remove()
