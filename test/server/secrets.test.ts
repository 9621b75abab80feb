import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'

const PASSWORD = 'correct horse battery staple'

/** The command lines of everything that runs, as anybody on the machine can read them. */
function processList(): string {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const lines = pids.map(pid => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    } catch {
      return ''
    }
  })
  return lines.join('\n')
}

/** Every file of a folder with what is in it. */
function* filesIn(folder: string): Generator<[string, string]> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      yield [path, readFileSync(path, 'latin1')]
    }
}

test('a token or password is in no log, no process list, no file and no answer to others, wherever it was put', async () => {
  const scene = await aScene()
  const { fleet, project, gate } = scene
  const { url } = (await fleet.call('system_status', {})).server as { url: string }
  const ada = { name: 'Ada', grants: [{ role: 'owner', project_id: null }] }
  const { invitation } = await fleet.call<{ invitation: { url: string } }>('invite_person', ada)
  const { token } = await fleet.call<{ token: string }>('make_token', { principal_id: 'Ada', name: 'laptop' })
  const { token: scrape } = await fleet.call<{ token: string }>('create_scrape_token', {})
  await fleet.call('set_password', { principal_id: 'Ada', password: PASSWORD })
  const send = async (method: string, path: string, body?: object, authorization = `Bearer ${token}`) => {
    const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, text: await answer.text() }
  }
  const exchanged = await send('POST', '/auth', { handle: 'scout', agentType: 'worker' })
  const jwt = JSON.parse(exchanged.text).token as string
  const link = new URL(invitation.url).searchParams.get('token')!
  const secrets = { token, scrape, jwt, link, owner: await fleet.fleet.keys.ownerToken(), PASSWORD }

  const held = gate('held')
  await fleet.mission(project, held.wait)
  await expect.poll(() => held.reached(), { timeout: 20_000 }).toBe(true)
  const listed: string[] = [processList()]
  const answers: string[] = []
  for (const secret of Object.values(secrets)) {
    const text = encodeURIComponent(secret)
    // Refused like somebody who has nothing: what is sent back to oneself tells nobody else.
    for (const [method, path, body] of [
      ['DELETE', `/api/tokens/${text}`],
      ['GET', `/api/missions/${text}`],
      ['GET', `/api/nothing/${text}?token=${text}&access_token=${text}`],
      ['POST', `/api/missions/${text}/cancel`, { reason: secret }],
      ['POST', '/sign-in', { token: secret, password: secret, name: secret }],
      ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: secret }],
    ] as [string, string, object?][])
      await send(method, path, body)
    await send('GET', '/api/me', undefined, secret)
    await send('GET', '/api/me', undefined, `Basic ${secret}`)
    listed.push(processList())
  }
  for (const args of [['whoami'], ['list'], ['token', 'list', 'Ada'], ['audit'], ['user', 'list']]) {
    const { stdout, stderr } = await fleet.fleetCommand(args, { env: { FLEET_URL: url, FLEET_TOKEN: token } })
    answers.push(stdout, stderr)
    listed.push(processList())
  }
  for (const path of ['/api/events?limit=500', '/api/audit?limit=500', '/api/people', '/api/devices', '/api/metrics'])
    answers.push((await send('GET', path)).text)
  held.open()
  await fleet.stop()

  const found: string[] = []
  for (const [name, secret] of Object.entries(secrets)) {
    const forms = [secret, encodeURIComponent(secret)]
    const isIn = (text: string) => forms.some(form => text.includes(form))
    if (listed.some(isIn)) found.push(`${name} in the process list`)
    if (answers.some(isIn)) found.push(`${name} in an answer to somebody else`)
    // The owner's token is that file, readable by its owner only.
    for (const [path, text] of filesIn(join(fleet.root, 'home')))
      if (isIn(text) && !(name === 'owner' && path.endsWith('home/token'))) found.push(`${name} in ${path}`)
  }
  expect(found).toEqual([])
}, 60_000)
