import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'

test('what a newcomer gets wrong is answered with what is wrong', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo 1 > a.txt; echo ok')
  await fleet.until(id, 'review')

  const land = (expected: string) => fleet.call('land_mission', { mission_id: id, expected })
  await expect(land('abc')).rejects.toThrow(/is not a commit/)
  await expect(land('0123456789')).rejects.toThrow(/^0123456789 is not a commit/)
  const elsewhere = { mission_id: id, body: 'why?', path: 'nowhere.txt' }
  await expect(fleet.call('comment_mission', elsewhere)).rejects.toThrow(/nowhere\.txt.* is not in the change/)
  await fleet.call('comment_mission', { ...elsewhere, path: 'a.txt', line: 1 })
})

test('an answer that comes second, by the mission, is told who answered', async () => {
  const { fleet, project } = await aScene()
  const script = `fleet call ask_human '{"question": "Which colour?"}'; echo red > a.txt; echo ok`
  const { id } = await fleet.mission(project, script)
  await fleet.until(id, 'needs_input', 'done', 'failed')
  await fleet.call('answer_question', { question_id: id, text: 'red' })
  await expect(fleet.call('answer_question', { question_id: id, text: 'blue' })).rejects.toThrow(
    /already answered by person: red/,
  )
})

test('doctor warns where git does not know who commits', async () => {
  const { fleet } = await aScene()
  const told = async () => (await fleet.fleetCommand(['doctor'])).stdout
  expect(await told()).toMatch(/author +.*user\.name/)
  writeFileSync(join(fleet.root, '.gitconfig'), '[user]\nname = Ada\nemail = ada@example.org\n')
  expect(await told()).toMatch(/author +Ada <ada@example\.org>/)
})
