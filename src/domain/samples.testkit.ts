import { Mission } from './records/mission.ts'
import { Project } from './records/project.ts'
import { Report } from './records/report.ts'
import { Session } from './records/session.ts'

export const NOW = '2026-11-15T10:00:00.000Z'
export const BY = { actor: 'fleet', now: NOW }

export const aMission = (more: Partial<Mission> = {}): Mission =>
  Mission.parse({
    id: 'm1',
    project_id: 'p1',
    title: 'a mission',
    prompt: { inline: 'do it' },
    status: 'draft',
    created_at: NOW,
    updated_at: NOW,
    ...more,
  })

export const aProject = (more: Partial<Project> = {}): Project =>
  Project.parse({
    id: 'p1',
    name: 'a project',
    path: '/p',
    worktree: 'git',
    base_branch: 'main',
    created_at: NOW,
    updated_at: NOW,
    ...more,
  })

export const aSession = (more: Partial<Session> = {}): Session =>
  Session.parse({
    id: 's1',
    mission_id: 'm1',
    project_id: 'p1',
    number: 1,
    reason: 'first',
    agent: 'shell',
    model: null,
    status: 'running',
    worktree: '/w',
    branch: 'fleet/shell/a/s1',
    created_at: NOW,
    ...more,
  })

export const aReport = (more: Partial<Report> = {}): Report =>
  Report.parse({
    id: 'r1',
    mission_id: 'm1',
    session_id: 's1',
    project_id: 'p1',
    source: 'git',
    files_changed: [],
    commits: [],
    created_at: NOW,
    ...more,
  })
