// Records the output of real agents over the Agent Client Protocol, for machines without them: node
// test/recorded/record-acp.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpAgent } from '../../src/agents/acp/adapter.ts'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { CLAUDE_ACP, GEMINI_ACP } from '../agents/acp-agents.ts'
import { aWorkspace, aRequest, type Driven, drive } from '../agents/drive.ts'
import { geminiHome } from '../agents/gemini-home.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Step, startModel, steps } from '../model/index.ts'

const folder = join(import.meta.dirname, 'acp')
mkdirSync(folder, { recursive: true })
const model = await startModel()

for (const declared of [CLAUDE_ACP, GEMINI_ACP]) {
  const binary = binaryOf(declared === CLAUDE_ACP ? 'claude-agent-acp' : 'gemini')
  if (!binary) throw new Error(HOW_TO_INSTALL)
  const workspace = aWorkspace(binary, model.url)
  Object.assign(workspace.environment, geminiHome(workspace.root, model.url))

  const record = async (name: string, script: Step[], more: Partial<LaunchRequest> = {}): Promise<Driven> => {
    const run = await drive(
      acpAgent(declared),
      aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, ...more }),
    )
    // The list of the agent's own commands is long, and nothing reads it.
    const lines = run.lines.filter(line => !line.includes('"available_commands_update"'))
    const text = lines.join('\n').replaceAll(workspace.root, '/place').replaceAll(model.url.slice(7), '127.0.0.1:1')
    writeFileSync(join(folder, `${declared.name}-${name}.jsonl`), `${text}\n`)
    console.log(declared.name, name, run.code, run.ending.outcome)
    return run
  }

  const edit = await record('edit', [
    { think: 'A file, then.', write: 'a.txt', content: 'one\n' },
    { run: 'cat a.txt' },
    { say: 'There is a file now.' },
  ])
  const denied: Step[] = [{ write: 'b.txt', content: 'x' }, { run: 'rm a.txt' }, { say: 'I was not allowed to.' }]
  await record('denied', denied, { preset: 'review' })
  await record('rate-limited', [{ fail: 429, retryAfter: 0 }])
  await record('signed-out', [{ fail: 401 }])
  if (declared.resume) await record('resume', [{ say: 'I remember.' }], { resumes: edit.digest.conversation })
  await workspace.remove()
}
await model.close()
