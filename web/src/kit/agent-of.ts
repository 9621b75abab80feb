import { useMemo } from 'react'
import { useAsk } from '../live/data.ts'
import type { Mission } from '../live/mending.ts'

/** The agent of a mission: its own, its project's, or the fleet's. */
export function useAgentOf(): (mission: Pick<Mission, 'agent' | 'project_id'>) => string {
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects
  const fallback = useAsk('get_engine', {}).data?.default_agent ?? ''
  return useMemo(() => {
    const ofProject = new Map(projects?.map(({ id, agent }) => [id, agent]))
    return ({ agent, project_id }) => agent ?? ofProject.get(project_id) ?? fallback
  }, [projects, fallback])
}
