import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ProcessView } from '../../../src/operations/process-view.ts'
import { membersOf, sideMark } from '../../../src/runner/processes.ts'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const STAND_IN = join(import.meta.dirname, '../../fixtures/hands')
const SERVE = [
  "const { createServer } = require('node:http')",
  "const { readFileSync } = require('node:fs')",
  "const page = () => readFileSync('page.txt', 'utf8')",
  "createServer((_, response) => response.end(page())).listen(process.env.PORT, '127.0.0.1')",
  "console.log('Ready at http://localhost:' + process.env.PORT + '/app')",
].join('; ')
/** A server, and a helper that left its process group. With the wrapper these are three processes. */
const PREVIEW = `setsid sleep 600 & exec node -e "${SERVE}"`

const listed = async (fleet: TestFleet, live = true): Promise<ProcessView[]> =>
  (await fleet.call<{ processes: ProcessView[] }>('list_processes', { live })).processes
const members = ({ fleet }: TestFleet, { id }: ProcessView): number[] =>
  membersOf({ mark: sideMark(fleet.home.id, id), root: null, worktree: null, known: new Map() }).map(({ pid }) => pid)
async function scene(settings: object = {}, env: Record<string, string> = {}): Promise<Scene> {
  const made = await aScene({ project: { landing: 'review', preview_command: PREVIEW, ...settings }, env })
  onTestFinished(async () => {
    for (const each of await listed(made.fleet))
      for (const pid of members(made.fleet, each)) process.kill(pid, 'SIGKILL')
  })
  return made
}
const page = async (url: string | null): Promise<string> => (await fetch(url!)).text()

async function up(fleet: TestFleet, mission: string): Promise<ProcessView> {
  await fleet.call('start_preview', { mission_id: mission })
  return eventually(
    'the preview is up',
    async () => (await listed(fleet)).find(each => each.mission_id === mission && each.status === 'up'),
    async () => JSON.stringify(await listed(fleet, false)),
  )
}

describe('a preview', () => {
  test('is started by a person, outlives a killed server, and is stopped as a tree', async () => {
    const { fleet, project } = await scene()
    const { id } = await fleet.mission(project, 'echo hello > page.txt')
    await fleet.until(id, 'review')
    const started = await fleet.fleetCommand(['preview', 'start', id])
    expect(started).toMatchObject({ code: 0 })
    const url = started.stdout.trim()
    expect(url).toMatch(/^http:\/\/localhost:\d+\/app$/)
    expect(await page(url)).toBe('hello\n')
    const [before] = await listed(fleet)
    expect(members(fleet, before!)).toHaveLength(3)

    await fleet.kill()
    expect(await page(url)).toBe('hello\n')
    await fleet.start()
    const again = await fleet.fleetCommand(['preview', 'start', id, '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ url, pid: before!.pid, status: 'up' })
    expect((await fleet.show(id)).processes).toMatchObject([{ kind: 'preview', url }])
    expect((await fleet.fleetCommand(['preview', 'list'])).stdout).toContain(url)

    expect(await fleet.fleetCommand(['preview', 'stop', id])).toMatchObject({ code: 0 })
    expect(members(fleet, before!)).toEqual([])
    await expect(page(url)).rejects.toThrow()
    expect(await listed(fleet)).toEqual([])
    expect(await listed(fleet, false)).toMatchObject([{ status: 'ended', reason: 'A person stopped it.' }])
  })

  test('that an agent names in its report is shown wherever the report is', async () => {
    const { fleet, project } = await scene({ landing: 'auto' })
    const preview_url = 'http://localhost:4000/harbour'
    const report = JSON.stringify({ summary: 'Built.', preview_url })
    const script = `echo x > page.txt; printf '%s' '${report}' > "$FLEET_RESULT_FILE"`
    const { id } = await fleet.mission(project, script, { auto_dispatch: false })
    for (const command of [
      ['mission', 'dispatch', id, '--follow'],
      ['mission', 'show', id],
      ['compare', id, id],
    ])
      expect((await fleet.fleetCommand(command)).stdout, command.join(' ')).toContain(preview_url)
    expect(await fleet.show(id)).toMatchObject({ report: { preview_url } })
  })

  test('stays while an agent works in the same worktree, and is not ended with its session', async () => {
    const { fleet, project } = await scene()
    const { id } = await fleet.mission(project, 'echo $FLEET_REASON > page.txt')
    await fleet.until(id, 'review')
    const shown = await up(fleet, id)
    await fleet.call('resume_mission', { mission_id: id })
    await eventually('the agent has worked again', async () => (await fleet.show(id)).sessions[1]?.status === 'ended')
    expect(await page(shown.url)).toBe('resume\n')
    expect(members(fleet, shown)).toHaveLength(3)
  })

  test('of landed work gets its worktree back, and gives it up when it ends', async () => {
    const { fleet, project } = await scene({
      landing: 'auto',
      setup_command: 'echo set up > .git-setup',
      copy_files: [],
    })
    const { id } = await fleet.mission(project, 'echo landed > page.txt')
    const { sessions } = await fleet.until(id, 'done')
    const worktree = sessions[0]!.worktree!
    await eventually('the worktree is gone', () => !existsSync(worktree))

    const shown = await up(fleet, id)
    expect(shown.worktree).toBe(worktree)
    expect(await page(shown.url)).toBe('landed\n')
    expect(readFileSync(join(worktree, '.git-setup'), 'utf8')).toBe('set up\n')
    await fleet.kill()
    await fleet.start()
    await eventually('it is taken up', async () => (await listed(fleet))[0]?.status === 'up')
    expect(existsSync(worktree)).toBe(true)
    await fleet.call('stop_preview', { mission_id: id })
    await eventually('the worktree is tidied away', () => !existsSync(worktree))
    expect(await fleet.show(id)).toMatchObject({ status: 'done', result: 'landed', processes: [] })
  })

  test('that does not come up says why, with its last lines', async () => {
    const { fleet, project } = await scene({ preview_command: null }, { FLEET_PREVIEW_WAIT: '1' })
    const { id } = await fleet.mission(project, 'echo x > page.txt')
    await fleet.until(id, 'review')
    const none = await fleet.fleetCommand(['preview', 'start', id])
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('preview command') })

    await fleet.call('update_mission', { mission_id: id, preview_command: 'echo no such thing >&2; exit 3' })
    const failed = await fleet.fleetCommand(['preview', 'start', id])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/exit code 3 before it came up.*no such thing/s)

    await fleet.call('update_mission', { mission_id: id, preview_command: 'echo listening nowhere; exec sleep 600' })
    const silent = await fleet.fleetCommand(['preview', 'start', id])
    expect(silent.code).toBe(1)
    expect(silent.stderr).toMatch(/Nothing answered at port \d+.*within 1 seconds.*listening nowhere/s)
    expect(members(fleet, (await listed(fleet, false))[0]!)).toEqual([])
  })

  test('ends when its time is up, when its worktree is cleaned, and with its mission', async () => {
    const { fleet, project } = await scene({ landing: 'never' })
    const make = async (): Promise<[string, ProcessView]> => {
      const { id } = await fleet.mission(project, 'echo x > page.txt')
      await fleet.until(id, 'done')
      return [id, await up(fleet, id)]
    }
    const [cleaned, first] = await make()
    const answer = await fleet.http('/api/clean', { method: 'POST', body: '{}' })
    expect(await answer.json()).toMatchObject({ worktrees: [{ mission_id: cleaned, ends: ['preview'] }] })
    expect(members(fleet, first)).toEqual([])
    expect(await listed(fleet, false)).toMatchObject([{ reason: 'Its worktree was cleaned up.' }])

    const [deleted, second] = await make()
    const gone = await fleet.http(`/api/missions/${deleted}`, { method: 'DELETE' })
    expect(await gone.json()).toEqual({ deleted })
    expect(members(fleet, second)).toEqual([])
    expect((await listed(fleet, false)).map(each => each.mission_id)).toEqual([cleaned])
    expect(existsSync(fleet.fleet.home.process(second.id))).toBe(false)

    await fleet.stop()
    await fleet.start({ env: { FLEET_PREVIEW_HOURS: '0.0002' } })
    const { id } = await fleet.mission(project, 'echo x > page.txt')
    await fleet.until(id, 'done')
    const started = await fleet.http(`/api/missions/${id}/preview`, { method: 'POST', body: '{}' })
    const { mission_id } = (await started.json()) as ProcessView
    await eventually('its time is up', async () =>
      (await listed(fleet, false)).find(
        each => each.mission_id === mission_id && /time was up/.test(each.reason ?? ''),
      ),
    )
  })
})

describe('remote control', () => {
  const remoteScene = (env: Record<string, string> = {}) =>
    scene({ agent: 'claude' }, { PATH: `${STAND_IN}:${process.env.PATH}`, ...env })
  const remote = async ({ fleet }: Scene, id: string): Promise<ProcessView> =>
    (await (await fleet.http(`/api/missions/${id}/remote-control`)).json()) as ProcessView

  test('prints its link and a code to photograph, is taken up by the next server, and its end is noticed', async () => {
    const s = await remoteScene()
    const { id } = await s.fleet.mission(s.project, 'write a.txt a')
    await s.fleet.until(id, 'review')
    const shown = await s.fleet.fleetCommand(['remote', id])
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toContain('https://claude.ai/code/session_stand-in?from=cli')
    expect(shown.stdout).toMatch(/[█▀▄]{10}/)
    await s.fleet.kill()
    await s.fleet.start()
    const link = 'https://claude.ai/code/session_stand-in?from=cli'
    expect(await remote(s, id)).toMatchObject({ status: 'up', url: link, qr: { svg: expect.stringContaining('<svg') } })

    const [kept] = await listed(s.fleet)
    writeFileSync(join(kept!.worktree, 'end-now'), '')
    await eventually('its end is noticed', async () => (await remote(s, id)).status === 'ended')
    expect(await remote(s, id)).toMatchObject({ exit_code: 0, url: null, qr: null })
  })

  test('is stopped by a person, and by an agent that goes back to work', async () => {
    const s = await remoteScene()
    const { id } = await s.fleet.mission(s.project, 'write a.txt a')
    await s.fleet.until(id, 'review')
    await s.fleet.fleetCommand(['remote', id])
    expect(await s.fleet.fleetCommand(['remote', id, '--stop'])).toMatchObject({ code: 0 })
    expect(await s.fleet.fleetCommand(['remote', id, '--stop'])).toMatchObject({ code: 4 })

    await s.fleet.fleetCommand(['remote', id])
    await s.fleet.call('resume_mission', { mission_id: id, message: 'write b.txt b' })
    await eventually('it has made room', async () => (await remote(s, id)).reason === 'Its agent went back to work.')
    await s.fleet.until(id, 'review')
  })

  test('is refused for agents without one, and while an agent is at work', async () => {
    const s = await remoteScene()
    const held = s.gate('held')
    const { id } = await s.fleet.mission(s.project, held.wait, { agent: 'shell' })
    const works = (mission: string) =>
      eventually('the agent works', async () => (await s.fleet.show(mission)).sessions[0]?.status === 'running')
    await works(id)
    await expect(s.fleet.call('start_remote_control', { mission_id: id })).rejects.toThrow('has no remote control')
    held.open()
    const free = join(s.fleet.root, 'free')
    const other = await s.fleet.mission(s.project, `wait ${free}`)
    await works(other.id)
    await expect(s.fleet.call('start_remote_control', { mission_id: other.id })).rejects.toThrow('at work')
    writeFileSync(free, '')
  })

  const binary = claudeBinary()
  test.skipIf(!binary)('the real client says that nobody is signed in', async () => {
    const s = await remoteScene({ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' })
    const { id } = await s.fleet.mission(s.project, 'write a.txt a')
    await s.fleet.until(id, 'review')
    await s.fleet.stop()
    await s.fleet.start({ env: { PATH: `${dirname(binary!)}:${process.env.PATH}` } })
    const shown = await s.fleet.fleetCommand(['remote', id])
    expect(shown.code).toBe(1)
    expect(shown.stderr).toMatch(/not signed in with a claude.ai account.*claude auth login/s)
  })
  if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)
})
