import { describe } from 'vitest'
import { HOW_TO_INSTALL } from '../clients/clients.ts'
import { memberScenarios } from './member-scenarios.ts'
import { clientScenes, REAL_CLIENTS } from './real-clients.ts'

/** A request without tools is the client's own, such as for a title, and quotes the conversation. */
const offersTools = (body: unknown): boolean => ((body as { tools?: unknown[] } | undefined)?.tools ?? []).length > 0

/** The tests of one real client as a member of a team. */
export function realMember(name: string): void {
  const client = REAL_CLIENTS.find(each => each.name === name)!
  if (!client.binary) console.warn(`Skipped ${name}: ${HOW_TO_INSTALL}`)
  describe.skipIf(!client.binary)(`${name} as a member of a team`, () => {
    const { model, sceneOf } = clientScenes()
    let before = 0
    memberScenarios({
      can: client.agent.can,
      isBound: name === 'claude-acp',
      named: client.named,
      scene() {
        before = model().requests.length
        return sceneOf(client, { project: { landing: 'auto' } })
      },
      asked: () =>
        model()
          .requests.slice(before)
          .flatMap(({ body }) => (offersTools(body) ? JSON.stringify(body) : [])),
    })
  })
}
