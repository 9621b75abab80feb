import { Button } from '@radix-ui/themes'
import { Plus } from 'lucide-react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { useAgentOf } from '../../kit/agent-of.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Page } from '../../kit/page.tsx'
import { useIsPhone } from '../../kit/phone.ts'
import { useAsk } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'
import { useActing } from './acting.ts'
import './board.css'
import { BulkBar } from './bulk-bar.tsx'
import type { CardActs } from './card.tsx'
import { Column } from './column.tsx'
import { COLUMNS, type Column as ColumnOf, columnOf } from './columns.ts'
import { FilterBar } from './filter-bar.tsx'
import { useFilters } from './filters.ts'
import { LIST, List } from './list.tsx'
import { useSelection } from './selection.ts'
import { useBoardKeys } from './use-board-keys.ts'

/** All missions with their status, and actions on one or many. */
export default function Board() {
  const filters = useFilters()
  const isPhone = useIsPhone()
  const selection = useSelection()
  const acting = useActing()
  const lists = useRef(new Map<string, readonly Mission[]>())
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [dragging, setDragging] = useState<Mission>()
  const report = useCallback((name: string, missions: readonly Mission[]) => void lists.current.set(name, missions), [])
  const isList = isPhone || filters.view === 'list'
  const columns = filters.state ? [columnOf(filters.state)] : COLUMNS
  const keys = useBoardKeys({ lists, order: isList ? [LIST] : columns.map(({ name }) => name), selection })
  const { data } = useAsk('count_missions', { project_id: filters.filter.project_id }, { keep: true })

  const remove = useCallback(
    (missions: readonly Mission[]) => {
      const ids = new Set(missions.map(({ id }) => id))
      const hide = () => setHidden(before => before.union(ids))
      acting.remove(missions, hide, () => setHidden(before => before.difference(ids)))
      selection.clear()
    },
    [acting, selection.clear],
  )
  const acts = useCardActs({ lists, acting, selection, setDragging, remove, choose: keys.choose })
  const drop = (column: ColumnOf, place: number) => {
    if (!dragging) return
    const queue = lists.current.get('Queued') ?? []
    // It leaves its old position first.
    const from = queue.findIndex(({ id }) => id === dragging.id)
    if (column.name === 'Queued' && dragging.status === 'queued')
      acting.reorder(dragging, queue, from >= 0 && from < place ? place - 1 : place)
    else acting.move(dragging, column)
    setDragging(undefined)
  }
  const projectName = useProjectNames()
  const agentOf = useAgentOf()
  const shown = { active: keys.active, selected: selection.selected, hidden, dragging, projectName, agentOf }
  return (
    <Page
      title="Missions"
      filled
      actions={
        <Button asChild className="only-small">
          <Link href="/missions/new">
            <Plus size={16} /> New mission
          </Link>
        </Button>
      }
    >
      <FilterBar filters={filters} isPhone={isPhone} />
      {isList ? (
        <List {...shown} filters={filters} isPhone={isPhone} acts={acts} report={report} selectAll={selection.all} />
      ) : (
        <div className="board" data-dragging={dragging ? true : undefined}>
          {columns.map(column => (
            <Column
              {...shown}
              key={column.name}
              column={column}
              filter={filters.filter}
              count={
                filters.isCounted && data
                  ? column.statuses.reduce((sum, each) => sum + (data.counts[each] ?? 0), 0)
                  : undefined
              }
              acts={acts}
              report={report}
              drop={drop}
            />
          ))}
        </div>
      )}
      {selection.selected.size > 0 && (
        <BulkBar missions={[...selection.selected.values()]} acting={acting} clear={selection.clear} remove={remove} />
      )}
    </Page>
  )
}

interface CardActsOf {
  lists: { readonly current: ReadonlyMap<string, readonly Mission[]> }
  acting: ReturnType<typeof useActing>
  selection: ReturnType<typeof useSelection>
  setDragging(mission: Mission | undefined): void
  remove(missions: readonly Mission[]): void
  choose(mission: Mission): void
}

/** The same functions while the board is shown. Otherwise every card would be drawn again with every key. */
function useCardActs({ lists, acting, selection, setDragging, remove, choose }: CardActsOf): CardActs {
  const { toggle, range } = selection
  return useMemo(() => {
    const listWith = (mission: Mission) =>
      [...lists.current.values()].find(list => list.some(({ id }) => id === mission.id)) ?? []
    return {
      choose,
      select: (mission, shift) => (shift ? range(mission, listWith(mission)) : toggle(mission)),
      begin: setDragging,
      end: () => setDragging(undefined),
      move: (mission, name) => acting.move(mission, COLUMNS.find(column => column.name === name)!),
      shift(mission, by) {
        const queue = listWith(mission).filter(({ status }) => status === 'queued')
        const place = queue.findIndex(({ id }) => id === mission.id) + by
        if (place >= 0 && place < queue.length) acting.reorder(mission, queue, place)
      },
      remove: mission => remove([mission]),
    }
  }, [lists, acting, toggle, range, setDragging, remove, choose])
}
