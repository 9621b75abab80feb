import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { asKnownPerson, CLAUDE_KEY } from '../../kit/known-person.ts'
import { atTerminal, type Person } from '../../kit/pty.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { startModel, steps } from '../../model/index.ts'

const STAND_IN = join(import.meta.dirname, '../../fixtures/hands')

const scene = (env: Record<string, string> = {}, project: object = {}): Promise<Scene> =>
  aScene({
    project: { agent: 'claude', ...project },
    env: { PATH: `${STAND_IN}:${process.env.PATH}`, ...env },
  })
const takeOver = ({ fleet }: Scene, id: string, ...more: string[]): Person =>
  atTerminal(['takeover', id, ...more], fleet.fleet.environment as Record<string, string>)
const file = ({ fleet }: Scene, name: string): string => join(fleet.root, name)
/** A mission whose agent is thinking, which is a safe moment to stop it. */
async function thinking(s: Scene): Promise<string> {
  const { id } = await s.fleet.mission(s.project, `write agent.txt agent\nthink ${file(s, 'never')}`)
  await eventually('it thinks', () => existsSync(`${file(s, 'never')}.here`))
  return id
}

test('a person takes over a running mission, nobody else can, and the agent goes on in the same conversation', async () => {
  const s = await scene({ FLEET_MAX_CONCURRENT: '1' })
  const id = await thinking(s)
  const { worktree } = (await s.fleet.show(id)).sessions[0]!
  const person = takeOver(s, id)
  await person.sees(`in ${worktree} tty true`)
  const { conversation } = (await s.fleet.show(id)).sessions[0]!
  await person.sees(`interactive ${conversation} in`)

  expect(await s.fleet.show(id)).toMatchObject({
    status: 'needs_input',
    status_reason: { code: 'taken_over', text: expect.stringContaining('Taken over by a person') },
    taken_over: { gone: false },
  })
  expect((await s.fleet.fleetCommand(['mission', 'list'])).stdout).toContain('Taken over by a person')
  await expect(s.fleet.call('resume_mission', { mission_id: id })).rejects.toThrow('was taken over at')
  await expect(s.fleet.call('cancel_mission', { mission_id: id })).rejects.toThrow('was taken over at')
  await expect(s.fleet.call('delete_mission', { mission_id: id })).rejects.toThrow('was taken over at')
  await expect(s.fleet.call('say_to_mission', { mission_id: id, text: 'hm' })).rejects.toThrow('say it to them')
  await expect(s.fleet.call('interrupt_mission', { mission_id: id })).rejects.toThrow('only they can interrupt it')
  expect(await s.fleet.fleetCommand(['takeover', '--release', id])).toMatchObject({ code: 4 })
  const other = takeOver(s, id)
  expect(await other.over).toBe(4)
  await other.sees('was taken over at')
  // The only slot is free for others.
  const shell = await s.fleet.mission(s.project, 'echo b > b.txt', { agent: 'shell' })
  await s.fleet.until(shell.id, 'done')

  person.type('write person.txt by hand')
  await person.sees('did write person.txt')
  person.type('exit')
  await person.sees('What now?')
  person.type('r')
  expect(await person.over).toBe(0)
  const done = await s.fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done', result: 'landed', taken_over: null })
  expect(done.sessions).toMatchObject([
    { outcome: 'parked', outcome_reason: 'A person takes it over.' },
    { reason: 'takeover', outcome: 'completed', resumes: conversation, worktree },
    { reason: 'resume', outcome: 'completed', resumes: conversation },
  ])
  const { prompt } = await s.fleet.call<{ prompt: string }>('get_session', { session_id: done.session_id! })
  expect(prompt).toContain('hands both back to you')
  expect(await s.repo.readOn('main', 'agent.txt')).toBe('agent')
  expect(await s.repo.readOn('main', 'person.txt')).toBe('by hand')
})

test('the agent finishes the tool it is at; one that takes too long is stopped in the middle, and that is said', async () => {
  const s = await scene({ FLEET_TAKEOVER_WAIT: '20' })
  const tool = file(s, 'tool')
  const { id } = await s.fleet.mission(s.project, `wait ${tool} then-think\nwrite never.txt never`)
  await eventually('the tool runs', () => existsSync(`${tool}.here`))
  const person = takeOver(s, id, '--then', 'keep')
  await person.sees('Waiting for a safe moment')
  expect(await s.fleet.show(id)).toMatchObject({ status: 'running', taken_over: { session_id: null } })
  writeFileSync(tool, '')
  await person.sees('interactive')
  person.type('exit')
  expect(await person.over).toBe(0)
  expect((await s.fleet.show(id)).sessions[0]).toMatchObject({ outcome_reason: 'A person takes it over.' })

  await s.fleet.stop()
  await s.fleet.start({ env: { FLEET_TAKEOVER_WAIT: '1' } })
  const long = await s.fleet.mission(s.project, `wait ${file(s, 'long')}`)
  await eventually('the long tool runs', () => existsSync(`${file(s, 'long')}.here`))
  const impatient = takeOver(s, long.id, '--then', 'keep')
  await impatient.sees('after 1 seconds it was still in the middle of a tool')
  await impatient.sees('interactive')
  impatient.type('exit')
  expect(await impatient.over).toBe(0)
})

test('a person who does not want to wait lets the agent go on', async () => {
  const s = await scene()
  const tool = file(s, 'tool')
  const { id } = await s.fleet.mission(s.project, `wait ${tool}\nwrite agent.txt agent`)
  await eventually('the tool runs', () => existsSync(`${tool}.here`))
  const person = takeOver(s, id)
  await person.sees('Waiting for a safe moment')
  person.press('\x03')
  expect(await person.over).toBe(130)
  await eventually('it is given back', async () => (await s.fleet.show(id)).taken_over === null)
  writeFileSync(tool, '')
  const done = await s.fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done' })
  expect(done.sessions).toHaveLength(1)
})

test('a take-over outlives a killed server, and what the person did lands', async () => {
  const s = await scene()
  const id = await thinking(s)
  const person = takeOver(s, id, '--then', 'land')
  await person.sees('interactive')
  await s.fleet.kill()
  person.type('write person.txt by hand')
  await person.sees('did write')
  await s.fleet.start()
  expect(await s.fleet.show(id)).toMatchObject({ status: 'needs_input', taken_over: { gone: false } })
  await s.fleet.kill()
  await s.fleet.start()
  person.type('exit')
  expect(await person.over).toBe(0)
  expect(await s.fleet.until(id, 'done', 'review', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
  expect(await s.repo.readOn('main', 'person.txt')).toBe('by hand')
})

test('a terminal that is closed leaves a mission that says so, and it is given back with what was done', async () => {
  const s = await scene()
  const id = await thinking(s)
  const person = takeOver(s, id)
  await person.sees('interactive')
  person.type('write person.txt by hand')
  await person.sees('did write')
  await person.close()
  const gone = await eventually('it says so', async () => {
    const mission = await s.fleet.show(id)
    return mission.status_reason?.code === 'takeover_gone' ? mission : undefined
  })
  expect(gone.status_reason).toMatchObject({
    text: expect.stringContaining('a terminal that is gone'),
    try: `fleet takeover --release ${id}`,
  })
  expect(await s.fleet.fleetCommand(['mission', 'retry', id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`fleet takeover --release ${id}`),
  })
  expect(await s.fleet.fleetCommand(['takeover', '--release', id])).toMatchObject({ code: 0 })
  const back = await s.fleet.until(id, 'review')
  expect(back.status_reason).toMatchObject({ code: 'handed_back' })
  expect(await s.repo.readOn(back.branch!, 'person.txt')).toBe('by hand')
  expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
})

test('landed work is opened where it was made, and stays done unless something is added', async () => {
  const s = await scene({}, { setup_command: 'echo ready > .set-up; echo .set-up > .gitignore' })
  const { id } = await s.fleet.mission(s.project, 'write agent.txt agent')
  const { sessions, landed } = await s.fleet.until(id, 'done')
  const worktree = sessions[0]!.worktree!
  await eventually('the worktree is gone', () => !existsSync(worktree))

  const looking = takeOver(s, id)
  await looking.sees(`interactive ${sessions[0]!.conversation} in ${worktree}`)
  expect(readFileSync(join(worktree, '.set-up'), 'utf8')).toBe('ready\n')
  looking.type('exit')
  await looking.sees('What now?')
  looking.type('')
  expect(await looking.over).toBe(0)
  expect(await s.fleet.show(id)).toMatchObject({ status: 'done', result: 'landed', landed })
  await eventually('the worktree is gone again', () => !existsSync(worktree))

  const changing = takeOver(s, id, '--then', 'land')
  await changing.sees('interactive')
  changing.type('write agent.txt changed by hand')
  await changing.sees('did write')
  changing.type('exit')
  expect(await changing.over).toBe(0)
  expect(await s.fleet.until(id, 'done', 'review', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
  expect(await s.repo.readOn('main', 'agent.txt')).toBe('changed by hand')
})

test('work that the person never came to see is kept for them, whatever was to come next', async () => {
  const s = await scene({}, { landing: 'review' })
  const { id } = await s.fleet.mission(s.project, 'write agent.txt agent')
  await s.fleet.until(id, 'review')
  const env = { ...(s.fleet.fleet.environment as Record<string, string>), PATH: process.env.PATH! }
  const person = atTerminal(['takeover', id, '--then', 'land'], env)
  await person.sees('could not be started')
  await person.over
  expect((await s.fleet.show(id)).status).toBe('review')
  expect(await s.repo.filesOn('main')).not.toContain('agent.txt')
})

test('what cannot be taken over is refused with what can be done', async () => {
  const s = await scene()
  const shell = await s.fleet.mission(s.project, 'exit 1', { agent: 'shell' })
  await s.fleet.until(shell.id, 'failed')
  const refused = takeOver(s, shell.id)
  expect(await refused.over).toBe(4)
  await refused.sees('Shell script has no conversation')
  await refused.sees('fleet mission resume')
  expect((await s.fleet.show(shell.id)).taken_over).toBe(null)

  const draft = await s.fleet.mission(s.project, 'write a.txt a', { auto_dispatch: false })
  const never = takeOver(s, draft.id)
  expect(await never.over).toBe(4)
  const piped = await s.fleet.fleetCommand(['takeover', draft.id])
  expect(piped).toMatchObject({ code: 4, stderr: expect.stringContaining('needs a terminal') })
})

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

test.skipIf(!binary)(
  'the real Claude client opens the conversation, hears the person, and the agent remembers it',
  async () => {
    const model = await startModel()
    const s = await aScene({
      project: { agent: 'claude', landing: 'review' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: CLAUDE_KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })
    try {
      const { id } = await s.fleet.mission(s.project, steps({ write: 'made.txt', content: 'x\n' }, { say: 'HARBOUR' }))
      const before = await s.fleet.until(id, 'review', 'failed')
      asKnownPerson(s, before.sessions[0]!.worktree!)
      const person = takeOver(s, id, '--then', 'keep')
      // The client shows the earlier messages and its input line.
      await person.sees(/HARBOUR.*HARBOUR/s)
      person.press(steps({ say: 'LIGHTHOUSE' }))
      await person.sees('LIGHTHOUSE')
      person.press('\r')
      await person.sees(/●\s*LIGHTHOUSE/)
      person.press('/exit')
      await person.sees('Exit the CLI')
      person.press('\r')
      expect(await person.over).toBe(0)

      await s.fleet.call('resume_mission', { mission_id: id, message: steps({ say: 'Remembered.' }) })
      const after = await eventually('the agent went on', async () => {
        const now = await s.fleet.show(id)
        return now.sessions[2]?.status === 'ended' ? now : undefined
      })
      expect(after.sessions[2]).toMatchObject({ conversation: before.sessions[0]!.conversation, outcome: 'completed' })
      const last = JSON.stringify(
        model.requests.filter(({ body }) => JSON.stringify(body).includes('Remembered.')).at(-1)?.body,
      )
      expect(last).toContain('LIGHTHOUSE')
    } finally {
      await model.close()
    }
  },
)
