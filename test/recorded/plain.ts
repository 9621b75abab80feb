// Records the output of clients that get their prompt once: node test/recorded/plain.ts gemini|opencode
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { gemini } from '../../src/agents/gemini/adapter.ts'
import { opencode } from '../../src/agents/opencode/adapter.ts'
import { aWorkspace, aRequest, type Driven, drive } from '../agents/drive.ts'
import { geminiHome } from '../agents/gemini-home.ts'
import { opencodeHome, SCRIPTED } from '../agents/opencode-home.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Step, startModel, steps } from '../model/index.ts'

const CLIENTS = {
  gemini: { agent: gemini, home: geminiHome, model: 'gemini-2.5-pro' },
  opencode: { agent: opencode, home: opencodeHome, model: SCRIPTED },
}
const name = process.argv[2] as keyof typeof CLIENTS
const { agent, home, model: modelName } = CLIENTS[name]

const binary = binaryOf(name)
if (!binary) throw new Error(HOW_TO_INSTALL)
const model = await startModel()
const workspace = aWorkspace(binary, model.url)
workspace.environment = { HOME: workspace.root, PATH: workspace.environment.PATH!, ...home(workspace.root, model.url) }
const folder = join(import.meta.dirname, name)
mkdirSync(folder, { recursive: true })

async function record(what: string, script: Step[], more: Partial<LaunchRequest> = {}): Promise<Driven> {
  const run = await drive(agent, aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, model: modelName, ...more }))
  const text = run.lines.join('\n').replaceAll(workspace.root, '/place').replaceAll(model.url.slice(7), '127.0.0.1:1')
  writeFileSync(join(folder, `${what}.jsonl`), `${text}\n`)
  console.log(what, run.code, run.ending.outcome)
  return run
}

const edit = await record('edit', [
  { think: 'A file, then.', write: 'a.txt', content: 'one\n', tokens: { input: 100, cacheRead: 50, output: 20 } },
  { run: 'cat a.txt' },
  { say: 'There is a file now.' },
])
await record('resume', [{ say: 'I remember.' }], { resumes: edit.digest.conversation })
if (agent.can.fork) await record('fork', [{ say: 'As a copy.' }], { resumes: edit.digest.conversation, forks: true })
await record('denied', [{ write: 'b.txt', content: 'x' }, { run: 'rm a.txt' }, { say: 'I was not allowed to.' }], {
  preset: 'review',
})
await record('rate-limited', [{ fail: 429, retryAfter: 0 }])
await record('signed-out', [{ fail: 401 }])
await model.close()
await workspace.remove()
