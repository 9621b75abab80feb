import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { clientScenes, REAL_CLIENTS } from '../../kit/real-clients.ts'
import { aTeam } from '../../kit/team.ts'
import { tmuxIn } from '../../kit/tmux.ts'

const CLIENTS = REAL_CLIENTS.filter(({ name }) => ['claude', 'codex', 'opencode'].includes(name))
const missing = CLIENTS.filter(({ binary }) => !binary)
if (missing.length) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** What each client asks at its first start in a folder, and how a person says yes. */
const QUESTIONS: [RegExp, string[]][] = [
  [/No, exit/, ['Down', 'Enter']],
  [/Trust and continue/, ['Enter']],
  [/Try new model/, ['Down', 'Enter']],
]

interface Shown {
  state: string
  lines: string[]
}

describe.skipIf(!tmuxIn)('real clients as members in tmux', () => {
  const { model, sceneOf } = clientScenes()

  for (const client of CLIENTS)
    test.skipIf(!client.binary)(
      `${client.name}: mail waits at its first question, is typed once a person answered, and it ends when it is asked`,
      { timeout: 180_000 },
      async () => {
        const s = await sceneOf(client)
        const { HOME, CLAUDE_CONFIG_DIR } = s.fleet.fleet.environment
        const known = { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: { approved: ['test-key'] } }
        writeFileSync(join(CLAUDE_CONFIG_DIR ?? HOME!, '.claude.json'), JSON.stringify(known))
        const crew = await aTeam(s, [])
        const of = { team_id: crew.team.id, member: 'ada' }
        const tmux = tmuxIn!(s.fleet.fleet.home.path)
        onTestFinished(tmux.end)
        await crew.add('ada', { agent: client.name, charter: 'You look after the harbour.', placement: 'tmux' })
        const { id } = await crew.send('ada', 'When is high tide?', { wake: true })
        const shown = () => s.fleet.call<Shown>('capture_member', of)
        const delivery = async () => (await crew.mail(id)).deliveries[0]!
        const asked: string[] = []
        await eventually(
          'the message is heard',
          async () => {
            if ((await delivery()).state === 'heard') return true
            const screen = await shown().catch(() => undefined)
            if (screen?.state !== 'prompt') return undefined
            const text = screen.lines.join('\n')
            expect(text).not.toContain('You have mail')
            const [question, keys] = QUESTIONS.find(([words]) => words.test(text)) ?? []
            if (!question || asked.at(-1) === question.source) return undefined
            asked.push(question.source)
            await s.fleet.call('send_member_input', { ...of, keys })
            return undefined
          },
          async () => (await shown()).lines.join('\n'),
        )
        expect(asked.length > 0).toBe(client.name !== 'opencode')
        expect((await delivery()).heard_by).toBe('echo')
        await eventually('the model was asked', () =>
          model().requests.some(({ body }) => JSON.stringify(body ?? '').includes(`message ${id} from operator`)),
        )
        await eventually('it is idle again', async () => (await shown()).state === 'idle')
        await s.fleet.call('exec_in_member', { ...of, command: 'echo $((40+2))' })
        await eventually('the command ran', async () => /^\D*42\s*$/m.test((await shown()).lines.join('\n')))
        await eventually('it is idle again', async () => (await shown()).state === 'idle')
        expect(await s.fleet.call('delete_member', of)).toMatchObject({ dismissed: true })
      },
    )
})
