import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const ROUNDS = scaled(5, 50)
const TIMEOUT_MS = 60_000 + ROUNDS * 6000
const PERSONS_ENV = 'SECRET=of the person\n'
const COMMITS_ENV = 'echo SECRET=of an agent > .env; git add -f .env; git commit -qm "with the secret"'

test(`three agents finish at once, ${ROUNDS} times over: everything lands, nothing of the person is touched`, {
  timeout: 60_000 + ROUNDS * 6000,
}, async () => {
  const files = { '.gitignore': '.env\n', 'edited.txt': 'committed\n', one: '', two: '' }
  const { fleet, repo, project, gate } = await aScene({ repository: { files } })
  await repo.write('.env', PERSONS_ENV)
  const inTheWay: string[] = []

  for (let round = 1; round <= ROUNDS; round++) {
    const edit = `the person types in round ${round}`
    await repo.write('edited.txt', edit)
    const work = [
      `echo ${round} >> one; echo one > one-${round}.txt`,
      `echo ${round} >> two; echo two > two-${round}.txt`,
      `echo three > three-${round}.txt; ${COMMITS_ENV}`,
    ]
    const gates = work.map((_, agent) => gate(`${round}-${agent}`))
    const missions = await Promise.all(
      work.map((script, agent) => fleet.mission(project, `${gates[agent]!.wait}; ${script}`)),
    )
    await eventually('all three at work', () => gates.every(agent => agent.reached()))
    for (const agent of gates) agent.open()

    for (const { id } of missions.slice(0, 2)) expect((await fleet.until(id, 'done', 'review')).result).toBe('landed')
    const waiting = await fleet.until(missions[2]!.id, 'needs_input', 'done')
    expect(waiting.status_reason).toMatchObject({ code: 'in_the_way', text: expect.stringContaining('.env') })
    inTheWay.push(waiting.id)

    expect(await repo.read('edited.txt')).toBe(edit)
    expect(await repo.read('.env')).toBe(PERSONS_ENV)
    expect(await repo.git('status', '--porcelain')).toBe(' M edited.txt')
  }

  await rename(join(repo.path, '.env'), join(repo.root, 'moved-env'))
  await Promise.all(inTheWay.map(id => fleet.land(id)))
  for (const id of inTheWay) expect((await fleet.until(id, 'done', 'review', 'needs_input')).result).toBe('landed')

  const rounds = Array.from({ length: ROUNDS }, (_, i) => String(i + 1))
  for (const agent of ['one', 'two']) expect(await repo.readOn('main', agent)).toBe(rounds.join('\n'))
  const made = rounds.flatMap(round => ['one', 'two', 'three'].map(agent => `${agent}-${round}.txt`))
  expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(made))
  expect(await repo.readOn('main', '.env')).toBe('SECRET=of an agent')
  expect(await repo.git('log', '--merges', '--format=%h')).toBe('')
  expect(await repo.git('status', '--porcelain')).toBe(' M edited.txt')
})

test('a base branch that is checked out nowhere takes everything too, and raises no alarm', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { fleet, repo, project, gate } = await aScene({ repository: { bare: true } })
  for (let round = 1; round <= ROUNDS; round++) {
    const gates = ['a', 'b', 'c'].map(agent => gate(`${agent}-${round}`))
    const missions = await Promise.all(
      gates.map((agent, i) => fleet.mission(project, `${agent.wait}; echo x > ${round}-${i}.txt`)),
    )
    await eventually('all three at work', () => gates.every(agent => agent.reached()))
    for (const agent of gates) agent.open()
    for (const { id } of missions) expect((await fleet.until(id, 'done', 'review')).status_reason).toBe(null)
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining([0, 1, 2].map(i => `${round}-${i}.txt`)))
  }
})

test('a change the person has not committed is in the way of one to the same file, until it is moved', async () => {
  const { fleet, repo, project } = await aScene({ repository: { files: { 'shared.txt': 'first\n' } } })
  await repo.write('shared.txt', 'typing')

  const { id } = await fleet.mission(project, 'echo second > shared.txt')
  const waiting = await fleet.until(id, 'needs_input', 'done')
  expect(waiting.status_reason).toMatchObject({ code: 'in_the_way', text: expect.stringContaining('shared.txt') })
  expect(waiting.waits_for).toMatchObject([{ kind: 'person' }])
  expect(await repo.read('shared.txt')).toBe('typing')

  // It does not block later missions.
  const later = await fleet.mission(project, 'echo other > other.txt')
  expect((await fleet.until(later.id, 'done')).result).toBe('landed')

  await repo.git('checkout', '--', 'shared.txt')
  await fleet.land(id)
  expect((await fleet.until(id, 'done')).result).toBe('landed')
  expect(await repo.read('shared.txt')).toBe('second\n')
  expect(await repo.read('other.txt')).toBe('other\n')
})
