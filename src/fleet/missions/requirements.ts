import type { Agent } from '../../agents/index.ts'
import { NotAllowed, Refusal, Unfit } from '../../domain/errors.ts'
import { MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { effective } from '../../domain/rules/effective.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { requireBudget } from '../sessions/budget-rules.ts'

/** Stands in for a session that does not exist yet: enough for an adapter to refuse settings that it cannot enforce. */
const NOWHERE = {
  prompt: '',
  script: '',
  promptFile: '/prompt',
  directory: '/',
  workingDirectory: '/',
  systemPrompt: '',
}
const NOTHING = {
  reason: 'first',
  conversation: '',
  resumes: null,
  forks: false,
  images: [],
  mcpServers: {},
  environment: {},
} as const

/**
 * Refuses a mission now if its agent cannot enforce its settings, instead of in a session that fails. A mission that
 * names no agent may still get another one, and an agent of a plugin is asked at the start.
 */
export function requireHeld(fleet: Fleet, mission: MissionSettings, project: Project): void {
  const limits = effective(mission, project, defaultsOf(fleet))
  if (!limits.agent) return
  const agent = fleet.agents.driven({ ...limits, agent: limits.agent })
  const isKnown = fleet.agents.all.some(({ name }) => name === limits.agent)
  if (!isKnown || agent.plugin) return
  requireApprovals(agent, limits.approvals)
  requireEffort(agent, mission)
  requireImages(agent, mission)
  requireBudget(fleet, agent, limits)
  const inSandbox = !mission.allowed_tools && agent.can.sandboxed.includes(limits.preset)
  agent.launch({
    ...NOWHERE,
    ...NOTHING,
    model: limits.model,
    effort: mission.effort,
    preset: inSandbox ? 'full' : limits.preset,
    allowedTools: mission.allowed_tools,
    maxTurns: limits.maxTurns,
    maxBudgetUsd: limits.maxBudgetUsd,
    approvals: limits.approvals,
  })
}

export function requireApprovals({ can, title }: Agent, approvals: 'ask' | 'deny'): void {
  if (approvals === 'deny' || can.approvals) return
  throw new NotAllowed(`${title} cannot ask a person for permission.`, {
    try: 'Use --approvals deny, or choose an agent that can: fleet agents',
  })
}

export function requireEffort({ can, title }: Agent, { effort }: Pick<MissionSettings, 'effort'>): void {
  if (!effort || can.effort.includes(effort)) return
  const levels = can.effort.length ? `It knows ${can.effort.join(', ')}.` : 'Choose another model instead.'
  throw new NotAllowed(`${title} cannot be told to think with effort ${effort}. ${levels}`, {
    try: 'Leave the effort out (fleet mission edit … --effort ""), or choose another agent: fleet agents',
  })
}

/** An image that an agent cannot be shown is refused, never left out. */
export function requireImages({ can, title }: Agent, { images }: { images: readonly unknown[] }): void {
  if (!images.length || can.images) return
  throw new NotAllowed(`${title} takes no images.`, {
    try: 'Leave the images out, or choose an agent that takes them: fleet agents',
  })
}

/** A message with images needs a client that takes them while it works. */
export function requireLooking(agent: Agent, missionId: string): void {
  requireImages(agent, { images: [missionId] })
  if (agent.dialogue?.showsImages) return
  throw new NotAllowed(`${agent.title} takes no images while it works.`, {
    try: `When its session has ended: fleet mission resume ${missionId} --image <file>`,
  })
}

/** The settings of a mission that its agent must be able to enforce. */
export type Held = Pick<MissionSettings, 'agent'> & Partial<MissionSettings>

/**
 * The same for missions that a workflow, a plan, a fork, a schedule or a loop makes later. The request is refused now,
 * and the refusal names the mission that could not start.
 */
export async function requireStartable(
  fleet: Fleet,
  project: Project,
  missions: readonly { called: string; settings: Held }[],
): Promise<void> {
  const looked = new Set<Agent>()
  for (const { called, settings } of missions)
    try {
      const mission = MissionSettings.parse({ title: called, ...settings })
      requireHeld(fleet, mission, project)
      const { agent, engine } = effective(mission, project, defaultsOf(fleet))
      const isKnown = fleet.agents.all.some(({ name }) => name === agent)
      if (!agent || !isKnown) continue
      const driven = fleet.agents.driven({ agent, engine })
      if (!driven.plugin && !looked.has(driven)) await requireInstalled(fleet, driven)
      looked.add(driven)
    } catch (error) {
      if (!(error instanceof Refusal) || missions.length < 2) throw error
      throw new NotAllowed(`${called}: ${error.message}`, { try: error.hint, cause: error })
    }
}

const PATIENCE_MS = 2000

/** An agent that is not installed is not started. One that is slow to answer counts as installed. */
export async function requireInstalled({ environment }: Fleet, agent: Agent): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS)
  })
  const found = await Promise.race([agent.detect(environment).catch(() => undefined), late])
  clearTimeout(timer)
  if (!found || found.installed || found.path) return
  throw new Unfit(`${agent.title} is not installed.`, { try: found.advice ?? 'fleet agents shows what is.' })
}
