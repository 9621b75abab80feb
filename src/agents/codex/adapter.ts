import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Dialogue, Digest, Ending, Exit } from '../contract.ts'
import { detecting, exists, printed, which } from '../detect.ts'
import { commonEnding, rateLimited, refusedBy, short } from '../endings.ts'
import { list, object, parseObject, string } from '../json.ts'
import { codexDialogue } from './dialogue.ts'
import {
  CODEX_INSTRUCTIONS,
  CODEX_MODELS,
  CODEX_PRESETS,
  codexEnvironment,
  codexInTerminal,
  launchCodex,
  openCodex,
} from './launch.ts'
import { RATE_LIMITS, readCodex } from './read.ts'
import { judgeCodex } from './screen.ts'

const WHO = {
  title: 'Codex',
  signIn: 'Sign in: run codex login, or codex login --with-api-key.',
}

const INSTALL = 'npm install -g @openai/codex'

const detect = detecting({
  program: 'codex',
  install: `Install ${WHO.title}: ${INSTALL}`,
  installCommand: INSTALL,
  signIn: WHO.signIn,
  signInCommand: 'codex login',
  isSignedIn,
  advisesUnknown: false,
})

/**
 * The Codex client, driven through its app server. `codex exec` would be simpler, but it reports failures only in
 * words, takes no messages while it works and cannot ask.
 */
export const codex: Agent = {
  name: 'codex',
  ...WHO,
  provider: 'openai',
  can: {
    resume: true,
    fork: true,
    liveMessages: 'mid-turn',
    interrupt: true,
    turnLimit: 'outside',
    budgetLimit: false,
    cost: 'priced',
    usage: 'while working',
    contextWindow: true,
    approvals: true,
    questions: true,
    presets: CODEX_PRESETS,
    sandboxed: [],
    customTools: false,
    mcp: 'http',
    adopted: true,
    takeOver: true,
    remoteControl: false,
    life: 'conversation',
    scripts: false,
    images: true,
    effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  },
  models: CODEX_MODELS,
  listModels,
  detect,
  launch: launchCodex,
  interactive: openCodex,
  inTerminal: {
    launch: codexInTerminal,
    judge: judgeCodex,
    leave: '/quit',
    command: '!',
    instructions: CODEX_INSTRUCTIONS,
  },
  read: readCodex,
  dialogue: codexDialogue as Dialogue,
  outcome,
}

type Environment = Readonly<Record<string, string | undefined>>

async function listModels(environment: Environment): Promise<string[]> {
  const path = await which('codex', environment)
  if (!path) return []
  const said = parseObject(await printed(path, ['debug', 'models'], codexEnvironment(environment)))
  const listed = list(said?.models).map(each => object(each) ?? {})
  return listed.filter(({ visibility }) => visibility !== 'hide').flatMap(({ slug }) => string(slug) ?? [])
}

/**
 * Judges by files that exist; credentials are never read. A custom provider or a keychain cannot be checked cheaply.
 */
async function isSignedIn({ CODEX_HOME, HOME }: Environment): Promise<boolean | undefined> {
  const folder = CODEX_HOME ?? join(HOME ?? homedir(), '.codex')
  if (await exists(join(folder, 'auth.json'))) return true
  return (await exists(join(folder, 'config.toml'))) ? undefined : false
}

function outcome(digest: Digest, exit: Exit): Ending {
  const common = commonEnding(digest, exit)
  if (common) return common
  const result = digest.result!
  const why = result.reason ?? ''
  if (RATE_LIMITS.has(why)) return rateLimited(digest)
  switch (why) {
    case 'http_401':
    case 'unauthorized':
      return refusedBy(WHO, 401, result.text)
    case 'http_403':
      return refusedBy(WHO, 403, result.text)
    case 'contextWindowExceeded':
      return { outcome: 'limited', reason: 'The conversation no longer fits into the context of the model.' }
    case 'sessionBudgetExceeded':
      return { outcome: 'limited', reason: 'It reached the budget of its conversation.' }
    default:
      return {
        outcome: 'failed',
        reason: short(result.text || digest.lastError || `The client says: ${why}.`),
        forgotten: digest.conversation === null,
      }
  }
}
