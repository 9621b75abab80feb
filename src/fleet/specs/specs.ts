import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { type Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Workflow } from '../../domain/records/workflow.ts'
import {
  nextSpec,
  readSpec,
  requireApprovable,
  requireBuildable,
  type Spec,
  specMeant,
  specNamed,
  specPath,
} from '../../domain/rules/spec.ts'
import { FLOWS, type SpecFlow, setStatus } from '../../domain/rules/spec-flows.ts'
import { branchTip, textOf, trackedFiles } from '../../git/index.ts'
import type { Stored } from '../../store/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { createMission } from '../missions/missions.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { lookUp } from '../records.ts'
import { createWorkflow } from '../workflows/workflows.ts'

export interface Document extends Spec {
  text: string
}

/** The specifications on the base branch, by number. */
export async function specsOf(project: Project): Promise<Document[]> {
  if (project.worktree !== 'git') return []
  const repository = await repositoryOf(project)
  const tip = await branchTip(repository, project.base_branch)
  if (!tip) return []
  const names = (await trackedFiles(repository, tip)).flatMap(path => specNamed(path) ?? [])
  const found = await Promise.all(
    names.map(async name => {
      const text = await textOf(repository, tip, specPath(name))
      return text === undefined ? [] : [{ ...readSpec(name, text), text }]
    }),
  )
  return found.flat().toSorted((one, other) => one.name.localeCompare(other.name))
}

export interface NewFlow {
  flow: SpecFlow
  project_id: string
  spec?: string
  task: string
  agents: string[]
}

/** Starts a flow as a workflow. Which document it is about is decided here, before anything runs. */
export async function startFlow(fleet: Fleet, ask: Ask, wanted: NewFlow): Promise<Stored<Workflow>> {
  const { value: project } = await lookUp(fleet, 'projects', wanted.project_id)
  const name = nameFor(wanted, await specsOf(project))
  const { agents, stages } = FLOWS[wanted.flow]
  if (wanted.agents.length > agents.length)
    throw new InvalidInput('agents', `are ${wanted.agents.length}; ${wanted.flow} has ${agents.join(', ')}`)
  return createWorkflow(fleet, ask, {
    name: `${wanted.flow} ${name}`,
    project_id: project.id,
    task: wanted.task,
    stages: stages(name, wanted.agents),
    tags: ['spec', name],
    base_ref: null,
  })
}

function nameFor({ flow, spec, task }: NewFlow, specs: readonly Document[]): string {
  if (flow === 'create') {
    if (!task.trim()) throw new InvalidInput('task', 'is missing: say what the specification is about')
    const [title = ''] = task.trim().split('\n')
    return nextSpec(
      specs.map(each => each.name),
      spec ?? title,
    )
  }
  const buildable = (each: Document): boolean => each.status === 'Approved' && !each.comments.length
  const found = spec === undefined && flow === 'execute' ? specs.find(buildable) : undefined
  if (spec === undefined && !found)
    throw flow === 'execute'
      ? new NotAllowed('No specification is approved and waits to be built.', { try: 'fleet spec list' })
      : new InvalidInput('spec', 'is missing: name the specification')
  const meant = found ?? specMeant(specs, spec!)
  if (flow === 'execute') requireBuildable(meant)
  if (flow === 'revise' && !meant.comments.length)
    throw new NotAllowed(`The specification ${meant.name} has no COMMENT mark to work off.`, {
      try: 'Write one into it: COMMENT(your name): …',
    })
  return meant.name
}

/**
 * A person approves a draft: a mission changes its status and lands, if the document is still the one that they
 * approved.
 */
export async function approveSpec(fleet: Fleet, ask: Ask, projectRef: string, ref: string): Promise<Stored<Mission>> {
  const { value: project } = await lookUp(fleet, 'projects', projectRef)
  const meant = specMeant(await specsOf(project), ref)
  requireApprovable(meant)
  const script = `set -e
document=${meant.path}
git show "HEAD:$document" | cmp -s - "$FLEET_VAR_APPROVED_FILE" || {
  echo 'The document has changed since it was approved. Read it, and approve it again.' >&2
  exit 1
}
${setStatus('Approved')}
`
  const settings = MissionSettings.parse({
    title: `Approve the specification ${meant.name}`,
    agent: 'shell',
    landing: 'auto',
    tags: ['spec', meant.name],
  })
  const fields = { ...settings, detailed_prompt: script }
  const variables = await fleet.blobs.keep(JSON.stringify({ FLEET_VAR_APPROVED: meant.text }))
  return createMission(fleet, ask, project.id, fields, true, { variables })
}
