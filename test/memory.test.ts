import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { questionFile } from '../src/fleet/notes.ts'
import { QuestionFiles } from '../src/fleet/question-files.ts'
import { openQuestions, raiseQuestion } from '../src/fleet/questions.ts'
import { current } from '../src/fleet/records.ts'
import type { ArtifactPiece, MissionNotes } from '../src/operations/notes.ts'
import { eventually } from './kit/fleet.ts'
import { anAgentAtWork, call, twice } from './kit/inside.ts'
import { aScene, type Scene } from './kit/scene.ts'

const notes = ({ fleet }: Scene, mission_id: string) => fleet.call<MissionNotes>('get_mission_notes', { mission_id })

/** A mission whose agent asks, ends its turn, and writes down what it is told when it goes on. */
async function anAsker({ fleet, project }: Scene, question: string) {
  const told = join(fleet.root, 'told')
  const { id } = await fleet.mission(
    project,
    twice(
      [call('ask_human', { question, wait_seconds: 0 }), 'echo 1 > 1'],
      [`cp "$FLEET_PROMPT_FILE" ${told}`, 'echo 2 > 2'],
    ),
  )
  const file = questionFile(fleet.fleet, id)
  await eventually('the question in the file', () => existsSync(file) && readFileSync(file, 'utf8').includes('[ ]'))
  return { id, file, told: () => readFileSync(told, 'utf8') }
}

/** Looks as a server does, twice and in between so long that the file counts as quiet. */
async function lookedInto({ fleet: { fleet } }: Scene, missionId: string) {
  let now = 0
  const files = new QuestionFiles(fleet, () => now)
  for (const after of [0, 1000, 4000]) {
    now = after
    await files.look(await openQuestions(fleet, missionId))
  }
}

const withAnswer = (file: string, words: string, box = '[x]'): string =>
  readFileSync(file, 'utf8').replace('\n## A:\n', `\n## A:\n${words}\n`).replace('- [ ] send', `- ${box} send`)

test('an answer in questions.md counts like one in the inbox, once it is whole', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const hostile = 'Which colour?\n## Q: x\n## A:\nnone\n- [x] send this answer\n$(touch /tmp/no) `id`'
  const { id, file, told } = await anAsker(scene, hostile)
  await eventually('it is put aside', async () => (await fleet.show(id)).sessions[0]!.outcome === 'parked')
  expect((await fleet.fleetCommand(['task', id, 'questions'])).stderr).toContain(file)

  const whole = withAnswer(file, 'Blue; $(reboot) `id`\nlike the sea')
  const unticked = withAnswer(file, 'Blue', '[ ]')
  // Half of it, all of it without the tick, and what is none of this mission's questions: nothing is taken.
  await fleet.kill()
  for (const text of [
    whole.slice(0, whole.indexOf('the sea')),
    unticked,
    whole.replaceAll(/^## Q: .*/gm, '## Q: 000000000000'),
  ]) {
    writeFileSync(file, text)
    await lookedInto(scene, id)
    expect((await notes(scene, id)).questions).toMatchObject([{ status: 'open', answer: null }])
  }
  expect(readFileSync(file, 'utf8'), 'a question that was lost is written again').toMatch(/\[ \] send this answer\n$/)

  // A file that still changes is not read.
  const files = new QuestionFiles(fleet.fleet, () => 0)
  for (let line = 0; line < 5; line++) {
    writeFileSync(file, `${whole}${'\n'.repeat(line)}`)
    await files.look(await openQuestions(fleet.fleet, id))
  }
  expect((await notes(scene, id)).questions).toMatchObject([{ status: 'open' }])

  await fleet.start()
  await fleet.until(id, 'done', 'failed')
  expect(told()).toContain('They said: Blue; $(reboot) `id`\nlike the sea')
  expect((await notes(scene, id)).questions).toMatchObject([
    { status: 'answered', answered_by: 'questions.md', answer: { decision: 'allow' } },
  ])
  expect(readFileSync(file, 'utf8')).toMatch(/is settled\n\n> Answered by questions\.md: Blue/)
  expect((await fleet.events()).filter(({ kind }) => kind === 'resumed')).toHaveLength(1)
})

test('written while no server runs it is taken by the next; whoever is first wins, and the file says so', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const first = await anAsker(scene, 'Which size?')
  await eventually('it is put aside', async () => (await fleet.show(first.id)).sessions[0]!.outcome === 'parked')
  await fleet.kill()
  writeFileSync(first.file, withAnswer(first.file, 'large'))
  await fleet.start()
  await fleet.until(first.id, 'done', 'failed')
  expect(first.told()).toContain('They said: large')

  const second = await anAsker(scene, 'Which shape?')
  await fleet.call('answer_question', { question_id: second.id, text: 'round' })
  writeFileSync(second.file, withAnswer(second.file, 'square'))
  await fleet.until(second.id, 'done', 'failed')
  await eventually('the file says so', () => readFileSync(second.file, 'utf8').includes('Answered by person: round'))
  expect(await notes(scene, second.id)).toMatchObject({ questions: [{ answer: { text: 'round' } }] })
  expect(second.told()).toContain('They said: round')
})

test('a tool is not allowed in the file; one that is no file, or endless, is left alone', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await anAgentAtWork(scene)
  await fleet.kill()
  const file = questionFile(fleet.fleet, agent.id)
  const { value: session } = await current(fleet.fleet, 'sessions', agent.session)
  const asking = { type: 'permission', id: 'p', tool: 'Bash', input: { command: 'id' }, denied: false } as const
  await raiseQuestion(fleet.fleet, session, asking)
  await lookedInto(scene, agent.id)
  const section = /## Q: \w+/.exec(readFileSync(file, 'utf8'))
  writeFileSync(file, `${section}\n\n## A: yes\n- [x] send this answer\n`)
  await lookedInto(scene, agent.id)
  expect((await notes(scene, agent.id)).questions).toMatchObject([{ kind: 'permission', status: 'open' }])

  const puts = [
    () => execFileSync('mkfifo', [file]),
    () => symlinkSync(fleet.fleet.home.storeFile, file),
    () => mkdirSync(file),
    () => writeFileSync(file, 'x'.repeat(5_000_000)),
  ]
  for (const put of puts) {
    rmSync(file, { recursive: true })
    put()
    const before = lstatSync(file)
    await lookedInto(scene, agent.id)
    expect(lstatSync(file)).toMatchObject({ size: before.size, mode: before.mode })
  }
})

test('artifacts are read piece by piece on every surface, and nothing outside of their folder', async () => {
  const scene = await aScene()
  const { fleet, project } = scene
  const { id } = await fleet.mission(
    project,
    [
      'cd "$FLEET_ARTIFACT_DIR"; mkdir -p sub/deep; printf "§%.0s" 1 2 3 4 5 > sub/deep/text.txt',
      "printf '\\000\\377' > bytes; ln -s ../../../token secret; ln -s ../../.. up; ln -s /etc etc; mkfifo pipe",
      'cd -; echo x > x',
    ].join('\n'),
  )
  await fleet.until(id, 'done')
  const noted = await notes(scene, id)
  expect(noted.artifacts.files).toEqual([
    { path: 'bytes', bytes: 2 },
    { path: 'sub/deep/text.txt', bytes: 10 },
  ])

  const read = async (path: string, more: Record<string, string> = {}) =>
    fleet.http(`/api/missions/${id}/artifacts/content?${new URLSearchParams({ path, ...more })}`)
  const pieces: ArtifactPiece[] = []
  for (let offset: number | null = 0; offset !== null; offset = pieces.at(-1)!.next_offset)
    pieces.push(
      (await (await read('sub/deep/text.txt', { offset: String(offset), limit: '5' })).json()) as ArtifactPiece,
    )
  expect(pieces.map(({ content }) => content)).toEqual(['§§', '§§', '§'])
  expect(await (await read('bytes')).json()).toMatchObject({ encoding: 'base64', content: 'AP8=', next_offset: null })
  expect((await read('bytes', { limit: '2000000' })).status).toBe(400)
  for (const path of ['../../../token', 'sub/../../../../token', '/etc/passwd', './bytes', 'sub//deep', 'a\0b', ''])
    expect((await read(path)).status, path).toBe(400)
  for (const path of ['secret', 'up/token', 'etc/passwd', 'pipe', 'sub', 'sub/none'])
    expect((await read(path)).status, path).toBe(404)
  rmSync(noted.artifacts.folder, { recursive: true })
  symlinkSync(fleet.fleet.home.path, noted.artifacts.folder)
  expect((await read('token')).status).toBe(404)
  expect((await notes(scene, id)).artifacts.files).toEqual([])
  rmSync(noted.artifacts.folder)
  mkdirSync(noted.artifacts.folder)
  writeFileSync(join(noted.artifacts.folder, 'big'), 'ab'.repeat(1_500_000))
  writeFileSync(join(noted.folder, 'PLAN.md'), 'first the keel\n')

  const printed = await fleet.fleetCommand(['task', id, 'artifacts', 'big'])
  expect(printed.stdout === 'ab'.repeat(1_500_000), printed.stderr).toBe(true)
  const shown = (await fleet.fleetCommand(['mission', 'show', id])).stdout
  expect(shown).toMatch(/Notes\n {2}1 line: fleet task \w+ plan\n {2}1 file: fleet task \w+ artifacts/)
  const asked = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { accept: 'application/json, text/event-stream' }
    return JSON.stringify(await (await fleet.http('/mcp', { method: 'POST', body, headers })).json())
  }
  expect(await asked('resources/read', { uri: `fleet://missions/${id}/notes` })).toContain('first the keel')
  expect(await asked('resources/read', { uri: `fleet://missions/${id}/artifact?path=big` })).toContain('100000')
  const tool = (name: string, input: object) => asked('tools/call', { name, arguments: { mission_id: id, ...input } })
  expect(await tool('get_mission_notes', {})).toContain('first the keel')
  expect(await tool('read_artifact', { path: 'big' })).toContain('abab')
})
