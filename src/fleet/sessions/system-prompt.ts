import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '../../agents/index.ts'
import { InvalidInput } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { CLAIMED_LISTS, Claim } from '../../domain/records/report.ts'
import { WITH_MAIL } from '../../domain/rules/mail-prompt.ts'
import { WITH_TOOLS } from '../../domain/rules/prompt.ts'
import { readPlain } from '../../platform/plain-files.ts'
import type { Fleet } from '../fleet.ts'

/** In the home: instructions for every agent of the fleet. */
const FILE = 'instructions.md'
const MOST_BYTES = 100 * 1024

/** The instructions of an agent besides its prompt, the most general first. */
export function instructionsFor(
  fleet: Fleet,
  agent: Agent,
  project: Project,
  mission: Mission,
  resultFile: string,
): string {
  const reporting = agent.can.mcp !== 'no' ? toolsFor(mission) : inFile(resultFile)
  return [ofFleet(fleet), project.instructions, mission.append_system_prompt, reporting].filter(Boolean).join('\n\n')
}

const toolsFor = ({ member, task }: Mission): string =>
  member ? WITH_MAIL : task ? `${WITH_TOOLS}\n\n${WITH_MAIL}` : WITH_TOOLS

function ofFleet({ home }: Fleet): string {
  const file = join(home.path, FILE)
  if (!existsSync(file)) return ''
  const text = readPlain(file, MOST_BYTES)
  if (text !== undefined) return text.trim()
  throw new InvalidInput(FILE, `in the home of the fleet must be a plain file of at most ${MOST_BYTES / 1024} KiB`)
}

/** For an agent without the fleet's own tools. */
const inFile = (file: string): string =>
  `When you are done, you may write what you did as JSON to ${file}: ` +
  `"status" (${Claim.shape.status.unwrap().options.join(', ')}), "summary", and lists of texts ` +
  `${CLAIMED_LISTS.map(name => `"${name}"`).join(', ')}. Otherwise your last words are taken for the summary.`
