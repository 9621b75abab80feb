import { useMemo } from 'react'
import { useAsk } from '../live/data.ts'

/** The name of an agent as people know it: “Claude Code” for `claude`. */
export function useAgentTitle(): (name: string) => string {
  const agents = useAsk('list_agents', {}).data?.agents
  return useMemo(() => {
    // An agent may be listed once for each of its engines. The first one is the usual one.
    const titles = new Map(agents?.toReversed().map(({ name, title }) => [name, title]))
    return name => titles.get(name) ?? name
  }, [agents])
}
