import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { aWorker } from '../kit/worker.ts'

/** The version before missions said whether their text is a script. Shell was the default agent then. */
const BEFORE_SCRIPTS = 10

interface Old {
  canary(name: string): string
  /** A text that leaves a canary if a shell runs it. A coding agent does nothing with it. */
  text(name: string): string
  make(name: string, agent: 'shell' | null, more?: object): Promise<string>
  /** Makes the store look as if that version had written it. */
  age(unnamed: readonly string[]): void
}

function oldHome({ fleet, project }: Scene): Old {
  const canary = (name: string) => join(fleet.root, `ran-${name}`)
  const text = (name: string) => `Touch up the docs\ntouch '${canary(name)}'`
  return {
    canary,
    text,
    async make(name, agent, more = {}) {
      const asked = {
        title: name,
        detailed_prompt: agent ? `touch '${canary(name)}' made.txt` : text(name),
        landing: 'never',
      }
      const { id } = await fleet.call<{ id: string }>('create_mission', {
        ...{ project_id: project.id, agent: agent ?? 'worker', auto_dispatch: true, ...asked, ...more },
      })
      return id
    },
    age(unnamed) {
      const db = new Database(fleet.fleet.home.storeFile)
      db.exec(`UPDATE records_missions SET body = json_remove(body, '$.script');
        UPDATE records_projects SET body = json_set(body, '$.landing', NULL, '$.agent', NULL);
        PRAGMA user_version = ${BEFORE_SCRIPTS}`)
      for (const id of unnamed)
        db.prepare(`UPDATE records_missions SET body = json_set(body, '$.agent', NULL) WHERE id = ?`).run(id)
      db.close()
    },
  }
}

test('an old home: missions that named shell are still scripts, and nothing else reaches a shell', {
  timeout: 120_000,
}, async () => {
  const scene = await aScene({ start: false, env: { FLEET_MAX_CONCURRENT: '6' } })
  aWorker(scene.fleet)
  const { fleet, project } = scene
  const old = oldHome(scene)
  // A mission that ran by the old default and failed. Its author never said that it is a script.
  await fleet.start()
  const tried = await fleet.mission(
    project,
    `test -e '${fleet.root}/again' && touch '${old.canary('tried')}' made.txt`,
    {
      ...{ agent: 'shell', landing: 'never', max_retries: 0 },
    },
  )
  await fleet.until(tried.id, 'failed')
  await fleet.stop()
  writeFileSync(join(fleet.root, 'again'), '')

  const named = await old.make('named', 'shell')
  const draft = await old.make('draft', 'shell', { auto_dispatch: false })
  const scheduled = await old.make('scheduled', 'shell', { auto_dispatch: false, schedule_cron: '@yearly' })
  const prose = await old.make('prose', null)
  const prosaicSchedule = await old.make('prosaic', null, { auto_dispatch: false, schedule_cron: '@yearly' })
  const prosaicDraft = await old.make('prosaic-draft', null, { auto_dispatch: false })
  old.age([prose, prosaicSchedule, prosaicDraft, tried.id])
  await fleet.start()

  const run = async (id: string) => fleet.until(id, 'done', 'failed', 'needs_input', 'review')
  expect(await run(named)).toMatchObject({ status: 'done', agent: 'shell' })
  await fleet.call('dispatch_mission', { mission_id: draft })
  expect(await run(draft)).toMatchObject({ status: 'done' })
  await fleet.call('run_schedule', { schedule_id: scheduled })
  await eventually('the schedule', () => existsSync(old.canary('scheduled')))
  expect(['named', 'draft', 'scheduled'].map(name => existsSync(old.canary(name)))).toEqual([true, true, true])

  // The project gets an agent, which does nothing with a text that has no order for it.
  await run(prose)
  await fleet.call('dispatch_mission', { mission_id: prosaicDraft }).catch(() => undefined)
  await fleet.call('run_schedule', { schedule_id: prosaicSchedule }).catch(() => undefined)
  await fleet.call('retry_mission', { mission_id: tried.id }).catch(() => undefined)
  const copies = async () =>
    (await fleet.call<{ missions: { id: string; status: string; title: string }[] }>('list_missions', { limit: 500 }))
      .missions
  await eventually(
    'all are over',
    async () => (await copies()).every(({ status }) => !['queued', 'running', 'landing'].includes(status)),
    async () => JSON.stringify(await copies()),
  )
  const ran = ['prose', 'prosaic', 'prosaic-draft', 'tried'].filter(name => existsSync(old.canary(name)))
  expect(ran).toEqual([])
})

test('an old home whose project or fleet had shell as its agent runs nothing by it, and says how to go on', {
  timeout: 60_000,
}, async () => {
  const scene = await aScene({ start: false })
  const { fleet } = scene
  aWorker(fleet)
  const old = oldHome(scene)
  const prose = await old.make('prose', null)
  old.age([prose])
  const db = new Database(fleet.fleet.home.storeFile)
  db.exec(`UPDATE records_projects SET body = json_set(body, '$.agent', 'shell')`)
  db.close()
  await fleet.start()
  const mission = await fleet.until(prose, 'failed', 'needs_input', 'done', 'review')
  expect(mission.status).not.toBe('done')
  expect(mission.status_reason!.text).toMatch(/runs text as a script, and nobody named it/)
  expect(existsSync(old.canary('prose'))).toBe(false)
})
