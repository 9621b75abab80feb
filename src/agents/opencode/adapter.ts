import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Digest, Ending, Exit } from '../contract.ts'
import { detecting, exists, printed, which } from '../detect.ts'
import { commonEnding, rateLimited, refusedBy, short } from '../endings.ts'
import { opencodeWindow } from './config.ts'
import { launchOpencode, opencodeEnvironment, opencodeInTerminal, openOpencode } from './launch.ts'
import { readOpencode } from './read.ts'
import { judgeOpencode } from './screen.ts'

const WHO = {
  title: 'OpenCode',
  signIn: 'Sign in: run opencode auth login, or set the key of your provider where the server is started.',
}

const INSTALL = 'npm install -g opencode-ai'

const detect = detecting({
  program: 'opencode',
  install: `Install ${WHO.title}: ${INSTALL}`,
  installCommand: INSTALL,
  signIn: WHO.signIn,
  signInCommand: 'opencode auth login',
  isSignedIn,
})

/** The OpenCode command-line client. It gets its prompt once and prints JSON lines of its own. */
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
    // It has one permission for creating and changing files, so it cannot enforce `test`.
    presets: ['full', 'implement', 'fix', 'review', 'explore'],
    sandboxed: [],
    customTools: true,
    mcp: 'http',
    adopted: true,
    takeOver: true,
    remoteControl: false,
    life: 'processes',
    scripts: false,
    images: true,
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
  inTerminal: { launch: opencodeInTerminal, judge: judgeOpencode, leave: '/exit', command: '!' },
  read: readOpencode,
  outcome,
}

async function listModels(environment: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const path = await which('opencode', environment)
  if (!path) return []
  const lines = (await printed(path, ['models'], opencodeEnvironment(environment))).split('\n')
  return lines.map(line => line.trim()).filter(line => /^[^\s/]+\/\S+$/.test(line))
}

const KEYS = ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY']

/**
 * Judges by files that exist; credentials are never read. A provider may be set up in its configuration, so nobody can
 * tell.
 */
async function isSignedIn(environment: Readonly<Record<string, string | undefined>>): Promise<boolean | undefined> {
  if (KEYS.some(name => environment[name])) return true
  const data = environment.XDG_DATA_HOME ?? join(environment.HOME ?? homedir(), '.local', 'share')
  return (await exists(join(data, 'opencode', 'auth.json'))) || undefined
}

function outcome(digest: Digest, exit: Exit): Ending {
  // It also exits with 0 when it gave up because nobody was there to allow something.
  const common = commonEnding(digest, exit, exit.code === 1 && digest.conversation === null)
  if (common) return common
  const result = digest.result!
  switch (result.reason) {
    case 'http_429':
      return rateLimited(digest)
    case 'http_401':
    case 'ProviderAuthError':
      return refusedBy(WHO, 401, result.text)
    case 'http_403':
      return refusedBy(WHO, 403, result.text)
    default:
      return { outcome: 'failed', reason: short(result.text || `Its last step ended with: ${result.reason}.`) }
  }
}
