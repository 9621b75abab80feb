import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { questionFile } from '../missions/notes.ts'
import { aDesk } from '../reactor.testkit.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read } from '../records.testkit.ts'
import { revokeRule } from './approvals.ts'
import { answerQuestion, type Given, interruptMission, markDelivered, questionId, raiseQuestion } from './questions.ts'
import { Questions } from './reactor.ts'

const ASK = { operation: 'test', actor: 'person' }
const RUN = { type: 'permission' as const, id: 'r1', tool: 'Bash', input: { command: 'make' }, denied: false }
const WHICH = { type: 'question' as const, id: 'w1', text: 'Which door?' }
type Request = typeof RUN | typeof WHICH

/** A mission whose agent is at work. */
async function aTalk(mission: Partial<Mission> = {}, session: Partial<Session> = {}) {
  const fleet = aFleet({ now: () => NOW })
  await keep(fleet, 'projects', aProject())
  await keep(fleet, 'missions', aMission({ status: 'running', session_id: 's1', agent: 'claude', ...mission }))
  await keep(fleet, 'sessions', aSession({ agent: 'claude', worktree: fleet.home.path, ...session }))
  const asks = async (request: Partial<Request> & Pick<Request, 'type'>, by = 's1') => {
    const whole = { ...(request.type === 'permission' ? RUN : WHICH), ...request } as Request
    await raiseQuestion(fleet, await read(fleet, 'sessions', by), whole)
    return questionId(by, whole.id)
  }
  const answer = (id: string, given: Given, actor = 'person') =>
    answerQuestion(fleet, { ...ASK, actor }, async () => id, given)
  const question = (id: string) => read(fleet, 'questions', id)
  return { fleet, asks, answer, question, mission: () => read(fleet, 'missions', 'm1') }
}

test('what an agent asks is written down once, however often its line is read, and its mission waits', async () => {
  const { fleet, asks, mission, question } = await aTalk()
  const id = await asks({ type: 'permission' })
  expect(await commitsOf(fleet, () => asks({ type: 'permission' }))).toBe(0)
  expect(await question(id)).toMatchObject({ status: 'open', kind: 'permission', tool: 'Bash', deadline: null })
  expect(await mission()).toMatchObject({ status: 'needs_input', asking: true, questions: [id] })
  expect((await mission()).status_reason!.text).toBe('It wants to run a command: make')
})

test('a session that ended in the same moment asks nothing any more', async () => {
  const { fleet, asks } = await aTalk()
  meanwhile(fleet, async () => {
    await change(fleet, 'sessions', 's1', { status: 'ended', ended_at: NOW })
    await change(fleet, 'missions', 'm1', { status: 'done' })
  })
  await expect(asks({ type: 'question' })).rejects.toThrow('Session s1 has ended.')
  expect((await fleet.store.find('questions', { index: 'id', limit: 1 })).items).toEqual([])
})

test('of two who answer at once the first wins, and the other is told who was', async () => {
  const { asks, answer, mission, question } = await aTalk()
  const id = await asks({ type: 'question' })
  const ended = await Promise.allSettled([answer(id, { text: 'Left.' }, 'ann'), answer(id, { text: 'Right.' }, 'ben')])
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const { answered_by, answer: given } = await question(id)
  const [late] = ended.filter(each => each.status === 'rejected')
  expect(String(late!.reason)).toContain(`It was already answered by ${answered_by}: ${given!.text}`)
  expect(await mission()).toMatchObject({ status: 'running', asking: false })
})

test.each<[Request, Given, string]>([
  [RUN, { text: 'well, maybe' }, 'decision: it asks for permission, and words alone do not decide that'],
  [RUN, { decision: 'perhaps' }, 'decision: "perhaps" is not a decision'],
  [RUN, {}, 'decision: it asks for permission'],
  [WHICH, { decision: 'allow' }, 'text: it asks for words, not for permission'],
  [WHICH, { text: '  ' }, 'text: it asks for words, not for permission'],
  [WHICH, { text: 'Left.', remember: 'project' }, 'remember: only a permission that is allowed can be remembered'],
  [RUN, { decision: 'deny', remember: 'project' }, 'remember: only a permission that is allowed can be remembered'],
])('a $type answered with %j is refused, and stays open', async (request, given, words) => {
  const { asks, answer, question } = await aTalk()
  const id = await asks(request)
  await expect(answer(id, given)).rejects.toThrow(words)
  expect((await question(id)).status).toBe('open')
})

test('while another question is open the mission still waits, for that one', async () => {
  const { asks, answer, mission } = await aTalk()
  const first = await asks({ type: 'question' })
  const second = await asks({ type: 'question', id: 'w2', text: 'Which window?' })
  await answer(second, { text: 'None.' })
  expect(await mission()).toMatchObject({ status: 'needs_input', status_reason: { text: 'Which door?' } })
  await answer(first, { text: 'Left.' })
  expect((await mission()).status).toBe('running')
})

test('the answer to an agent that was put aside starts its next session with the words', async () => {
  const { fleet, asks, answer, mission } = await aTalk()
  const id = await asks({ type: 'question' })
  await change(fleet, 'sessions', 's1', { status: 'ended', ended_at: NOW })
  await change(fleet, 'missions', 'm1', { asking: false })
  await answer(id, { text: 'The left one.' })
  const { status, next } = await mission()
  expect({ status, reason: next?.reason }).toEqual({ status: 'queued', reason: 'resume' })
  expect(await fleet.blobs.read(next!.instructions!)).toContain('They said: The left one.')
})

// Rules

test('a permission that is remembered is not asked for again, and another one is', async () => {
  const { asks, answer, question, mission } = await aTalk()
  await answer(await asks({ type: 'permission' }), { decision: 'allow', remember: 'project' })
  const again = await asks({ type: 'permission', id: 'r2' })
  expect(await question(again)).toMatchObject({ status: 'answered', answer: { decision: 'allow' } })
  expect((await question(again)).answered_by).toMatch(/^rule:/)
  expect((await mission()).status).toBe('running')
  const other = await asks({ type: 'permission', id: 'r3', input: { command: 'make install' } })
  expect((await question(other)).status).toBe('open')
})

test.each<{ scope: 'session' | 'project'; reason: Session['reason']; resumes: string | null; allowed: boolean }>([
  { scope: 'session', reason: 'retry', resumes: null, allowed: false },
  { scope: 'session', reason: 'resume', resumes: 'c1', allowed: true },
  { scope: 'project', reason: 'retry', resumes: null, allowed: true },
])('a rule for the $scope: in a session that is a $reason, allowed $allowed', async ({ scope, allowed, ...next }) => {
  const { fleet, asks, answer, question } = await aTalk()
  await answer(await asks({ type: 'permission' }), { decision: 'allow', remember: scope })
  const place = { agent: 'claude', worktree: fleet.home.path }
  await keep(fleet, 'sessions', aSession({ id: 's2', number: 2, ...place, ...next }))
  const id = await asks({ type: 'permission' }, 's2')
  expect((await question(id)).status).toBe(allowed ? 'answered' : 'open')
})

test('a rule that is revoked in the same moment allows nothing any more', async () => {
  const { fleet, asks, answer, question } = await aTalk()
  await answer(await asks({ type: 'permission' }), { decision: 'allow', remember: 'project' })
  const [rule] = (await fleet.store.find('approval_rules', { index: 'id', limit: 1 })).items
  meanwhile(fleet, () => revokeRule(fleet, ASK, rule!.value.id))
  const id = await asks({ type: 'permission', id: 'r2' })
  expect((await question(id)).status).toBe('open')
})

test('a rule about a file does not hold once a link leads elsewhere', async () => {
  const { fleet, asks, answer, question } = await aTalk()
  const input = { file_path: join(fleet.home.path, 'docs/a.md'), content: 'x' }
  const write = (id: string) => asks({ type: 'permission', id, tool: 'Write', input: input as never })
  await answer(await write('r1'), { decision: 'allow', remember: 'project' })
  expect((await question(await write('r2'))).status).toBe('answered')
  symlinkSync('/etc', join(fleet.home.path, 'docs'))
  expect((await question(await write('r3'))).status).toBe('open')
})

test('what no rule can describe can be allowed once', async () => {
  const { asks, answer, question } = await aTalk()
  const id = await asks({ type: 'permission', input: [] as never })
  await expect(answer(id, { decision: 'allow', remember: 'project' })).rejects.toThrow('no rule can describe this')
  await answer(id, { decision: 'allow' })
  expect((await question(id)).status).toBe('answered')
})

// Interruptions

test('a person who interrupts is asked what the agent is to do now', async () => {
  const { fleet, answer, mission } = await aTalk()
  const { value } = await interruptMission(fleet, ASK, 'm1')
  expect(value).toMatchObject({ kind: 'interruption', status: 'open' })
  expect(await mission()).toMatchObject({ status: 'needs_input', asking: true })
  await expect(interruptMission(fleet, ASK, 'm1')).rejects.toThrow('does nothing now: it waits for an answer.')
  await answer(value.id, { decision: 'allow' })
  expect((await mission()).status).toBe('running')
})

test.each<[string, Partial<Session>, string]>([
  ['has ended', { status: 'ended', ended_at: NOW }, 'No agent is at work on mission m1.'],
  ['is a script', { agent: 'shell' }, 'cannot be interrupted without ending its session.'],
  ['is a person at a terminal', { reason: 'takeover' }, 'A person has taken over mission m1, so only they can'],
])('one that %s is not interrupted', async (_, session, words) => {
  const { fleet, mission } = await aTalk({}, session)
  await expect(interruptMission(fleet, ASK, 'm1')).rejects.toThrow(words)
  expect((await mission()).status).toBe('running')
})

// What the fleet does by itself

test('that an answer has arrived is noted once, and words that could not go with it follow once', async () => {
  const { fleet, asks, answer, question } = await aTalk()
  const id = await asks({ type: 'permission' })
  await answer(id, { decision: 'allow', text: 'But quietly.' })
  await markDelivered(fleet, id, 'But quietly.')
  expect((await question(id)).delivered).toBe(true)
  expect(await commitsOf(fleet, () => markDelivered(fleet, id, 'But quietly.'))).toBe(0)
  expect((await eventsOf(fleet)).filter(({ kind }) => kind === 'message')).toHaveLength(1)
})

test.each([
  { after: 59, status: 'open' },
  { after: 60, status: 'answered' },
])('with a minute to answer, after $after seconds it is $status', async ({ after, status }) => {
  const { fleet, asks, question } = await aTalk({ answer_within_seconds: 60 })
  const id = await asks({ type: 'question' })
  fleet.now = () => new Date(Date.parse(NOW) + after * 1000).toISOString()
  await new Questions(fleet, aDesk(), () => {}).tick()
  expect((await question(id)).status).toBe(status)
})

test('an agent that has waited long is put aside, and one that waits through a tool is not', async () => {
  const { fleet, asks } = await aTalk()
  await keep(fleet, 'sessions', aSession({ id: 's2', number: 2, agent: 'claude' }))
  await asks({ type: 'question' })
  await raiseQuestion(fleet, await read(fleet, 'sessions', 's2'), WHICH, 'tool')
  fleet.now = () => new Date(Date.parse(NOW) + fleet.settings.parkAfter * 1000).toISOString()
  const aside: string[] = []
  await new Questions(fleet, aDesk(), id => aside.push(id)).tick()
  expect(aside).toEqual(['s1'])
})

test('the file of a mission shows what was asked and answered, and is put in the place of whatever is there', async () => {
  const { fleet, asks, answer } = await aTalk()
  await answer(await asks({ type: 'question' }), { text: 'The left one.' })
  const file = questionFile(fleet, 'm1')
  const victim = join(fleet.home.path, 'victim')
  writeFileSync(victim, 'precious')
  mkdirSync(fleet.home.task('m1'), { recursive: true })
  symlinkSync(victim, file)
  const reactor = new Questions(fleet, aDesk(), () => {})
  await reactor.look('missions/m1')
  await reactor.look('missions/m1')
  const shown = readFileSync(file, 'utf8')
  expect(shown).toContain('Which door?')
  expect(shown).toContain('The left one.')
  expect(readFileSync(victim, 'utf8')).toBe('precious')
})

test('a look at a question or a mission that is gone does nothing', async () => {
  const fleet = aFleet()
  const reactor = new Questions(fleet, aDesk(), () => {})
  expect(await commitsOf(fleet, () => reactor.look('questions/none'))).toBe(0)
  expect(await commitsOf(fleet, () => reactor.look('missions/none'))).toBe(0)
})

test('an agent that ended with two open questions goes on once both are answered', async () => {
  const { fleet, asks, answer, question, mission } = await aTalk()
  const [one, other] = [await asks({ type: 'question', id: 'w1' }), await asks({ type: 'question', id: 'w2' })]
  // As the end of its session leaves them: nobody waits for the answers any more.
  await change(fleet, 'sessions', 's1', { status: 'ended', ended_at: NOW })
  await change(fleet, 'missions', 'm1', { asking: false })
  await answer(one, { text: 'Left.' })
  expect(await mission()).toMatchObject({ status: 'needs_input', asking: false, status_reason: { code: 'question' } })
  await answer(other, { text: 'Right.' })
  const { status, asking, next } = await mission()
  expect({ status, asking }).toEqual({ status: 'queued', asking: false })
  expect(await fleet.blobs.read(next!.instructions!)).toMatch(/They said: Left\.[\s\S]*They said: Right\./)
  for (const id of [one, other]) expect(await question(id)).toMatchObject({ status: 'answered', delivered: true })
})
