import { describe, expect, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { prompt } from '../../kit/mission-scenarios.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'

const { model, sceneOf } = clientScenes()

/** A repository with instructions for every client, in the file it reads and in its settings. */
const FILES = {
  'CLAUDE.md': 'By the instructions: the lamp is amber.\n',
  'AGENTS.md': 'By the instructions: the lamp is amber.\n',
  'GEMINI.md': 'By the instructions: the lamp is amber.\n',
  'HARBOUR.md': 'By the settings: the bell is brass.\n',
  '.claude/settings.json': JSON.stringify({ env: { BELL: 'brass' }, outputStyle: 'harbour' }),
  '.claude/output-styles/harbour.md': '---\nname: harbour\n---\nBy the settings: the bell is brass.\n',
  '.codex/config.toml': 'developer_instructions = "By the settings: the bell is brass."\n',
  '.gemini/settings.json': JSON.stringify({ context: { fileName: ['GEMINI.md', 'HARBOUR.md'] } }),
  'opencode.json': JSON.stringify({ instructions: ['HARBOUR.md'] }),
}

for (const client of REAL_CLIENTS) {
  if (!client.binary) console.warn(`Skipped ${client.name}: ${HOW_TO_INSTALL}`)
  describe.skipIf(!client.binary)(`${client.name}, as missions get it`, () => {
    test('reads the same of the project in a private repository as in a linked worktree', {
      timeout: 180_000,
    }, async () => {
      const read = async (isolation: 'private' | 'linked') => {
        const { fleet, project } = await sceneOf(client, { repository: { files: FILES }, project: { isolation } })
        const tag = `reading-${isolation}-${client.name}`
        const { id } = await fleet.mission(
          project,
          `${tag}\n${prompt({ write: 'read.txt', content: 'read\n' }, { say: 'I have read it.' })}`,
        )
        const mission = await fleet.until(id, 'review', 'done', 'failed', 'needs_input')
        expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'review' })
        const asked = model()
          .requests.map(({ body }) => JSON.stringify(body ?? ''))
          .filter(body => body.includes(tag))
          .join('\n')
        return { instructions: asked.includes('the lamp is amber'), settings: asked.includes('the bell is brass') }
      }
      const shown = await read('private')
      expect(shown).toEqual(await read('linked'))
      // Codex asks a person before it trusts the settings of a folder, and there is no person here.
      expect(shown).toEqual({ instructions: true, settings: client.name !== 'codex' })
    })
  })
}
