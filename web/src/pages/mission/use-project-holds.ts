import { useAsk } from '../../live/data.ts'
import type { Held } from './settings-fields.tsx'

const FIELDS = [
  'agent',
  'model',
  'engine',
  'tool_preset',
  'approvals',
  'max_turns',
  'max_budget_usd',
  'timeout_seconds',
  'context_limit_percent',
  'max_retries',
  'landing',
] as const

/** The values that a mission of this project inherits. */
export function useProjectHolds(projectId: string | null): Held[] {
  const project = useAsk('get_project', { project_id: projectId ?? '' }, { enabled: projectId !== null }).data
  const engine = useAsk('get_engine', {}).data
  if (!project) return []
  return FIELDS.flatMap((field): Held[] => {
    const value = project[field]
    if (value !== null) return [{ field, value, from: 'project' }]
    const fleets: Partial<Record<string, string | null>> = {
      agent: engine?.default_agent,
      model: engine?.default_model,
    }
    const said = fleets[field]
    return said ? [{ field, value: said, from: 'default' }] : []
  })
}
