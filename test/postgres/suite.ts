/** Stories of a real fleet that `npm run test:postgres -- --stories` plays, by file and title. */
export const STORIES: readonly (readonly [file: string, title: string])[] = [
  ['landing/landing', 'a mission that makes a file lands it on the base branch and in the clean checkout'],
  ['landing/conflict', 'the agent resolves its conflict itself, and it lands'],
  [
    'landing/undo',
    'an undone mission is gone from the base branch and the checkout, and can land again, more than once',
  ],
  ['missions/cancel', 'an agent that ignores TERM is gone with its whole tree in time; its work stays on its branch'],
  ['questions/inbox', 'a question is there once, also while its agent is parked, and is counted once everywhere'],
  [
    'delegation/delegating',
    'with one slot a mission hands on two parts, waits and finishes; no two agents live at once',
  ],
  ['planning/planning', 'a plan is proposed, changes nothing, is approved once and runs by its dependencies'],
  ['schedules/schedules', 'asked again and again in the same moment, one copy is made'],
  ['workflows/workflows', 'a server killed between two stages: the rest runs, nothing twice'],
  [
    'notifications/notifications',
    'a server that is killed while it tells ntfy tells it again under the same name, and then no more',
  ],
]

/** With PostgreSQL under the whole suite: what looks into the file of SQLite is not about it. */
export const ABOUT_SQLITE: readonly string[] = [
  'test/daemon/{faults,home,odd-homes}.test.ts',
  'test/store/{damaged-store,old-home}.test.ts',
]

/** A title as a pattern for `vitest -t`. */
export const pattern = (title: string): string => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
