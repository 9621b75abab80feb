import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHARED, WHY_SKIPPED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aServer, decider, inSchema } from '../kit/servers.ts'

describe.skipIf(!SHARED)(`a stopped server on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  test('a server stopped between a commit and what follows from it does not do it any more when it goes on', async () => {
    const { fleet, repo, project } = await aScene({ env: inSchema(), start: false })
    const events = async (kind: string) => (await fleet.events()).filter(each => each.kind === kind)
    const witness = join(import.meta.dirname, '../kit/stopping-witness.ts')
    const points = ['git.update-ref', 'launch.write', 'plugin.tell']
    mkdirSync(join(fleet.root, 'home/plugins'))
    writeFileSync(join(fleet.root, 'home/plugins/hears.mjs'), 'export default { hooks: { on_event: () => {} } }')
    const servers = [await aServer(fleet, [])]
    for (const point of points) {
      const file = join(fleet.root, point)
      const env = { STOP_AT: point, STOP_FILE: file }
      // The one with the witness decides: the other is stopped cleanly first.
      const watched = await aServer(fleet, ['--beside'], env, ['--import', witness])
      await servers.at(-1)!.stop()
      expect(await decider(fleet, [watched])).toBe(watched)
      const other = await aServer(fleet)
      servers.push(other)
      writeFileSync(file, '')
      const { id } = await fleet.mission(project, `echo ${point} >> '${fleet.root}/ran'; echo > ${point}.txt`)
      await eventually(`it stopped before ${point}`, () => existsSync(`${file}.stopped`))
      expect(await decider(fleet, [other])).toBe(other)
      await fleet.until(id, 'done')
      const tip = await repo.git('rev-parse', 'main')
      watched.signal('SIGCONT')
      await eventually('it has noticed', () => watched.said().includes('Another server decides now'))
      await eventually('it refused itself the act', () => existsSync(`${file}.refused`))
      expect(await repo.git('rev-parse', 'main')).toBe(tip)
      expect((await events('landed')).filter(({ mission_id }) => mission_id === id)).toHaveLength(1)
      await watched.stop()
    }
    expect(readFileSync(join(fleet.root, 'ran'), 'utf8').trim().split('\n')).toEqual(points)
  }, 120_000)
})
