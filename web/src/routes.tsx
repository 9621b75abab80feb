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
  Users,
  UsersRound,
  Workflow,
} from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { May } from './live/rights.ts'
import type { View } from './views.ts'

type Load = () => Promise<{ default: ComponentType }>

type Need = Parameters<May>[0]

export interface Place {
  path: View
  view: LazyExoticComponent<ComponentType>
  /** Offered to those who may use one of these. */
  needs: readonly Need[]
}

/** A page in the navigation. */
export interface Station extends Place {
  title: string
  icon: LucideIcon
  /** Goes there after `g`. */
  key?: string
}

const place = (path: View, load: Load, ...needs: Need[]): Place => ({
  path,
  view: lazy(load),
  needs: needs.length ? needs : ['missions.read'],
})
interface More {
  key?: string
  needs?: Need[]
}
const station = (title: string, icon: LucideIcon, path: View, load: Load, { key, needs = [] }: More = {}): Station => ({
  ...place(path, load, ...needs),
  title,
  icon,
  key,
})

/** The pages that people use all day. */
export const MAIN: readonly Station[] = [
  station('Home', House, '/', () => import('./pages/home/index.tsx'), { key: 'h' }),
  station('Inbox', Inbox, '/inbox', () => import('./pages/inbox/index.tsx'), { key: 'i' }),
  station('Missions', LayoutDashboard, '/missions', () => import('./pages/board/index.tsx'), { key: 'm' }),
  station('Review', GitPullRequestArrow, '/review', () => import('./pages/review/index.tsx'), { key: 'r' }),
  station('Graph', Share2, '/graph', () => import('./pages/graph/index.tsx'), { key: 'g' }),
]

/** Pages for set-up and reference. */
export const MORE: readonly Station[] = [
  station('Projects', FolderGit2, '/projects', () => import('./pages/projects/index.tsx'), {
    key: 'p',
    needs: ['list_projects'],
  }),
  station('Teams', UsersRound, '/teams', () => import('./pages/teams/index.tsx'), { key: 't', needs: ['list_teams'] }),
  station('Plans', Network, '/plans', () => import('./pages/plans/index.tsx')),
  station('Workflows', Workflow, '/workflows', () => import('./pages/workflows/index.tsx'), { key: 'w' }),
  station('Schedules', CalendarClock, '/schedules', () => import('./pages/schedules/index.tsx')),
  station('Loops', Repeat, '/loops', () => import('./pages/loops/index.tsx')),
  station('Reports', FileText, '/reports', () => import('./pages/reports/index.tsx'), { needs: ['list_reports'] }),
  station('Costs', ChartColumn, '/costs', () => import('./pages/costs/index.tsx'), {
    key: 'c',
    needs: ['list_spending'],
  }),
  station('Activity', Activity, '/activity', () => import('./pages/activity/index.tsx'), { key: 'a' }),
  station('Agents', Bot, '/agents', () => import('./pages/agents/index.tsx'), { needs: ['list_agents'] }),
  station('Approvals', ShieldCheck, '/approvals', () => import('./pages/approvals/index.tsx'), {
    needs: ['list_approval_rules'],
  }),
  station('Plugins', Blocks, '/plugins', () => import('./pages/plugins/index.tsx'), { needs: ['list_plugins'] }),
  station('Integrations', Plug, '/integrations', () => import('./pages/integrations/index.tsx'), {
    needs: ['list_integrations'],
  }),
  station('People', Users, '/people', () => import('./pages/people/index.tsx'), { needs: ['list_people'] }),
  station('Settings', Settings, '/settings', () => import('./pages/settings/index.tsx'), {
    key: 's',
    needs: ['set_settings', 'disk_use'],
  }),
]

/** Pages that are reached from others. */
const WITHIN: readonly Place[] = [
  place('/missions/new', () => import('./pages/mission/new.tsx'), 'create_mission'),
  place('/missions/:mission_id', () => import('./pages/mission/index.tsx')),
  place('/sessions/:session_id', () => import('./pages/session/index.tsx'), 'read_transcript'),
  place('/review/:mission_id', () => import('./pages/review/one.tsx')),
  place('/search', () => import('./pages/search/index.tsx'), 'search'),
  place('/compare', () => import('./pages/review/compare.tsx')),
  place('/loops/:loop_id', () => import('./pages/loops/one.tsx')),
  place('/teams/:team_id', () => import('./pages/teams/one.tsx'), 'get_team'),
  place('/plans/:plan_id', () => import('./pages/plans/one.tsx')),
  place('/projects/:project_id', () => import('./pages/projects/one.tsx')),
  place('/audit', () => import('./pages/audit/index.tsx'), 'list_audit'),
  place('/account', () => import('./pages/account/index.tsx'), 'self.manage'),
  place('/settings/notifications', () => import('./pages/settings/notifications.tsx'), 'set_notification_settings'),
  place('/workflows/:workflow_id', () => import('./pages/workflows/one.tsx')),
]

export const STATIONS: readonly Station[] = [...MAIN, ...MORE]
export const PLACES: readonly Place[] = [...STATIONS, ...WITHIN]
