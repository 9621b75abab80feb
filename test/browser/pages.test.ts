import { expect, test } from 'vitest'
import { VIEWS } from '../../web/src/views.ts'
import { aPlanner, COMPLETE, planOf } from '../kit/planner.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { accessFaults, aPerson, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

/** A fleet in the middle of a day, with something of everything. */
async function aBusyFleet(): Promise<{ scene: Scene; ids: Record<string, string> }> {
  const scene = await aScene({ project: { name: 'Ship', description: 'A boat, in text files', daily_budget_usd: 20 } })
  const { fleet, project, gate } = scene
  const call = <T = { id: string }>(operation: string, input: object) => fleet.call<T>(operation, input)
  const mission = (title: string, script: string, more: object = {}) =>
    fleet.mission(project, script, { title, agent: 'shell', ...more })
  const landed = await mission('Draw the hull', 'echo hull > hull.txt', { tags: ['wood'] })
  await fleet.until(landed.id, 'done')
  const review = await mission('Paint the sides', 'seq 1 40 > sides.txt; echo blue >> hull.txt', { landing: 'review' })
  const other = await mission('Varnish the sides', 'seq 2 41 > sides.txt', { landing: 'review' })
  await fleet.until(review.id, 'review')
  await fleet.until(other.id, 'review')
  const failed = await mission('Set the mast', 'echo it is too tall >&2; exit 3', { max_retries: 0 })
  await fleet.until(failed.id, 'failed')
  const running = await mission('Sew the sails', `echo sewing; ${gate('sails').wait}`)
  await mission('Hoist the sails', 'true', { depends_on: [running.id] })
  const sewing = await fleet.until(running.id, 'running')
  await call('create_mission', {
    project_id: project.id,
    title: 'Name the boat',
    prompt: 'Find a name',
    agent: 'shell',
  })
  const workflow = await call('create_workflow', {
    project_id: project.id,
    task_prompt: 'echo rope > rope.txt',
    stages: [
      { name: 'twist', prompt: 'echo rope > rope.txt', agent: 'shell' },
      { name: 'tie', prompt: 'echo knot >> rope.txt', agent: 'shell', depends_on: ['twist'] },
    ],
  })
  await call('schedule_mission', { mission_id: landed.id, cron: '0 7 * * 1-5', time_zone: 'Europe/Berlin' })
  const planner = aPlanner(fleet)
  planner.says(
    planOf(
      { key: 'keel', script: 'echo keel > keel.txt' },
      { key: 'deck', script: 'echo deck > deck.txt', after: ['keel'] },
    ),
  )
  const plan = await call('plan_project', { project_id: project.id, prompt: 'A deck to stand on', agent: 'planner' })
  await call('wait_for_plan', { plan_id: plan.id })
  planner.says(COMPLETE)
  const loop = await call('start_loop', {
    project_id: project.id,
    goal: 'A boat that floats',
    agent: 'planner',
    unchecked: true,
    max_budget_usd: 5,
  })
  const team = await call('create_team', { project_id: project.id, name: 'crew', description: 'They keep it afloat' })
  const script = 'cat "$FLEET_MAIL_FILE"'
  await call('add_member', { team_id: team.id, handle: 'bosun', role: 'team-lead', agent: 'shell', charter: script })
  await call('send_mail', { team_id: team.id, to: 'bosun', body: 'Is she dry?', needs: 'reply' })
  return {
    scene,
    ids: {
      team_id: team.id,
      mission_id: review.id,
      session_id: sewing.sessions[0]!.id,
      project_id: project.id,
      plan_id: plan.id,
      loop_id: loop.id,
      workflow_id: workflow.id,
      first: review.id,
      second: other.id,
    },
  }
}

const LOOKS = {
  light: { scheme: 'light', size: 'desktop' },
  dark: { scheme: 'dark', size: 'desktop' },
  phone: { scheme: 'light', size: 'phone' },
} as const

test('every page, in light, dark and on a phone: nothing is inaccessible, broken, or wider than the screen', async () => {
  const { scene, ids } = await aBusyFleet()
  const faults: object[] = []
  for (const [look, looking] of Object.entries(LOOKS)) {
    const person = await aPerson(scene.fleet, looking)
    for (const view of VIEWS) {
      const query = view === '/compare' ? `?first=${ids.first}&second=${ids.second}` : ''
      await person.visit(view.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '') + query)
      const { page } = person
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
      await screenshot(page, `${view === '/' ? 'home' : view.slice(1).replace(/[/:]+/g, '-')}-${look}`)
      for (const fault of await accessFaults(page)) faults.push({ view, look, ...fault })
      if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
        faults.push({ view, look, id: 'it scrolls sideways' })
    }
  }
  expect(faults).toEqual([])
}, 240_000)
