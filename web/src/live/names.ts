import { useEffect, useMemo } from 'react'
import { actorWords } from '../kit/event-words.ts'
import { queryClient, useAsk } from './data.ts'
import { useMe } from './me.ts'

/** Who an actor is, in the middle of a sentence: you, the owner, a name, the agent. Empty: the fleet by itself. */
export type Who = (actor: string) => string

/** Names that were asked for although the answer did not have them, so that each is asked for once. */
const missed = new Set<string>()

export function useWho(): Who {
  const me = useMe()
  const answer = useAsk('list_names', {}).data
  const unknown = useMemo(() => new Set<string>(), [])
  const names = useMemo(() => new Map(answer?.names.map(({ id, name }) => [id, name])), [answer])
  useEffect(() => {
    // Somebody who was invited since. Not everybody is told of that by an event.
    const fresh = [...unknown].filter(id => answer && !names.has(id) && !missed.has(id))
    if (!fresh.length) return
    for (const id of fresh) missed.add(id)
    queryClient.invalidateQueries({ queryKey: ['list_names'] })
  })
  return useMemo(() => {
    const mine = me?.kind === 'owner' || !me ? null : me.id
    return actor => {
      const id = /^(?:person|service):(.+)$/s.exec(actor)?.[1]
      if (id && id !== mine && !names.has(id)) unknown.add(id)
      return actorWords(actor, { me: mine, names })
    }
  }, [me, names, unknown])
}
