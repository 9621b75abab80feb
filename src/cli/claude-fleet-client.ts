import * as z from 'zod'
import { NotAllowed } from '../domain/errors.ts'

/** What people who used claude-fleet have in the configuration of their MCP clients. */
export interface ClaudeFleetClient {
  url?: string
  team?: string
  handle?: string
  agentType?: string
}

/**
 * Undefined: this is no client of claude-fleet. The variables of Claude Code alone do not make it one, because Claude
 * Code sets them for its own teams too.
 */
export function claudeFleetIn(env: NodeJS.ProcessEnv): ClaudeFleetClient | undefined {
  const { CLAUDE_FLEET_URL: url, CLAUDE_FLEET_TEAM, CLAUDE_CODE_TEAM_NAME } = env
  if (!url && !CLAUDE_FLEET_TEAM) return undefined
  return {
    ...(url && { url }),
    team: CLAUDE_FLEET_TEAM || CLAUDE_CODE_TEAM_NAME || undefined,
    handle: env.CLAUDE_CODE_AGENT_NAME || undefined,
    agentType: env.CLAUDE_CODE_AGENT_TYPE || undefined,
  }
}

type Place = { url: string; token: string }

const Exchanged = z.object({ token: z.string(), expires_at: z.string() })
/** A token is renewed before it ends. */
const EARLY_MS = 5 * 60_000

/** Finds the server, and asks it in the name of an agent of a team instead of the credential's own. */
export function asAgent(
  find: () => Promise<Place>,
  { handle, team, agentType }: ClaudeFleetClient,
): () => Promise<Place> {
  let held: { token: string; until: number } | undefined
  return async () => {
    const { url, token } = await find()
    if (held && Date.now() < held.until) return { url, token: held.token }
    const answer = await exchange(url, token, {
      handle,
      ...(team && { teamName: team }),
      ...(agentType && { agentType }),
    })
    // The server is away: whoever asks it next finds out, and looks again.
    if (!answer) return { url, token: held?.token ?? token }
    held = { token: answer.token, until: Date.parse(answer.expires_at) - EARLY_MS }
    return { url, token: held.token }
  }
}

async function exchange(url: string, token: string, body: object): Promise<z.infer<typeof Exchanged> | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(new URL('/auth', url), { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => undefined,
  )
  if (!answer) return undefined
  const told: unknown = await answer.json().catch(() => ({}))
  if (answer.ok) return Exchanged.parse(told)
  const { error } = told as { error?: { message?: string; try?: string } }
  throw new NotAllowed(error?.message ?? `The program at ${url} is not a fleet.`, { try: error?.try ?? 'fleet status' })
}
