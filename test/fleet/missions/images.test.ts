import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER, STAND_INS, VIEWER } from '../../agents/stand-ins.ts'
import { aFleet, type TestFleet } from '../../kit/fleet.ts'
import { noise, PICTURES } from '../../kit/images.ts'
import { aScene } from '../../kit/scene.ts'

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const [PNG, JPEG] = [hashOf(PICTURES.png), hashOf(PICTURES.jpeg)]
const SHOWN = [
  { mimeType: 'image/png', hash: PNG },
  { mimeType: 'image/jpeg', hash: JPEG },
]

async function scene(env: Record<string, string> = {}) {
  const log = join(mkdtemp(), 'seen.jsonl')
  const it = await aScene({
    env: { PATH: `${STAND_INS}:${process.env.PATH}`, VIEWER_LOG: log, ...env },
    project: { landing: 'review' },
  })
  writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [VIEWER, LINER] }))
  /** What each prompt showed to the agent. */
  const seen = (): unknown[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map(line => JSON.parse(line))
      : []
  const ended = (id: string) => it.fleet.until(id, 'review', 'done', 'failed', 'needs_input')
  return { ...it, seen, ended }
}

function mkdtemp(): string {
  const folder = join(process.env.TMPDIR ?? '/tmp', `flotilla-viewer-${crypto.randomUUID()}`)
  mkdirSync(folder)
  return folder
}

const add = async (fleet: TestFleet, ...pictures: Buffer[]): Promise<string[]> => {
  const ids: string[] = []
  for (const bytes of pictures)
    ids.push((await fleet.call<{ image: string }>('add_image', { data: bytes.toString('base64') })).image)
  return ids
}

test('an agent is shown the images with the prompt: again after a restart and a retry, not when it is resumed', async () => {
  const { fleet, project, seen, ended } = await scene()
  const images = await add(fleet, PICTURES.png, PICTURES.jpeg)
  expect(images).toEqual([PNG, JPEG])
  const settings = { agent: 'viewer', images, auto_dispatch: false }
  const { id } = await fleet.mission(project, 'Look at these.', settings)
  await fleet.kill()
  await fleet.start()
  await fleet.call('dispatch_mission', { mission_id: id })
  expect(await ended(id)).toMatchObject({ status: 'review', images })
  expect(seen()).toEqual([SHOWN])

  await fleet.call('send_back_mission', { mission_id: id, message: 'Look closer.' })
  expect((await ended(id)).sessions).toHaveLength(2)
  expect(seen()).toEqual([SHOWN, []])

  await fleet.call('reject_mission', { mission_id: id })
  await fleet.call('retry_mission', { mission_id: id })
  expect((await ended(id)).sessions).toHaveLength(3)
  expect(seen()).toEqual([SHOWN, [], SHOWN])

  const fork = await fleet.call<{ id: string }>('fork_mission', { mission_id: id, fresh: true })
  expect(await ended(fork.id)).toMatchObject({ images })
  expect(seen()).toEqual([SHOWN, [], SHOWN, SHOWN])
})

test('a message, a template and a plan have images too', async () => {
  const { fleet, project, seen, ended } = await scene()
  const [png, jpeg] = (await add(fleet, PICTURES.png, PICTURES.jpeg)) as [string, string]
  const { id } = await fleet.mission(project, 'Look at this.', { agent: 'viewer', images: [png] })
  await ended(id)
  await fleet.call('send_back_mission', { mission_id: id, images: [jpeg] })
  expect((await ended(id)).sessions).toHaveLength(2)
  // The conversation has the first one already.
  expect(seen()).toEqual([[SHOWN[0]], [SHOWN[1]]])
  const again = { mission_id: id, message: 'Look.', images: [jpeg] }
  await expect(fleet.call('resume_mission', { ...again, agent: 'liner' })).rejects.toThrow('Liner takes no images.')
  await expect(fleet.call('send_back_mission', { ...again, agent: 'liner' })).rejects.toThrow('takes no images')
  await expect(fleet.call('resume_mission', { ...again, images: [jpeg, jpeg] })).rejects.toThrow('the same image twice')

  await fleet.call('save_template', { name: 'look', mission_id: id })
  const use = { template: 'look', project_id: project.id, auto_dispatch: true }
  const made = await fleet.call<{ id: string }>('create_mission_from_template', use)
  expect(await ended(made.id)).toMatchObject({ images: [png] })
  expect(seen().slice(2)).toEqual([[SHOWN[0]]])
  const read = async (image: string) => (await fleet.http(`/api/templates/look/images/${image}`)).status
  expect([await read(png), await read(jpeg)]).toEqual([200, 404])

  const plan = { project_id: project.id, prompt: 'Build it like this.', images: [png] }
  await expect(fleet.call('plan_project', { ...plan, agent: 'liner' })).rejects.toThrow(
    /takes no images|preset explore/,
  )
  const planned = await fleet.call<{ mission_id: string }>('plan_project', { ...plan, agent: 'viewer' })
  expect(await fleet.show(planned.mission_id)).toMatchObject({ images: [png] })
})

test('an agent that takes no images refuses a mission that has one, however it gets it', async () => {
  const { fleet, project } = await scene()
  const images = await add(fleet, PICTURES.png)
  const make = (more: object) => fleet.mission(project, 'echo x > x.txt', { images, auto_dispatch: false, ...more })
  await expect(make({ agent: 'shell' })).rejects.toThrow('Shell script takes no images.')
  await expect(make({ agent: 'liner' })).rejects.toThrow('Liner takes no images.')

  const { id } = await make({ agent: 'viewer' })
  const edit = (fields: object) => fleet.call('update_mission', { mission_id: id, ...fields })
  await expect(edit({ agent: 'liner' })).rejects.toThrow('Liner takes no images.')
  await expect(fleet.call('dispatch_mission', { mission_id: id, agent: 'liner' })).rejects.toThrow('takes no images')
  await edit({ agent: 'liner', images: [] })
  await expect(edit({ images })).rejects.toThrow('Liner takes no images.')

  await edit({ agent: 'viewer', images })
  await fleet.call('dispatch_mission', { mission_id: id })
  await fleet.until(id, 'review')
  await fleet.call('reject_mission', { mission_id: id })
  await expect(fleet.call('retry_mission', { mission_id: id, agent: 'liner' })).rejects.toThrow('takes no images')
  await expect(fleet.call('fork_mission', { mission_id: id, agent: 'liner', fresh: true })).rejects.toThrow(
    'takes no images',
  )

  // The project may choose another agent between the request and the start.
  await fleet.call('update_project', { project_id: project.id, agent: 'viewer' })
  const later = await make({ agent: null })
  await fleet.call('update_project', { project_id: project.id, agent: 'liner' })
  await expect(fleet.call('dispatch_mission', { mission_id: later.id })).rejects.toThrow('Liner takes no images.')
})

test('an agent that was declared to take images and offers none fails in words', async () => {
  const { fleet, project, seen, ended } = await scene({ VIEWER_BLIND: '1' })
  const images = await add(fleet, PICTURES.png)
  const { id } = await fleet.mission(project, 'Look.', { agent: 'viewer', images, max_retries: 0 })
  const mission = await ended(id)
  expect(mission).toMatchObject({ status: 'failed' })
  expect(mission.sessions[0]!.outcome_reason).toContain('It takes no images: its answer to initialize offers none.')
  expect(seen()).toEqual([])
})

test('only images are stored, and only those of a mission are shown', async () => {
  const { fleet, project } = await scene()
  const refused = (text: string) => fleet.call('add_image', { data: Buffer.from(text).toString('base64') })
  await expect(refused('<svg xmlns="http://www.w3.org/2000/svg"/>')).rejects.toThrow('not a PNG, JPEG, GIF or WebP')
  await expect(fleet.call('add_image', { data: noise(1200, 1000).toString('base64') })).rejects.toThrow(
    'is too large: it has 3.7 MB, and an image may have 3.5 MB',
  )

  const draft = { agent: 'viewer', auto_dispatch: false }
  const make = (images: string[]) => fleet.mission(project, 'Look.', { ...draft, images })
  const long = await fleet.mission(project, 'secret '.repeat(5000), draft)
  const text = hashOf(Buffer.from('secret '.repeat(5000)))
  await expect(make([text])).rejects.toThrow('There is no image')
  await expect(make(['0'.repeat(64)])).rejects.toThrow('There is no image')
  await expect(make(['../../keys'])).rejects.toThrow('is not the id of an image')
  const [png, jpeg] = (await add(fleet, PICTURES.png, PICTURES.jpeg)) as [string, string]
  await expect(make([png, png])).rejects.toThrow('the same image twice')
  const large = await add(fleet, noise(1000, 1000), noise(1000, 1000))
  await expect(make(large)).rejects.toThrow('5 MB together, and these have 6.1 MB')

  const { id } = await make([png])
  const read = (mission_id: string, image: string) => fleet.http(`/api/missions/${mission_id}/images/${image}`)
  const answer = await read(id, png)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await answer.json()).toMatchObject({
    ...{ image: png, type: 'image/png', width: 24, height: 24, bytes: PICTURES.png.length },
    data: PICTURES.png.toString('base64'),
  })
  for (const [mission, image] of [
    [id, jpeg],
    [id, text],
    [long.id, text],
  ])
    expect((await read(mission!, image!)).status).toBe(404)

  const post = (body: object) =>
    fleet.http('/api/images', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  expect((await post({ data: noise(1000, 1100).toString('base64') })).status).toBe(200)
})

test('the terminal takes files, and a backup keeps them', async () => {
  const { fleet, repo, seen } = await scene()
  const files = Object.entries(PICTURES).map(([kind, bytes]) => {
    // The name says nothing about the kind.
    const file = join(fleet.root, `${kind}, really.txt`)
    writeFileSync(file, bytes)
    return file
  })
  const run = (...args: string[]) => fleet.fleetCommand(args, { cwd: repo.path })
  const flags = files.flatMap(file => ['--image', file])
  const made = await run('run', '--detach', '--json', '--agent', 'viewer', ...flags, 'Look at these.')
  expect(made.code, made.stderr).toBe(0)
  const { id, images } = JSON.parse(made.stdout) as { id: string; images: string[] }
  expect(images).toEqual(Object.values(PICTURES).map(hashOf))
  await fleet.until(id, 'review')
  expect(seen()).toMatchObject([Object.values(PICTURES).map(bytes => ({ hash: hashOf(bytes) }))])

  const drawing = join(fleet.root, 'drawing.png')
  writeFileSync(drawing, '<svg/>')
  const wrong = await run('mission', 'create', '--agent', 'viewer', '--image', drawing, 'Look.')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('drawing.png is not a PNG, JPEG, GIF') })
  const missing = await run('run', '--agent', 'viewer', '--image', 'nowhere.png', 'Look.')
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.png cannot be read') })
  const shell = await run('run', '--agent', 'shell', ...flags, 'true')
  expect(shell.stderr).toContain('Shell script takes no images.')

  const cleared = await run('mission', 'edit', id, '--image', '', '--json')
  expect(JSON.parse(cleared.stdout)).toMatchObject({ images: [] })
  await run('mission', 'edit', id, '--image', files[0]!)

  const file = join(fleet.root, 'backup.tar.gz')
  expect((await run('backup', file)).code).toBe(0)
  const other = await aFleet()
  const env = { FLEET_HOME: join(other.root, 'restored') }
  await other.fleetCommand(['restore', file], { env })
  const input = JSON.stringify({ mission_id: id, image: images[0] })
  const kept = await other.fleetCommand(['call', 'get_mission_image', input], { env })
  expect(JSON.parse(kept.stdout)).toMatchObject({ data: PICTURES.png.toString('base64') })
  await other.remove()
})
