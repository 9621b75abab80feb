import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type {
  Agent,
  AgentEvent,
  Answer,
  Digest,
  Ending,
  LaunchRequest,
  Message,
  Stream,
} from '../../src/agents/contract.ts'
import { emptyDigest, fold } from '../../src/agents/digest.ts'
import { wholeLine } from '../../src/runner/messages.ts'

export interface Workspace {
  root: string
  workingDirectory: string
  /** Everything that a client may see: its own home and configuration, a fake key, and the scripted model. */
  environment: Record<string, string>
  remove(): Promise<void>
}

export function aWorkspace(binary = '/bin/sh', modelUrl = 'http://127.0.0.1:9'): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-agent-'))
  const workingDirectory = join(root, 'work')
  mkdirSync(workingDirectory)
  return {
    root,
    workingDirectory,
    environment: {
      HOME: root,
      PATH: `${dirname(binary)}:/usr/local/bin:/usr/bin:/bin`,
      CLAUDE_CONFIG_DIR: join(root, 'config'),
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'test-key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '2',
    },
    // A process that a client left behind may still write. Unlike this function, rmSync does not look for new files.
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}

let sessions = 0

export function aRequest(workspace: Workspace, more: Partial<LaunchRequest> = {}): LaunchRequest {
  const directory = join(workspace.root, `session-${++sessions}`)
  return {
    reason: 'first',
    prompt: '',
    script: '',
    promptFile: join(directory, 'prompt'),
    images: [],
    directory,
    workingDirectory: workspace.workingDirectory,
    model: null,
    effort: null,
    preset: 'full',
    allowedTools: null,
    maxTurns: null,
    maxBudgetUsd: null,
    systemPrompt: '',
    conversation: crypto.randomUUID(),
    resumes: null,
    forks: false,
    approvals: 'deny',
    mcpServers: {},
    environment: workspace.environment,
    ...more,
  }
}

export interface Driven {
  events: AgentEvent[]
  /** Standard output as printed. */
  lines: string[]
  digest: Digest
  code: number | null
  ending: Ending
}

/** What a test does while the agent is working. */
export type Meanwhile = (
  printed: { line: string; events: AgentEvent[] },
  say: (id: string, text: string) => void,
  answer: (id: string, answer: Answer) => void,
) => void

/** Runs one session with a plain pipe for its standard input. */
export async function drive(agent: Agent, request: LaunchRequest, meanwhile: Meanwhile = () => {}): Promise<Driven> {
  const launch = agent.launch(request)
  mkdirSync(request.directory, { recursive: true })
  for (const [name, file] of Object.entries(launch.files)) {
    const { content, mode } = typeof file === 'string' ? { content: file, mode: 0o600 } : file
    writeFileSync(join(request.directory, name), content, { mode })
  }
  const [command, ...args] = launch.argv
  const child = spawn(command, args, {
    cwd: request.workingDirectory,
    env: launch.env,
    stdio: [launch.stdin === 'fifo' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  // A client that ends early closes the pipe; its exit code says why.
  child.stdin?.on('error', () => {})
  const { dialogue } = agent
  let state = dialogue?.begin(request) ?? {}
  const send = (message: Message | undefined): void => {
    if (!message) return
    child.stdin?.write(`${wholeLine(message)}\n`)
    state = dialogue!.step(state, message.line, 'sent')
  }
  dialogue?.due(state).forEach(send)
  const say = (id: string, text: string) => send(dialogue!.say(state, id, text))
  const answer = (id: string, answer: Answer) => send(dialogue!.answer?.(state, id, answer))

  const run = { events: [] as AgentEvent[], lines: [] as string[], digest: emptyDigest() }
  const take = (line: string, stream: Stream) => {
    const events = agent.read(line, stream)
    run.events.push(...events)
    run.digest = fold(run.digest, events)
    return events
  }
  createInterface({ input: child.stderr! }).on('line', line => take(line, 'stderr'))
  createInterface({ input: child.stdout! }).on('line', line => {
    run.lines.push(line)
    const events = take(line, 'stdout')
    if (dialogue) state = dialogue.step(state, line, 'stdout')
    meanwhile({ line, events }, say, answer)
    if (!dialogue) return
    dialogue.due(state).forEach(send)
    if (dialogue.isOver(state)) child.stdin?.end()
  })
  const code = await new Promise<number | null>((ended, failed) => {
    child.once('error', failed).once('close', ended)
  })
  return { ...run, code, ending: agent.outcome(run.digest, { code }) }
}
