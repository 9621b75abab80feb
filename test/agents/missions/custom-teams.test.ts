import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import { CustomDeclaration, customAgent } from '../../../src/agents/custom/adapter.ts'
import { NODE } from '../../kit/fleet.ts'
import { memberScenarios } from '../../kit/member-scenarios.ts'
import { aScene } from '../../kit/scene.ts'
import { LINER, STAND_INS } from '../stand-ins.ts'

/** An agent that a person declared, which keeps its conversations in a folder. */
const crewmate = (memory: string) => ({
  ...LINER,
  name: 'crewmate',
  title: 'Crewmate',
  command: [NODE, join(STAND_INS, 'crewmate.mjs'), memory],
  arguments: { resume: ['--continue={conversation}'], mcp: ['--mcp={mcp_file}'], presets: { full: [] } },
})

describe('a declared agent as a member of a team', () => {
  let memory = ''
  memberScenarios({
    can: customAgent(CustomDeclaration.parse(crewmate('/nowhere'))).can,
    named: tool => tool,
    async scene() {
      memory = mkdtempSync(join(tmpdir(), 'flotilla-crewmate-'))
      onTestFinished(() => rm(memory, { recursive: true, force: true }))
      const it = await aScene({ start: false })
      writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [crewmate(memory)] }))
      await it.fleet.call('update_project', { project_id: it.project.id, agent: 'crewmate' })
      await it.fleet.start()
      return it
    },
    asked() {
      const file = join(memory, 'asked')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
      return lines.filter(Boolean).map(line => JSON.parse(line) as string)
    },
  })
})
