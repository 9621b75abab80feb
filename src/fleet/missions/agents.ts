import type { Agent } from '../../agents/index.ts'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { effective, forProject } from '../../domain/rules/effective.ts'
import type { Ask } from '../commands.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'

export const runsScripts = (fleet: Fleet, agent: string | null | undefined): boolean =>
  agent != null && fleet.agents.named(agent).can.scripts

/**
 * Whether a new text is a script. It is one only if its author names an agent that runs scripts. A plugin may not do
 * that, because it passes on what others wrote.
 */
export function isScript(fleet: Fleet, { actor }: Pick<Ask, 'actor'>, agent: string | null | undefined): boolean {
  if (!runsScripts(fleet, agent)) return false
  if (!actor.startsWith('plugin:')) return true
  throw new NotAllowed(`A plugin cannot name ${agent}: it would have the text of others run as a script.`, {
    try: 'Leave the agent out, or name a coding agent.',
  })
}

/** Whether the text of a mission is a script after a change. Prose never becomes one by a change of the agent alone. */
export function isScriptAfter(
  fleet: Fleet,
  ask: Pick<Ask, 'actor'>,
  { script }: Pick<Mission, 'script'>,
  { agent, text }: { agent?: string | null; text: boolean },
): boolean {
  if (agent === undefined && script && text)
    throw new NotAllowed('Its text is a script. Name the agent that runs it together with a new text.', {
      try: 'Name the agent with the new text: --agent shell.',
    })
  if (agent === undefined) return script
  if (text) return isScript(fleet, ask, agent)
  if (!runsScripts(fleet, agent) || script) return runsScripts(fleet, agent)
  throw new NotAllowed(`Its text was written for a coding agent, and ${agent} would run it as a script.`, {
    try: `Give the script together with --agent ${agent}, or name a coding agent: ${codingAgents(fleet).join(', ')}.`,
  })
}

const codingAgents = (fleet: Fleet): string[] =>
  fleet.agents.all.filter(({ can }) => !can.scripts).map(({ name }) => name)

/**
 * The first coding agent that is installed and, as far as it says, signed in. Agents of plugins are never chosen for a
 * person.
 */
export async function firstInstalled(fleet: Fleet): Promise<string | null> {
  for (const agent of fleet.agents.ofPeople.filter(({ can }) => !can.scripts)) {
    const { installed, signedIn } = await agent.detect(fleet.environment)
    if (installed && signedIn !== false) return agent.name
  }
  return null
}

/**
 * The agent for texts of this project that name none. Where nobody has chosen one, it is chosen now and written down.
 */
export async function requireCodingAgent(fleet: Fleet, project: Project): Promise<string> {
  const { agent } = forProject(project, defaultsOf(fleet))
  if (agent !== null) return requireCoding(fleet, project, agent)
  const found = await firstInstalled(fleet)
  if (found === null) throw noAgent(fleet, project)
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'projects', project.id)
    if (value.agent !== null) return requireCoding(fleet, value, value.agent)
    const now = fleet.now()
    await fleet.commit('commit.wish', {
      changes: [put('projects', { ...value, agent: found, updated_at: now }, version)],
      events: [
        {
          kind: 'project_updated',
          time: now,
          actor: 'fleet',
          project_id: value.id,
          cause: `${found} is the first coding agent that is installed.`,
          data: { fields: ['agent'], agent: found },
        },
      ],
    })
    return found
  })
}

function requireCoding(fleet: Fleet, project: Project, agent: string): string {
  if (!runsScripts(fleet, agent)) return agent
  throw new NotAllowed(
    `The agent of project ${project.name} is ${agent}, which runs text as a script, and nobody named it for this one.`,
    { try: howToGetOne(project, agent), facts: { agents: codingAgents(fleet) } },
  )
}

export const noAgent = (fleet: Fleet, project: Pick<Project, 'id' | 'name'> | null): NotAllowed =>
  new NotAllowed(
    project
      ? `Project ${project.name} has no coding agent, and none is installed and signed in.`
      : 'No coding agent is installed and signed in.',
    { try: howToGetOne(project), facts: { agents: codingAgents(fleet) } },
  )

const howToGetOne = (project: Pick<Project, 'id'> | null, script = 'shell'): string =>
  [
    'fleet doctor shows how to install one, or sign in.',
    project ? `Choose it for the project: fleet project set ${project.id} --agent claude.` : '',
    `To run a script instead: --agent ${script}.`,
  ]
    .filter(Boolean)
    .join(' ')

/** The agent that runs a mission now. This is the last check before a text reaches a program that would run it. */
export function requireRunner(fleet: Fleet, mission: Mission, project: Project): Agent {
  const { agent } = effective(mission, project, defaultsOf(fleet))
  if (agent === null) throw noAgent(fleet, project)
  const found = fleet.agents.named(agent)
  requireScript(found, mission)
  return found
}

export function requireScript({ can, name }: Agent, { script }: Pick<Mission, 'script'>): void {
  if (!can.scripts || script) return
  throw new NotAllowed(`${name} runs text as a script, and nobody named it for the text of this mission.`, {
    try: `Name a coding agent: fleet mission edit <mission> --agent claude. If it is a script, give it again: fleet mission edit <mission> --agent ${name} --prompt <script>.`,
  })
}

/** A default agent for texts that nobody has written yet may not be one that runs scripts. */
export function requireNoScripts(fleet: Fleet, agent: string | null | undefined): void {
  if (!runsScripts(fleet, agent)) return
  throw new NotAllowed(`${agent} runs text as a script, so it cannot be the agent of a project.`, {
    try: `Choose a coding agent: ${codingAgents(fleet).join(', ')}. Name ${agent} on each mission that is a script.`,
  })
}
