import { useMemo, useRef, useState } from 'react'
import type { Mission } from '../../live/mending.ts'

export type Selected = ReadonlyMap<string, Mission>

export interface Selection {
  selected: Selected
  /** Selects or deselects one. A range begins there. */
  toggle(mission: Mission): void
  /** Selects everything from the last toggled mission to this one, in the order of the list. */
  range(mission: Mission, list: readonly Mission[]): void
  all(list: readonly Mission[]): void
  clear(): void
}

const NONE: Selected = new Map()

export function useSelection(): Selection {
  const [selected, setSelected] = useState(NONE)
  const anchor = useRef<string>(undefined)
  const acts = useMemo(
    () => ({
      toggle(mission: Mission) {
        anchor.current = mission.id
        setSelected(before => toggled(before, mission))
      },
      range(mission: Mission, list: readonly Mission[]) {
        const between = rangeOf(list, anchor.current, mission.id)
        setSelected(before => new Map([...before, ...between.map(each => [each.id, each] as const)]))
      },
      all: (list: readonly Mission[]) => setSelected(new Map(list.map(each => [each.id, each]))),
      clear: () => setSelected(NONE),
    }),
    [],
  )
  return useMemo(() => ({ selected, ...acts }), [selected, acts])
}

function toggled(before: Selected, mission: Mission): Selected {
  const next = new Map(before)
  if (!next.delete(mission.id)) next.set(mission.id, mission)
  return next
}

/** From one to the other, in either order. If the first is not in this list, only the last. */
export function rangeOf<T extends { id: string }>(list: readonly T[], from: string | undefined, to: string): T[] {
  const end = list.findIndex(({ id }) => id === to)
  const begin = list.findIndex(({ id }) => id === from)
  if (end < 0) return []
  if (begin < 0) return [list[end]!]
  return list.slice(Math.min(begin, end), Math.max(begin, end) + 1)
}
