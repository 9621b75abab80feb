import type { Page } from 'playwright-core'
import type { Day } from './day.ts'

export interface Shot {
  name: string
  title: string
  path: string
  /** Brings the page into the state of the picture. */
  prepare?(page: Page): Promise<void>
}

const tab = (name: RegExp) => (page: Page) => page.getByRole('tab', { name }).click()

/** Pictures of a home without a project. */
export const EMPTY: Shot[] = [
  { name: 'home-empty', title: 'Home, first visit', path: '/' },
  { name: 'missions-empty', title: 'Missions, empty', path: '/missions' },
  { name: 'plans-empty', title: 'Plans, empty', path: '/plans' },
  { name: 'teams-empty', title: 'Teams, empty', path: '/teams' },
  { name: 'workflows-empty', title: 'Workflows, empty', path: '/workflows' },
  { name: 'schedules-empty', title: 'Schedules, empty', path: '/schedules' },
  { name: 'loops-empty', title: 'Loops, empty', path: '/loops' },
  { name: 'costs-empty', title: 'Costs, empty', path: '/costs' },
]

/** The parts of a team. */
const OF_TEAM = [
  ['team', 'Team, mail', 'mail'],
  ['team-members', 'Team, members', 'members'],
  ['team-tasks', 'Team, tasks', 'tasks'],
  ['team-blackboard', 'Team, blackboard', 'blackboard'],
  ['team-checkpoints', 'Team, checkpoints', 'checkpoints'],
  ['team-swarms', 'Team, swarms', 'swarms'],
  ['team-files', 'Team, reserved files', 'files'],
  ['team-requests', 'Team, requests for members', 'requests'],
] as const

/** Every page and main state in the middle of a day's work. */
export const busy = (day: Day): Shot[] => [
  { name: 'home', title: 'Home', path: '/' },
  { name: 'inbox', title: 'Inbox', path: '/inbox' },
  { name: 'board', title: 'Missions, board', path: '/missions' },
  { name: 'list', title: 'Missions, list', path: '/missions?view=list' },
  { name: 'new-mission', title: 'New mission', path: '/missions/new' },
  { name: 'mission-running', title: 'Mission, running', path: `/missions/${day.running}` },
  { name: 'mission-review', title: 'Mission, in review', path: `/missions/${day.review}` },
  { name: 'mission-landed', title: 'Mission, landed', path: `/missions/${day.landed}` },
  { name: 'mission-failed', title: 'Mission, failed', path: `/missions/${day.failed}` },
  { name: 'mission-question', title: 'Mission, needs input', path: `/missions/${day.question}` },
  { name: 'mission-timeline', title: 'Mission, timeline', path: `/missions/${day.landed}?tab=history` },
  { name: 'mission-settings', title: 'Mission, settings', path: `/missions/${day.landed}?tab=settings` },
  { name: 'session', title: 'Session', path: `/sessions/${day.session}` },
  { name: 'reviews', title: 'Review, queue', path: '/review' },
  { name: 'review', title: 'Review', path: `/review/${day.review}` },
  { name: 'conflict', title: 'Conflict', path: `/review/${day.conflict}` },
  { name: 'compare', title: 'Compare', path: `/compare?first=${day.compare[0]}&second=${day.compare[1]}` },
  { name: 'graph', title: 'Graph', path: '/graph' },
  { name: 'projects', title: 'Projects', path: '/projects' },
  { name: 'project', title: 'Project', path: `/projects/${day.project}` },
  {
    name: 'project-settings',
    title: 'Project, settings',
    path: `/projects/${day.project}`,
    prepare: tab(/^Settings and budget/),
  },
  { name: 'project-checks', title: 'Project, checks', path: `/projects/${day.project}`, prepare: tab(/^Checks/) },
  { name: 'plans', title: 'Plans', path: '/plans' },
  ...(day.plan ? [{ name: 'plan', title: 'Plan', path: `/plans/${day.plan}` }] : []),
  { name: 'workflows', title: 'Workflows', path: '/workflows' },
  ...(day.workflow ? [{ name: 'workflow', title: 'Workflow', path: `/workflows/${day.workflow}` }] : []),
  { name: 'teams', title: 'Teams', path: '/teams' },
  ...(day.team ? OF_TEAM.map(([name, title, tab]) => ({ name, title, path: `/teams/${day.team}?tab=${tab}` })) : []),
  { name: 'schedules', title: 'Schedules', path: '/schedules' },
  {
    name: 'schedule-new',
    title: 'New schedule',
    path: '/schedules',
    prepare: page => page.getByRole('button', { name: 'New schedule' }).first().click(),
  },
  { name: 'loops', title: 'Loops', path: '/loops' },
  { name: 'reports', title: 'Reports', path: '/reports' },
  { name: 'costs', title: 'Costs', path: '/costs' },
  { name: 'activity', title: 'Activity', path: '/activity' },
  { name: 'agents', title: 'Agents', path: '/agents' },
  { name: 'approvals', title: 'Approvals', path: '/approvals' },
  { name: 'plugins', title: 'Plugins', path: '/plugins' },
  { name: 'integrations', title: 'Integrations', path: '/integrations' },
  { name: 'settings', title: 'Settings', path: '/settings' },
  { name: 'notifications', title: 'Notifications', path: '/settings/notifications' },
  { name: 'search', title: 'Search', path: '/search?q=tides' },
  {
    name: 'palette',
    title: 'Palette',
    path: '/',
    async prepare(page) {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('berths')
      await page.getByRole('option').first().waitFor()
    },
  },
  { name: 'keys', title: 'Keyboard shortcuts', path: '/missions', prepare: page => page.keyboard.press('?') },
  { name: 'phone-dialog', title: 'Continue on phone', path: '/', prepare: openPhone },
  { name: 'not-found', title: 'Page not found', path: '/nowhere' },
  {
    name: 'docs',
    title: 'API documentation',
    path: '/docs',
    prepare: page => page.getByText('create_project').first().waitFor(),
  },
]

async function openPhone(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Continue on phone' }).filter({ visible: true }).first()
  const more = page.getByRole('button', { name: 'More' }).filter({ visible: true })
  await button.or(more).first().waitFor()
  if (!(await button.isVisible())) await more.click()
  await button.click()
}
