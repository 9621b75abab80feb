import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Detected, Dialogue, Digest, Ending, Exit } from '../contract.ts'
import { printed, versionOf, which } from '../detect.ts'
import { endedEarly, notLetIn, rateLimited, short } from '../endings.ts'
import { list, object, parseObject, string } from '../json.ts'
import { codexDialogue } from './dialogue.ts'
import { CODEX_MODELS, CODEX_PRESETS, codexEnvironment, launchCodex, openCodex } from './launch.ts'
import { RATE_LIMITS, readCodex } from './read.ts'

const WHO = {
  title: 'Codex',
  signIn: 'Sign in: run codex login, or codex login --with-api-key.',
}

/**
 * The Codex client, spoken to through its app server. `codex exec` would be simpler, but it tells failures in words
 * only, takes no messages while it works and cannot ask.
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
    effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  },
  models: CODEX_MODELS,
  listModels,
  detect,
  launch: launchCodex,
  interactive: openCodex,
  read: readCodex,
  dialogue: codexDialogue as Dialogue,
  outcome,
}

type Environment = Readonly<Record<string, string | undefined>>

async function detect(environment: Environment): Promise<Detected> {
  const path = await which('codex', environment)
  if (!path) return { installed: false, advice: 'Install Codex: npm install -g @openai/codex' }
  const version = await versionOf(path, environment)
  if (!version) return { installed: false, path, advice: `${path} does not answer to --version; install it again.` }
  const signedIn = await isSignedIn(environment)
  return signedIn === false
    ? { installed: true, path, version, signedIn, advice: WHO.signIn }
    : { installed: true, path, version, signedIn }
}

async function listModels(environment: Environment): Promise<string[]> {
  const path = await which('codex', environment)
  if (!path) return []
  const said = parseObject(await printed(path, ['debug', 'models'], codexEnvironment(environment)))
  const listed = list(said?.models).map(each => object(each) ?? {})
  return listed.filter(({ visibility }) => visibility !== 'hide').flatMap(({ slug }) => string(slug) ?? [])
}

/** From what lies open; its credentials are never read. With a provider or a keychain of one's own nobody can tell cheaply. */
async function isSignedIn({ CODEX_HOME, HOME }: Environment): Promise<boolean | undefined> {
  const folder = CODEX_HOME ?? join(HOME ?? homedir(), '.codex')
  const has = (name: string) =>
    access(join(folder, name)).then(
      () => true,
      () => false,
    )
  if (await has('auth.json')) return true
  return (await has('config.toml')) ? undefined : false
}

function outcome(digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  if (!result) return { outcome: 'failed', reason: endedEarly(digest, code) }
  if (result.ok) {
    if (code === 0) return { outcome: 'completed', reason: 'The agent finished its turn.' }
    return { outcome: 'failed', reason: `The client ended with exit code ${code} after its last result.` }
  }
  const why = result.reason ?? ''
  if (RATE_LIMITS.has(why)) return rateLimited(digest)
  switch (why) {
    case 'http_401':
    case 'unauthorized':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 401, why: result.text }) }
    case 'http_403':
      return { outcome: 'failed', reason: notLetIn(WHO, { status: 403, why: result.text }) }
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
