import { InvalidInput } from '../../domain/errors.ts'
import { TOOL_PRESETS } from '../../domain/records/project.ts'

/**
 * Requests of clients of claude-devfleet, translated into the fields of our operations. Their routes are ours too: a
 * request in our own form passes unchanged, and the answers are ours.
 */
export function asOurs(operation: string, request: Request): Request {
  return REQUESTS[operation]?.(request) ?? request
}

type Request = Record<string, unknown>
type Translation = (request: Request) => Request

const mission: Translation = request =>
  missionType(tools(retries(flag('auto_dispatch', without(request, ['schedule_cron', 'callback_url'])))))
const options: Translation = request => {
  const { fork_session, ...rest } = tools(without(request, ['append_system_prompt']))
  if (fork_session === true)
    throw new InvalidInput('fork_session', 'a fork is a separate mission', {
      try: 'POST /api/missions/{id}/fork, or fleet mission fork.',
    })
  return fork_session === undefined || fork_session === false ? rest : { ...rest, fork_session }
}

const REQUESTS: Record<string, Translation> = {
  create_mission: mission,
  update_mission: tools,
  dispatch_mission: options,
  resume_mission: options,
  list_missions: ({ status, ...rest }) => ({ ...rest, ...(status !== undefined && { status: statusWord(status) }) }),
  list_sessions: ({ status, ...rest }) => ({ ...rest, ...sessionsThatAre(status) }),
  create_project: project,
  update_project: project,
  add_mcp_server: mcpServer,
}

/** Leaves these out where they are null or empty, because that is how its clients say nothing. */
function without(request: Request, fields: readonly string[]): Request {
  const empty = (value: unknown): boolean => value === null || value === ''
  return Object.fromEntries(Object.entries(request).filter(([name, value]) => !fields.includes(name) || !empty(value)))
}

/** Its pages send 1 and 0 for yes and no. */
const flag = (field: string, request: Request): Request =>
  request[field] === 0 || request[field] === 1 ? { ...request, [field]: request[field] === 1 } : request

/** There, retries are on or off. Here they are a number. */
const retries = ({ auto_retry, ...rest }: Request): Request =>
  auto_retry === false ? { ...rest, max_retries: 0 } : rest

const isPreset = (word: unknown): boolean => (TOOL_PRESETS as readonly unknown[]).includes(word)

/** Tools are a list, a list as JSON in a text, or the name of a preset. */
function tools(request: Request): Request {
  const { allowed_tools, ...rest } = request
  if (typeof allowed_tools !== 'string') return request
  const text = allowed_tools.trim()
  if (text === '') return rest
  if (isPreset(text)) return { ...rest, tool_preset: text }
  return { ...rest, allowed_tools: text.startsWith('[') ? fromJson(text) : text.split(',').map(tool => tool.trim()) }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidInput('allowed_tools', 'must be a list of tools, or the name of a preset')
  }
}

/** `full` is a type of missions there, and a preset here. */
const missionType = ({ mission_type, ...rest }: Request): Request =>
  mission_type === 'full'
    ? { tool_preset: 'full', ...rest }
    : { ...rest, ...(mission_type !== undefined && { mission_type }) }

const WORDS: Record<string, string> = { completed: 'done', succeeded: 'done' }
const statusWord = (status: unknown): unknown =>
  Array.isArray(status) ? status.map(statusWord) : (WORDS[String(status)] ?? status)

/** A session that runs is live; one that is over tells how it ended. */
function sessionsThatAre(status: unknown): Request {
  if (status === undefined) return {}
  if (status === 'running') return { live: true }
  return { outcome: status }
}

/** Fields that it keeps about a project and we do not may be sent as long as they are empty. */
function project(request: Request): Request {
  const { system_prompt, state, ...rest } = without(request, UNKNOWN_OF_PROJECTS)
  return {
    ...rest,
    ...(system_prompt !== undefined && { instructions: system_prompt }),
    ...(state !== undefined && state !== 'active' && { state }),
  }
}
const UNKNOWN_OF_PROJECTS = [
  'owner',
  'start_date',
  'target_end_date',
  'parent_team',
  'teams_channel_id',
  'teams_channel_name',
]

/** `{ server_name, server_type, config: { command, args, env, url, headers } }`. */
function mcpServer(request: Request): Request {
  const { server_name, server_type, config, ...rest } = request
  if (server_name === undefined) return request
  if (server_type === 'sse')
    throw new InvalidInput('server_type', 'agents reach a server over HTTP, or start it themselves', {
      try: 'Use http if the server offers it, or stdio.',
    })
  const { command, args, ...more } = (typeof config === 'object' && config !== null ? config : {}) as Request
  const words = [command, args ?? []].flat()
  return { ...rest, name: server_name, ...more, ...(command !== undefined && { command: words }) }
}
