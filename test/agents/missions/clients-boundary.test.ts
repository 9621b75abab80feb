import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'
import type { Step } from '../../model/index.ts'

const { model, sceneOf } = clientScenes()
const clientNamed = (name: string) => REAL_CLIENTS.find(client => client.name === name)!

/** Calls of tools that leave the worktree, outlive the session or reach the person's other sessions. */
const ASTRAY: Step[] = [
  { tool: 'ToolSearch', input: { query: 'select:EnterWorktree,CronCreate,CronList,SendMessage', max_results: 10 } },
  { tool: 'EnterWorktree', input: { name: 'astray' } },
  { tool: 'CronCreate', input: { cron: '* * * * *', prompt: 'Again.', recurring: true, durable: true } },
  { tool: 'ScheduleWakeup', input: { delaySeconds: 60, reason: 'again', prompt: 'Again.', noop: false } },
  { tool: 'ListAgents', input: {} },
  { tool: 'SendMessage', input: { to: 'someone', summary: 'hello', message: 'Hello.' } },
  { say: 'I stayed.' },
]
const NAMES = ['EnterWorktree', 'CronCreate', 'ScheduleWakeup', 'ListAgents', 'SendMessage']

for (const client of ['claude', 'claude-acp'].map(clientNamed)) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  describe.skipIf(!client.binary)(`${client.name}, as missions get it`, () => {
    test.each(['full', 'review'])('under %s: no tool leaves the worktree or outlives the session', async preset => {
      const { fleet, repo, project } = await sceneOf(client)
      const shown = async () => ({
        branches: (await repo.git('branch', '--list', '--format=%(refname)'))
          .split('\n')
          .filter(each => !each.includes('/fleet/')),
        worktrees: (await repo.git('worktree', 'list')).split('\n').filter(each => !each.includes(fleet.root)),
        status: await repo.git('status', '--porcelain', '--ignored'),
        folder: readdirSync(repo.path),
      })
      const before = await shown()
      const tag = `astray-${client.name}-${preset}`
      const settings = { tool_preset: preset, mission_type: 'review' }
      const { id } = await fleet.mission(project, `${tag}\n${prompt(...ASTRAY)}`, settings)
      const mission = await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
      expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'no_changes' })

      expect(await shown()).toEqual(before)
      const { worktree } = mission.sessions[0]!
      expect(existsSync(join(worktree!, '.claude'))).toBe(false)
      expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
      const asked = model()
        .requests.map(({ body }) => JSON.stringify(body ?? ''))
        .filter(body => body.includes(tag))
      const last = asked.reduce((longest, body) => (body.length > longest.length ? body : longest), '')
      for (const name of NAMES) expect(last, name).toContain(`No such tool available: ${name}`)
      for (const name of NAMES) expect(last.includes(`"name":"${name}","description"`), name).toBe(false)
    })
  })
}
