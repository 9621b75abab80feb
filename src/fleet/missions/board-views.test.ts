import { expect, test } from 'vitest'
import { BoardView, MOST_BOARD_VIEWS } from '../../domain/records/fleet.ts'
import { aBench } from '../workshop.testkit.ts'
import { boardViews, deleteBoardView, saveBoardView } from './board-views.ts'

const ask = { operation: 'test', actor: 'person' }

test('views are saved under their names, replaced and deleted', async () => {
  const { fleet, told } = aBench()
  await saveBoardView(fleet, ask, { name: 'Mine', search: 'state=review' })
  await saveBoardView(fleet, ask, { name: 'Failed', search: 'state=failed' })
  await saveBoardView(fleet, ask, { name: 'Mine', search: 'state=done' })
  expect(await boardViews(fleet)).toEqual([
    { name: 'Failed', search: 'state=failed' },
    { name: 'Mine', search: 'state=done' },
  ])
  expect(await deleteBoardView(fleet, ask, 'Failed')).toEqual([{ name: 'Mine', search: 'state=done' }])
  await expect(deleteBoardView(fleet, ask, 'Failed')).rejects.toThrow('no saved view')
  expect((await told()).at(-1)).toBe('board_view_deleted ')
})

test('there is an end to views, and to what one holds', async () => {
  const { fleet } = aBench()
  for (let at = 0; at < MOST_BOARD_VIEWS; at++) await saveBoardView(fleet, ask, { name: `view ${at}`, search: '' })
  await expect(saveBoardView(fleet, ask, { name: 'more', search: '' })).rejects.toThrow('saved views already')
  for (const search of ['a b', '?a', 'a#b', '//evil', 'x'.repeat(1001)])
    expect(BoardView.safeParse({ name: 'n', search }).success).toBe(false)
  expect(
    BoardView.safeParse({ name: 'n', search: new URLSearchParams({ q: 'ä b/*~', tag: '#1' }).toString() }).success,
  ).toBe(true)
})
