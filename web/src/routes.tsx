import {
  Activity,
  Blocks,
  Bot,
  CalendarClock,
  ChartColumn,
  FileText,
  FolderGit2,
  GitPullRequestArrow,
  House,
  Inbox,
  LayoutDashboard,
  type LucideIcon,
  Network,
  Plug,
  Repeat,
  Settings,
  Share2,
  ShieldCheck,
  Workflow,
} from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { View } from './views.ts'

type Load = () => Promise<{ default: ComponentType }>

export interface Place {
  path: View
  view: LazyExoticComponent<ComponentType>
}

/** A page in the navigation. */
export interface Station extends Place {
  title: string
  icon: LucideIcon
  /** Goes there after `g`. */
  key?: string
}

const place = (path: View, load: Load): Place => ({ path, view: lazy(load) })
const station = (title: string, icon: LucideIcon, path: View, load: Load, key?: string): Station => ({
  ...place(path, load),
  title,
  icon,
  key,
})

/** The pages that people use all day. */
export const MAIN: readonly Station[] = [
  station('Home', House, '/', () => import('./pages/home/index.tsx'), 'h'),
  station('Inbox', Inbox, '/inbox', () => import('./pages/inbox/index.tsx'), 'i'),
  station('Missions', LayoutDashboard, '/missions', () => import('./pages/board/index.tsx'), 'm'),
  station('Review', GitPullRequestArrow, '/review', () => import('./pages/review/index.tsx'), 'r'),
  station('Graph', Share2, '/graph', () => import('./pages/graph/index.tsx'), 'g'),
]

/** Pages for set-up and reference. */
export const MORE: readonly Station[] = [
  station('Projects', FolderGit2, '/projects', () => import('./pages/projects/index.tsx'), 'p'),
  station('Plans', Network, '/plans', () => import('./pages/plans/index.tsx')),
  station('Workflows', Workflow, '/workflows', () => import('./pages/workflows/index.tsx'), 'w'),
  station('Schedules', CalendarClock, '/schedules', () => import('./pages/schedules/index.tsx')),
  station('Loops', Repeat, '/loops', () => import('./pages/loops/index.tsx')),
  station('Reports', FileText, '/reports', () => import('./pages/reports/index.tsx')),
  station('Costs', ChartColumn, '/costs', () => import('./pages/costs/index.tsx'), 'c'),
  station('Activity', Activity, '/activity', () => import('./pages/activity/index.tsx'), 'a'),
  station('Agents', Bot, '/agents', () => import('./pages/agents/index.tsx')),
  station('Approvals', ShieldCheck, '/approvals', () => import('./pages/approvals/index.tsx')),
  station('Plugins', Blocks, '/plugins', () => import('./pages/plugins/index.tsx')),
  station('Integrations', Plug, '/integrations', () => import('./pages/integrations/index.tsx')),
  station('Settings', Settings, '/settings', () => import('./pages/settings/index.tsx'), 's'),
]

/** Pages that are reached from others. */
const WITHIN: readonly Place[] = [
  place('/missions/new', () => import('./pages/mission/new.tsx')),
  place('/missions/:mission_id', () => import('./pages/mission/index.tsx')),
  place('/sessions/:session_id', () => import('./pages/session/index.tsx')),
  place('/review/:mission_id', () => import('./pages/review/one.tsx')),
  place('/search', () => import('./pages/search/index.tsx')),
  place('/compare', () => import('./pages/review/compare.tsx')),
  place('/loops/:loop_id', () => import('./pages/loops/one.tsx')),
  place('/plans/:plan_id', () => import('./pages/plans/one.tsx')),
  place('/projects/:project_id', () => import('./pages/projects/one.tsx')),
  place('/settings/notifications', () => import('./pages/settings/notifications.tsx')),
  place('/workflows/:workflow_id', () => import('./pages/workflows/one.tsx')),
]

export const STATIONS: readonly Station[] = [...MAIN, ...MORE]
export const PLACES: readonly Place[] = [...STATIONS, ...WITHIN]
