import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signInUrl } from '../platform/tokens.ts'
import { openLog } from './log.ts'
import { aFleet, aServer } from './server.testkit.ts'
import { TOYS } from './toys.testkit.ts'

const CANARY = 'canary-in-a-secret-place'

test('secrets in headers, addresses, bodies, the environment and error texts reach neither a log nor an answer', async () => {
  const running = await aServer(TOYS, { environment: { SOME_API_KEY: CANARY } })
  const { ask, fleet, server } = running
  const session = await running.session('running')
  const link = new URL(await server.signInUrl()).searchParams.get('token')!
  const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(43)}`
  const pasted = [`flt_abcdefghijkl_${'d'.repeat(43)}01234567`, `fleet_scrape_${'e'.repeat(43)}`, jwt]
  for (const secret of pasted) await ask('DELETE', `/api/tokens/${secret}`)
  const secrets = [CANARY, await fleet.keys.ownerToken(), session, link, ...pasted]
  const answers = [
    await ask('GET', '/api/toys/bear', { token: CANARY }),
    await ask('GET', '/api/toys/bear', {
      token: null,
      headers: { cookie: `fleet_${fleet.home.id}=${CANARY}`, 'x-api-key': CANARY },
    }),
    await ask('GET', '/api/toys/bear', { headers: { origin: `http://${CANARY}` } }),
    await ask('GET', '/api/toys/bear', { headers: { host: CANARY } }),
    await ask('GET', `/sign-in?token=${CANARY}`, { token: null }),
    await ask('GET', `/sign-in?token=${link}`, { token: null, headers: { origin: 'http://x' } }),
    await ask('GET', `/api/nothing?token=${CANARY}`),
    await ask('POST', '/api/toys', { headers: { 'content-type': 'text/plain' }, body: CANARY }),
    await ask('POST', '/api/toys', { body: `{"title": ${CANARY}` }),
    await ask('POST', '/api/toys/bear/break', {
      body: { words: `https://h/?token=${await fleet.keys.ownerToken()}&x Bearer ${session} ${link} ${CANARY}` },
    }),
  ]
  expect(answers.at(-1)!.status).toBe(500)
  expect(running.log()).toContain('[hidden]')
  for (const secret of secrets) {
    expect(running.log()).not.toContain(secret)
    expect(running.said.join()).not.toContain(secret)
    for (const { text } of answers) expect(text).not.toContain(secret)
  }
})

test('what was changed and refused is in the log, and who asked; reading is not', async () => {
  const running = await aServer(TOYS)
  await running.ask('POST', '/api/toys', { body: { title: 'a title nobody logs' } })
  await running.ask('GET', '/api/toys/bear')
  await running.ask('GET', '/api/toys/bear', { token: await running.session('running') })
  const lines = running
    .log()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(line => line.msg === 'request')
  expect(lines.map(({ method, path, status, by }) => ({ method, path, status, by }))).toEqual([
    { method: 'POST', path: '/api/toys', status: 200, by: 'owner' },
    { method: 'GET', path: '/api/toys/bear', status: 403, by: 'session:session-running' },
  ])
  expect(running.log()).not.toContain('nobody logs')
})

test('the file is readable by its owner only, and a full one makes room for the next', async () => {
  const fleet = await aFleet()
  const log = await openLog(fleet, 1000)
  const file = join(fleet.home.logs, 'server.log')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  for (let n = 0; n < 30; n++) log.info({ n, link: await signInUrl(fleet.keys, 'http://h', 0) }, 'a line')
  expect(existsSync(`${file}.1`)).toBe(true)
  expect(statSync(file).size).toBeLessThan(1200)
  expect(readFileSync(file, 'utf8')).toContain('"n":29')
})

test.each([
  ['was removed', (file: string) => rmSync(file)],
  ['cannot be renamed', (file: string) => void mkdirSync(join(`${file}.1`, 'in the way'), { recursive: true })],
])('a log that %s goes on', async (_, harm) => {
  const fleet = await aFleet()
  const file = join(fleet.home.logs, 'server.log')
  const log = await openLog(fleet, 500)
  log.info('first')
  harm(file)
  for (let line = 0; line < 30; line++) log.info(`line ${line}`)
  expect(readFileSync(file, 'utf8')).toContain('line 29')
})
