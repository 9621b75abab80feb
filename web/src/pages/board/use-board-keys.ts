import { useCallback, useEffect, useState } from 'react'
import type { Mission } from '../../live/mending.ts'
import { useShortcuts } from '../../shell/keys.ts'
import type { Selection } from './selection.ts'

interface Place {
  id: string
  /** Counts moves by keyboard. Only these scroll it into view. */
  moved: number
}

interface BoardKeys {
  lists: { readonly current: Map<string, readonly Mission[]> }
  /** The visible lists, from left to right. */
  order: readonly string[]
  selection: Selection
  /** Moves a queued mission up or down in the queue. */
  shift(mission: Mission, by: -1 | 1): void
}

/** Moves through the missions and selects them by keyboard. */
export function useBoardKeys({ lists, order, selection, shift }: BoardKeys) {
  const [active, setActive] = useState<Place>()
  const shown = order.join()
  useEffect(() => {
    // A list that is no longer shown cannot be reached.
    for (const name of lists.current.keys()) if (!shown.split(',').includes(name)) lists.current.delete(name)
  }, [lists, shown])
  const go = (mission: Mission | undefined) => {
    if (mission) setActive(before => ({ id: mission.id, moved: (before?.moved ?? 0) + 1 }))
    return mission
  }
  const where = () => {
    const columns = order.map(name => lists.current.get(name) ?? [])
    const column = columns.findIndex(list => list.some(({ id }) => id === active?.id))
    return { columns, column, row: columns[column]?.findIndex(({ id }) => id === active?.id) ?? -1 }
  }
  const first = () => go(where().columns.find(list => list.length)?.[0])
  const down = (by: number) => {
    const { columns, column, row } = where()
    return column < 0 ? first() : go(columns[column]![row + by])
  }
  const across = (by: number) => {
    const { columns, column, row } = where()
    if (column < 0) return first()
    for (let at = column + by; at >= 0 && at < columns.length; at += by) {
      const list = columns[at]!
      if (list.length) return go(list[Math.min(row, list.length - 1)])
    }
  }
  const here = (): Mission | undefined => {
    const { columns, column, row } = where()
    return columns[column]?.[row]
  }
  const extend = (by: number) => {
    const [from, list] = [here(), where().columns[where().column]]
    if (from && !selection.selected.has(from.id)) selection.toggle(from)
    const to = down(by)
    if (to && list) selection.range(to, list)
  }
  const withHere = (act: (mission: Mission) => void) => () => {
    const mission = here()
    if (mission) act(mission)
  }
  useShortcuts([
    { keys: 'j', title: 'Next mission', run: () => down(1) },
    { keys: 'ArrowDown', title: 'Next mission', run: () => down(1) },
    { keys: 'k', title: 'Previous mission', run: () => down(-1) },
    { keys: 'ArrowUp', title: 'Previous mission', run: () => down(-1) },
    { keys: 'ArrowRight', title: 'Next column', run: () => across(1) },
    { keys: 'ArrowLeft', title: 'Previous column', run: () => across(-1) },
    { keys: 'x', title: 'Select mission', run: withHere(selection.toggle) },
    {
      keys: 'shift+x',
      title: 'Select range',
      run: withHere(mission => selection.range(mission, where().columns[where().column]!)),
    },
    { keys: 'shift+ArrowDown', title: 'Extend selection down', run: () => extend(1) },
    { keys: 'shift+ArrowUp', title: 'Extend selection up', run: () => extend(-1) },
    { keys: 'Escape', title: 'Clear selection', run: selection.clear },
    { keys: '[', title: 'Start sooner', run: withHere(mission => shift(mission, -1)) },
    { keys: ']', title: 'Start later', run: withHere(mission => shift(mission, 1)) },
    { keys: 'm', title: 'Mission actions: move, land, cancel', run: withHere(openMenu) },
  ])
  const choose = useCallback(
    (mission: Mission) => setActive(before => ({ id: mission.id, moved: before?.moved ?? 0 })),
    [],
  )
  return { active, choose }
}

const openMenu = ({ id }: Mission): void =>
  document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] .card-menu`)?.click()
