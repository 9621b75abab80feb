import { Button } from '@radix-ui/themes'
import { LayoutDashboard, Plus } from 'lucide-react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { useAgentOf } from '../../kit/agent-of.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { May } from '../../kit/may.tsx'
import { Empty, Page } from '../../kit/page.tsx'
import { useIsPhone } from '../../kit/phone.ts'
import { useAsk } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import type { Mission } from '../../live/mending.ts'
import { useActing } from './acting.ts'
import './board.css'
import { BulkBar } from './bulk-bar.tsx'
import type { CardActs } from './card.tsx'
import { Column, useFolding } from './column.tsx'
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
  const folding = useFolding()
  const isList = isPhone || filters.view === 'list'
  const columns = filters.state ? [columnOf(filters.state)] : COLUMNS
  const shift = useShift(lists, acting)
  const order = isList ? [LIST] : columns.map(({ name }) => name)
  const keys = useBoardKeys({ lists, order, selection, shift })
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
  const acts = useCardActs({ lists, acting, selection, setDragging, remove, shift, choose: keys.choose })
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
  const [agentName, titleOf] = [useAgentOf(), useAgentTitle()]
  const agentOf = useCallback((mission: Mission) => titleOf(agentName(mission)), [agentName, titleOf])
  const shown = { active: keys.active, selected: selection.selected, hidden, dragging, projectName, agentOf }
  return (
    <Page
      title="Missions"
      filled
      actions={
        <May use="create_mission">
          <Button asChild className="only-small">
            <Link href="/missions/new">
              <Plus size={16} /> New mission
            </Link>
          </Button>
        </May>
      }
    >
      <FilterBar filters={filters} isPhone={isPhone} />
      {isList ? (
        <List {...shown} filters={filters} isPhone={isPhone} acts={acts} report={report} selectAll={selection.all} />
      ) : data?.total === 0 && !filters.isNarrowed ? (
        <NothingYet />
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
              folding={folding}
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

const NothingYet = () => (
  <Empty
    icon={LayoutDashboard}
    title="No missions yet"
    action={
      <May use="create_mission">
        <Button asChild>
          <Link href="/missions/new">New mission</Link>
        </Button>
      </May>
    }
  >
    Each mission moves from Queued to Done. You decide in Review what lands.
  </Empty>
)

interface CardActsOf {
  lists: Lists
  acting: ReturnType<typeof useActing>
  selection: ReturnType<typeof useSelection>
  setDragging(mission: Mission | undefined): void
  remove(missions: readonly Mission[]): void
  choose(mission: Mission): void
  shift: CardActs['shift']
}

type Lists = { readonly current: ReadonlyMap<string, readonly Mission[]> }

const listWith = (lists: Lists['current'], mission: Mission): readonly Mission[] =>
  [...lists.values()].find(list => list.some(({ id }) => id === mission.id)) ?? []

/** Moves a queued mission up or down in the queue. */
function useShift(lists: Lists, acting: ReturnType<typeof useActing>): CardActs['shift'] {
  return useCallback(
    (mission, by) => {
      const queue = listWith(lists.current, mission).filter(({ status }) => status === 'queued')
      const at = queue.findIndex(({ id }) => id === mission.id)
      if (at >= 0 && queue[at + by]) acting.reorder(mission, queue, at + by)
    },
    [lists, acting],
  )
}

/** The same functions while the board is shown. Otherwise every card would be drawn again with every key. */
function useCardActs({ lists, acting, selection, setDragging, remove, shift, choose }: CardActsOf): CardActs {
  const { toggle, range } = selection
  const may = useMayDo()
  return useMemo(() => {
    return {
      choose,
      select: (mission, shift) => (shift ? range(mission, listWith(lists.current, mission)) : toggle(mission)),
      begin: setDragging,
      end: () => setDragging(undefined),
      move: (mission, name) => acting.move(mission, COLUMNS.find(column => column.name === name)!),
      shift,
      remove: mission => remove([mission]),
      may,
    }
  }, [lists, acting, toggle, range, setDragging, remove, shift, choose, may])
}
