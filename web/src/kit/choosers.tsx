import { useMemo } from 'react'
import type { Name } from '../api/client.ts'
import { useAsk } from '../live/data.ts'
import { useMayDo } from '../live/me.ts'
import { ChoiceInput } from './fields.tsx'
import { plain } from './plain.ts'
import { namesOf } from './project-names.ts'

interface ChooserProps {
  value: string | null
  set(value: string | null): void
  label?: string
  hint?: string
  /** The label for no choice. Without it, something is always chosen. */
  none?: string
  disabled?: boolean
}

/** `coding`: leaves out agents that run scripts, because the text of the mission is not written yet. */
export function AgentChooser({ label = 'Agent', coding = false, ...rest }: ChooserProps & { coding?: boolean }) {
  const all = useAsk('list_agents', {}).data?.agents ?? []
  const agents = all.filter(({ name, can }) => !coding || !can.scripts || name === rest.value)
  // If an agent can be driven in several ways, it has the title of the first installed one.
  const options = [...Map.groupBy(agents, ({ name }) => name)].map(([name, ways]) => {
    const found = ways.find(({ installed }) => installed)
    return { value: name, label: found ? found.title : `${ways[0]!.title} (not installed)` }
  })
  return <ChoiceInput label={label} options={options} {...rest} />
}

interface ProjectChooserProps extends ChooserProps {
  /** Only projects in which one may do this. */
  to?: Name
}

export function ProjectChooser({ label = 'Project', to, ...rest }: ProjectChooserProps) {
  const may = useMayDo()
  const all = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const projects = to ? all.filter(({ id }) => may(to, id)) : all
  const options = [...namesOf(projects)].map(([value, label]) => ({ value, label: plain(label) }))
  return <ChoiceInput label={label} options={options} {...rest} />
}

/** Whether an agent runs its prompt as a script. */
export function useRunsScripts(): (agent: string | null | undefined) => boolean {
  const agents = useAsk('list_agents', {}).data?.agents
  return agent => agents?.find(({ name }) => name === agent)?.can.scripts === true
}

/** Why an agent cannot be shown images; undefined: it can, or nobody knows it here and the server decides. */
export function useImageRefusal(): (agent: string | null | undefined) => string | undefined {
  const agents = useAsk('list_agents', {}).data?.agents
  const fallback = useAsk('get_engine', {}).data?.default_agent
  return agent => {
    const found = agents?.find(({ name }) => name === (agent ?? fallback))
    return found && !found.can.images ? `${plain(found.title)} takes no images.` : undefined
  }
}

/** The name of a project by its id. */
export function useProjectNames(): (id: string | null) => string {
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects
  const names = useMemo(() => namesOf(projects ?? []), [projects])
  return id => (id && names.get(id)) || ''
}
