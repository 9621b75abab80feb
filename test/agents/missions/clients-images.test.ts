import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../src/domain/ids.ts'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { PICTURES } from '../../kit/images.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'

const holds = (body: string, bytes: Buffer): boolean => body.includes(bytes.toString('base64'))
const MAKE = (file: string) => ({ write: file, content: 'made\n' })
const { model, sceneOf } = clientScenes()

for (const client of REAL_CLIENTS) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  describe.skipIf(!client.binary)(`${client.name}, as missions get it`, () => {
    test('its model sees the images of a mission, once for each conversation', { timeout: 180_000 }, async () => {
      const { fleet, project } = await sceneOf(client)
      const images: string[] = []
      for (const bytes of [PICTURES.png, PICTURES.jpeg])
        images.push((await fleet.call<{ image: string }>('add_image', { data: bytes.toString('base64') })).image)
      const tag = newId()
      const { id } = await fleet.mission(project, `${tag}\n${prompt(MAKE('one.txt'), { say: 'I see them.' })}`, {
        images,
      })
      const mission = await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
      expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'review' })

      /** How often each picture is in a request about this mission. */
      const seen = () =>
        model()
          .requests.map(({ body }) => JSON.stringify(body ?? ''))
          .filter(body => body.includes(tag))
          .map(body => [PICTURES.png, PICTURES.jpeg].map(bytes => body.split(bytes.toString('base64')).length - 1))
      expect(seen()).toContainEqual([1, 1])

      // The transcript has the words, and none of the bytes that we sent.
      const folder = fleet.fleet.home.session(mission.sessions[0]!.id)
      const sent = client.agent.dialogue ? readFileSync(join(folder, 'agent-1', 'sent'), 'utf8') : ''
      expect(sent).not.toContain(PICTURES.png.toString('base64'))

      if (!client.agent.can.resume) return
      // The files of the first session are not needed again.
      rmSync(join(folder, 'agent-1', 'images'), { recursive: true })
      const message = `Again.\n${prompt(MAKE('two.txt'), { say: 'Once more.' })}`
      await fleet.call('send_back_mission', { mission_id: id, message })
      const again = await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
      expect(again.sessions, JSON.stringify(again.status_reason)).toHaveLength(2)
      expect(again).toMatchObject({ status: 'review', sessions: [{}, { resumes: expect.any(String) }] })
      const [last] = seen().slice(-1)
      expect(last).toEqual([1, 1])

      // A message has images of its own.
      const { image } = await fleet.call<{ image: string }>('add_image', { data: PICTURES.webp.toString('base64') })
      const more = `Compare.\n${prompt(MAKE('three.txt'), { say: 'I see that one too.' })}`
      await fleet.call('send_back_mission', { mission_id: id, message: more, images: [image] })
      const third = await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
      expect(third.sessions, JSON.stringify(third.status_reason)).toHaveLength(3)
      const bodies = model().requests.map(({ body }) => JSON.stringify(body ?? ''))
      expect(bodies.some(body => body.includes('Compare.') && holds(body, PICTURES.webp))).toBe(true)
    })

    test('its model sees the images of a message while it works, or the message is refused', async () => {
      const { fleet, project, gate } = await sceneOf(client)
      const held = gate('held')
      const slow = prompt({ run: held.wait }, MAKE('one.txt'), { say: 'Done.' })
      const { id } = await fleet.mission(project, slow)
      await eventually('its tool runs', () => held.reached() || undefined)
      const { image } = await fleet.call<{ image: string }>('add_image', { data: PICTURES.webp.toString('base64') })
      const tag = newId()
      const text = `Mind ${tag}.`
      const said = fleet.call('say_to_mission', { mission_id: id, text, images: [image] })
      if (client.agent.can.liveMessages === 'no') {
        await expect(said).rejects.toThrow('cannot receive messages while it works')
        held.open()
        return
      }
      await said
      held.open()
      await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
      const bodies = model().requests.map(({ body }) => JSON.stringify(body ?? ''))
      expect(bodies.some(body => body.includes(tag) && holds(body, PICTURES.webp))).toBe(true)
    }, 180_000)
  })
}
