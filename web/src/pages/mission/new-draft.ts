import type { Input, Output } from '../../api/client.ts'
import type { Settings } from './settings-fields.tsx'

type Making = Input<'create_mission'>

/** The fields of a mission that is not created yet. */
export interface Draft extends Settings {
  project_id: string | null
  title: string
  detailed_prompt: string
  acceptance_criteria: string
  mission_type: NonNullable<Making['mission_type']>
  tags: string[]
  priority: number
  parent_mission_id: string | null
  depends_on: string[]
  start_from: NonNullable<Making['start_from']>
  base_ref: string | null
  subdirectory: string
  append_system_prompt: string
  schedule_cron: string
}

export const EMPTY: Draft = {
  project_id: null,
  title: '',
  detailed_prompt: '',
  acceptance_criteria: '',
  mission_type: 'implement',
  tags: [],
  priority: 0,
  parent_mission_id: null,
  depends_on: [],
  start_from: 'base',
  base_ref: null,
  subdirectory: '',
  append_system_prompt: '',
  schedule_cron: '',
  agent: null,
  model: null,
  effort: null,
  engine: null,
  tool_preset: null,
  approvals: null,
  max_turns: null,
  max_budget_usd: null,
  timeout_seconds: null,
  context_limit_percent: null,
  max_retries: null,
  landing: null,
  context_mode: false,
}

const KEY = 'fleet-new-mission'

/** A draft that was not sent. Another version of the page may have stored it, so every field is checked. */
export function remembered(storage: Pick<Storage, 'getItem'>): Partial<Draft> {
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? '{}')
    const fields = Object.entries(EMPTY).filter(([field, empty]) => fitsIn(stored[field], empty))
    return Object.fromEntries(fields.map(([field]) => [field, stored[field]]))
  } catch {
    return {}
  }
}

const fitsIn = (value: unknown, empty: unknown): boolean =>
  value !== undefined &&
  (empty === null
    ? value === null || typeof value !== 'object'
    : Array.isArray(empty)
      ? Array.isArray(value) && value.every(each => typeof each === 'string')
      : typeof value === typeof empty)

export function remember(storage: Pick<Storage, 'setItem' | 'removeItem'>, draft: Draft): void {
  const said = saidIn(draft)
  if (Object.keys(said).length) storage.setItem(KEY, JSON.stringify(said))
  else storage.removeItem(KEY)
}

/** The fields that differ from an empty draft. */
const saidIn = (draft: Draft): Partial<Draft> =>
  Object.fromEntries(
    Object.entries(draft).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(EMPTY[field as keyof Draft]),
    ),
  )

/** The values that an address gives. */
export function askedIn(search: URLSearchParams): Partial<Draft> {
  const text = (name: string) => search.get(name) || undefined
  const asked: Partial<Draft> = {
    project_id: text('project'),
    detailed_prompt: text('prompt'),
    title: text('title'),
    acceptance_criteria: text('criteria'),
    parent_mission_id: text('parent'),
    // An address cannot say that its text is a script.
    agent: text('agent') === 'shell' ? undefined : text('agent'),
    tags: search.has('tag') ? search.getAll('tag') : undefined,
    depends_on: search.has('after') ? search.getAll('after') : undefined,
  }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}

/** A draft like an existing mission, without its dependencies. */
export function like(mission: Output<'get_mission'>): Partial<Draft> {
  const fields = Object.keys(EMPTY).filter(field => field in mission && field !== 'depends_on')
  return Object.fromEntries(fields.map(field => [field, mission[field as keyof typeof mission]]))
}

/** Common schedules. The page of schedules has the others. */
export const REPEATS = [
  { cron: '@hourly', label: 'Every hour' },
  { cron: '0 7 * * *', label: 'Every day at 7:00' },
  { cron: '0 7 * * 1-5', label: 'On workdays at 7:00' },
  { cron: '0 7 * * 1', label: 'On Mondays at 7:00' },
]

const TITLE_CHARS = 80

/** The first line of the prompt, if there is no title. */
export function titleFrom(prompt: string): string {
  const line =
    prompt
      .split('\n')
      .map(each => each.replace(/^[#>*\-\s]+/, '').trim())
      .find(Boolean) ?? ''
  if (line.length <= TITLE_CHARS) return line
  const cut = line.slice(0, TITLE_CHARS)
  const word = cut.lastIndexOf(' ')
  return `${word > TITLE_CHARS / 2 ? cut.slice(0, word).trimEnd() : cut}…`
}

export function missionFrom(draft: Draft, autoDispatch: boolean): Making | undefined {
  const { project_id, schedule_cron, title, ...settings } = draft
  if (!project_id || !draft.detailed_prompt.trim()) return undefined
  const cron = schedule_cron.trim()
  return {
    ...settings,
    project_id,
    title: title.trim() || titleFrom(draft.detailed_prompt),
    auto_dispatch: autoDispatch,
    ...(cron && {
      schedule_cron: cron,
      schedule_time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
  }
}
