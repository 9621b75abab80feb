import { BOARD_ROUTES } from './board.ts'
import { CHAT_ROUTES } from './chats.ts'
import { CHECKPOINT_ROUTES } from './checkpoints.ts'
import { MAIL_ROUTES } from './mail.ts'
import type { Route } from './route.ts'
import { SPAWN_ROUTES } from './spawn-queue.ts'
import { TASK_ROUTES } from './tasks.ts'
import { WORK_ITEM_ROUTES } from './work-items.ts'
import { WORKER_ROUTES } from './workers.ts'
import { WORKTREE_ROUTES } from './worktrees.ts'

export type { Route } from './route.ts'

/** The addresses of claude-fleet, beside our own. */
export const CLAUDE_FLEET_ROUTES: readonly Route[] = [
  ...CHAT_ROUTES,
  ...WORKER_ROUTES,
  ...BOARD_ROUTES,
  ...CHECKPOINT_ROUTES,
  ...MAIL_ROUTES,
  ...TASK_ROUTES,
  ...WORK_ITEM_ROUTES,
  ...SPAWN_ROUTES,
  ...WORKTREE_ROUTES,
]
