import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { type BoardView, MOST_BOARD_VIEWS } from '../../domain/records/fleet.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { fleetState, put } from '../records.ts'

/** Without those of a project that the caller may not see. */
export async function boardViews(fleet: Fleet): Promise<BoardView[]> {
  const views = (await fleetState(fleet)).value.board_views
  const projectOf = ({ search }: BoardView) => new URLSearchParams(search).get('project')
  return fleet.view ? views.filter(each => fleet.view!.projects.has(projectOf(each) ?? '') || !projectOf(each)) : views
}

/** Saves a view. One of the same name is replaced. */
export const saveBoardView = (fleet: Fleet, ask: Ask, view: BoardView): Promise<BoardView[]> =>
  change(fleet, ask, 'board_view_saved', view.name, views => {
    const others = views.filter(({ name }) => name !== view.name)
    if (others.length >= MOST_BOARD_VIEWS)
      throw new NotAllowed(`There are ${MOST_BOARD_VIEWS} saved views already.`, { try: 'Delete one of them first.' })
    return [...others, view].toSorted((one, other) => one.name.localeCompare(other.name))
  })

export const deleteBoardView = (fleet: Fleet, ask: Ask, wanted: string): Promise<BoardView[]> =>
  change(fleet, ask, 'board_view_deleted', wanted, views => {
    if (!views.some(({ name }) => name === wanted)) throw new NotFound('saved view', wanted)
    return views.filter(({ name }) => name !== wanted)
  })

async function change(
  fleet: Fleet,
  ask: Ask,
  kind: 'board_view_saved' | 'board_view_deleted',
  name: string,
  next: (views: BoardView[]) => BoardView[],
): Promise<BoardView[]> {
  await oncePerKey(fleet, ask, async () => {
    const { value, expects } = await fleetState(fleet)
    const { now, actor } = by(fleet, ask)
    return {
      subject: name,
      changes: [put('fleet', { ...value, board_views: next(value.board_views), updated_at: now }, expects)],
      events: [{ kind, time: now, actor, data: { name } }],
    }
  })
  return boardViews(fleet)
}
