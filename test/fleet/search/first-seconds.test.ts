import { expect, test } from 'vitest'
import { aScene, type Scene } from '../../kit/scene.ts'

interface Found {
  hits: { mission: { title: string } }[]
  complete: boolean
}

const asked = async ({ fleet }: Scene, text: string): Promise<Found> => {
  const answer = await fleet.http(`/api/search?text=${text}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Found
}

const missionNamed = ({ fleet, project }: Scene, title: string) =>
  fleet.call('create_mission', { project_id: project.id, title, prompt: 'Do it.', agent: 'shell' })

test('a search in the first moment of a server finds what was there before it', async () => {
  const scene = await aScene({ start: false })
  for (const title of ['Mend the lantern', 'Oil the windlass']) await missionNamed(scene, title)
  await scene.fleet.start()
  const { hits, complete } = await asked(scene, 'lantern')
  expect([hits.map(({ mission }) => mission.title), complete]).toEqual([['Mend the lantern'], true])
})

test('after a restart, a search finds what was written while no server ran', async () => {
  const scene = await aScene()
  expect((await asked(scene, 'lantern')).hits).toEqual([])
  await scene.fleet.stop()
  await missionNamed(scene, 'Mend the lantern')
  await scene.fleet.start()
  expect((await asked(scene, 'lantern')).hits).toHaveLength(1)
})
