import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Detected, Digest, Ending, Exit } from '../contract.ts'
import { printed, versionOf, which } from '../detect.ts'
import { endedEarly, notLetIn, rateLimited, short } from '../endings.ts'
import { opencodeWindow } from './config.ts'
import { launchOpencode, opencodeEnvironment, openOpencode } from './launch.ts'
import { readOpencode } from './read.ts'

const WHO = {
  title: 'OpenCode',
  signIn: 'Sign in: run opencode auth login, or set the key of your provider where the server is started.',
}

/** The OpenCode command-line client, told its prompt once and read in its own JSON lines. */
export const opencode: Agent = {
  name: 'opencode',
  ...WHO,
  provider: 'opencode',
  can: {
    resume: true,
    fork: true,
    liveMessages: 'no',
    interrupt: false,
    turnLimit: 'outside',
    budgetLimit: false,
    cost: 'money',
    usage: 'while working',
    contextWindow: true,
    approvals: false,
    questions: false,
    // Making a file and changing one are the same permission to it, so that `test` cannot be held.
    presets: ['full', 'implement', 'fix', 'review', 'explore'],
    sandboxed: [],
    customTools: true,
    mcp: 'http',
    adopted: true,
    takeOver: true,
    remoteControl: false,
    life: 'processes',
    scripts: false,
    effort: ['minimal', 'low', 'medium', 'high', 'max'],
  },
  models: [
    { name: 'anthropic/claude-opus-5-5' },
    { name: 'openai/gpt-5.5' },
    { name: 'google/gemini-3.1-pro-preview' },
  ],
  listModels,
  windowOf: opencodeWindow,
  detect,
  launch: launchOpencode,
  interactive: openOpencode,
  read: readOpencode,
  outcome,
}

async function detect(environment: Readonly<Record<string, string | undefined>>): Promise<Detected> {
  const path = await which('opencode', environment)
  if (!path) return { installed: false, advice: 'Install OpenCode: npm install -g opencode-ai' }
  const version = await versionOf(path, environment)
  if (!version) return { installed: false, path, advice: `${path} does not answer to --version; install it again.` }
  const signedIn = await isSignedIn(environment)
  return { installed: true, path, version, signedIn, ...(signedIn === undefined && { advice: WHO.signIn }) }
}

async function listModels(environment: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const path = await which('opencode', environment)
  if (!path) return []
  const lines = (await printed(path, ['models'], opencodeEnvironment(environment))).split('\n')
  return lines.map(line => line.trim()).filter(line => /^[^\s/]+\/\S+$/.test(line))
}

const KEYS = ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY']

/** From what lies open; its credentials are never read. A provider may be set up in its configuration: nobody can tell. */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  const data = environment.XDG_DATA_HOME ?? join(environment.HOME ?? homedir(), '.local', 'share')
  return access(join(data, 'opencode', 'auth.json')).then(
    () => true,
    () => undefined,
  )
}

function outcome(digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  // It also exits with 0 when it gave up on something that nobody was there to allow.
  if (!result)
    return {
      outcome: 'failed',
      reason: endedEarly(digest, code),
      forgotten: code === 1 && digest.conversation === null,
    }
  if (result.ok) {
    if (code === 0) return { outcome: 'completed', reason: 'The agent finished its turn.' }
    return { outcome: 'failed', reason: `The client ended with exit code ${code} after its last step.` }
  }
  switch (result.reason) {
    case 'http_429':
      return rateLimited(digest)
    case 'http_401':
    case 'ProviderAuthError':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 401, why: result.text }) }
    case 'http_403':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 403, why: result.text }) }
    default:
      return { outcome: 'failed', reason: short(result.text || `Its last step ended with: ${result.reason}.`) }
  }
}
