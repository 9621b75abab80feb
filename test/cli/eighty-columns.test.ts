import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { EXIT } from '../../src/cli/exit.ts'
import { fleet as runs } from '../../src/cli/testing.ts'
import { widthOf } from '../../src/platform/safe-text.ts'
import { aScene } from '../kit/scene.ts'

const LONG = 'Replace the hand-written parser of the configuration with one that is generated from the grammar'
const NAME = 'the-extraordinarily-long-name-of-a-service-that-nobody-shortened'

/** Every command that prints a list or a table. */
const LISTS = [
  'list',
  'status',
  'inbox',
  'agents',
  'agents --long',
  'costs',
  'ready',
  'project list',
  'worktree list',
  'schedule list',
  'template list',
  'workflow list',
  'workflow ready-made',
  'plan list',
  'preview list',
  'approvals list',
  'plugin list',
  'device list',
  'user list',
  `token list ${NAME.slice(0, 50)}`,
  'role list',
  'config show',
  'mission list',
  `mcp-server list --project ${NAME}`,
  `loop history --project ${NAME}`,
  'search parser',
  'events',
  'call',
  'clean --dry-run',
]

test('every list fits a terminal of 80 columns, with the longest names', async () => {
  const { fleet, project, gate } = await aScene({ project: { name: NAME } })
  const works = gate('works')
  const mission = (prompt: string, more: object = {}) => fleet.mission(project, prompt, { title: LONG, ...more })
  const running = await mission(works.wait)
  await fleet.until(running.id, 'running')
  const broken = await mission('exit 3', { max_retries: 0 })
  await fleet.until(broken.id, 'failed')
  const made = await mission(`echo > "${NAME}.txt"`, { landing: 'review' })
  await fleet.until(made.id, 'review')
  const of = { project_id: project.id }
  await fleet.call('schedule_mission', {
    mission_id: made.id,
    cron: '0 4 * * 1',
    time_zone: 'America/Argentina/Buenos_Aires',
  })
  await fleet.call('save_template', { name: NAME.slice(0, 50), mission_id: made.id })
  await fleet.call('add_mcp_server', { ...of, name: 'records', url: `https://${NAME}.example/mcp` })
  const grants = [{ role: 'coordinator', ...of }]
  await fleet.call('invite_person', { name: 'Wilhelmina Featherstonehaugh-Cholmondeley', grants })
  const { service } = await fleet.call<{ service: { id: string } }>('add_service', {
    name: NAME.slice(0, 50),
    grants: [{ role: 'worker', project_id: null }],
  })
  await fleet.call('make_token', { name: NAME.slice(0, 50), principal_id: service.id })
  const failed: string[] = []
  const wide: Record<string, string[]> = {}
  for (const line of LISTS) {
    const { code, out, err } = await runs(line.split(' '), {
      real: true,
      terminal: true,
      env: { FLEET_HOME: fleet.fleet.home.path, NO_COLOR: '1' },
    })
    if (code !== EXIT.done && code !== EXIT.person) failed.push(`${line}: ${err}`)
    const lines = stripVTControlCharacters(out)
      .split('\n')
      .filter(each => widthOf(each) > 80)
    if (lines.length) wide[line] = lines
  }
  expect({ failed, wide }).toEqual({ failed: [], wide: {} })
  works.open()
})
