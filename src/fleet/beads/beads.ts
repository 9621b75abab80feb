import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { Comment, type Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import {
  type Bead,
  beadIdOf,
  blockersOf,
  inOrder,
  isOver,
  isWork,
  missionOf,
  newLine,
  otherLinks,
  parentOf,
  parseBeads,
  type Told,
  updated,
} from '../../domain/rules/beads.ts'
import { problemOf } from '../../domain/rules/input-words.ts'
import { type Ask, by } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { requireCodingAgent, runsScripts } from '../missions/agents.ts'
import { newMission } from '../missions/missions.ts'
import { all, derivedId, put } from '../records.ts'

const COMMENTS_AT_ONCE = 40

/** The id of the mission that a bead becomes in a project. */
export const missionIdOf = (projectId: string, bead: string): string => derivedId('bead', projectId, bead)

export interface Imported {
  made: string[]
  /** Beads whose mission was there already; only new comments were added. */
  known: string[]
  /** Beads that are closed, or no work. */
  skipped: string[]
  /** How many links are of kinds that the fleet does not use. */
  links: number
}

/** Makes a mission of each open bead that is work. Ids are derived from the beads, so doing it again adds nothing. */
export async function importBeads(
  fleet: Fleet,
  ask: Ask,
  project: Project,
  text: string,
  { dispatch, captured = {} }: { dispatch: boolean; captured?: Partial<MissionSettings> },
): Promise<Imported> {
  requireProse(fleet, captured.agent)
  const beads = parseBeads(text).map(({ bead }) => bead)
  const wanted = inOrder(beads.filter(isWork))
  const idOf = (bead: string): string => missionIdOf(project.id, bead)
  const here = new Set(wanted.map(bead => bead.id))
  const over = new Set(beads.filter(isOver).map(bead => bead.id))
  requireKnown(wanted, new Set([...here, ...over]))
  const imported: Imported = {
    made: [],
    known: [],
    skipped: beads.filter(bead => !here.has(bead.id)).map(bead => bead.id),
    links: wanted.reduce((sum, bead) => sum + otherLinks(bead), 0),
  }
  const settingsOf = (bead: Bead): MissionSettings => {
    const [{ detailed_prompt: _, ...said }, parent] = [missionOf(bead), parentOf(bead)]
    const blockers = blockersOf(bead).filter(each => here.has(each))
    const { success, data, error } = MissionSettings.safeParse({
      ...said,
      ...captured,
      depends_on: blockers.map(idOf),
      parent_mission_id: parent !== undefined && here.has(parent) ? idOf(parent) : null,
    })
    if (success) return data
    const issue = error.issues[0]!
    const problem = `${issue.path.join('.')} ${problemOf(issue)}`
    throw new InvalidInput('beads', `"${bead.id}" cannot become a mission: ${problem}`)
  }
  if (wanted.length && !captured.agent) await requireCodingAgent(fleet, project)
  // All settings are checked before the first mission is made, so that a bad bead is refused before anything happens.
  for (const { bead, settings } of wanted.map(bead => ({ bead, settings: settingsOf(bead) }))) {
    const id = idOf(bead.id)
    // An epic only groups other beads, and a bead that someone works on elsewhere stays there.
    const starts = dispatch && bead.issue_type !== 'epic' && bead.status === 'open'
    const isNew = await retryOnConflict(() => addMission(fleet, ask, project, { bead, settings, id, starts }))
    await retryOnConflict(() => addComments(fleet, project, id, bead))
    imported[isNew ? 'made' : 'known'].push(isNew ? id : bead.id)
  }
  return imported
}

/** False if the bead already has its mission. */
async function addMission(
  fleet: Fleet,
  ask: Ask,
  project: Project,
  { bead, settings, id, starts }: { bead: Bead; settings: MissionSettings; id: string; starts: boolean },
): Promise<boolean> {
  if (await fleet.store.get('missions', id)) return false
  const fields = { ...settings, id, prompt: await fleet.blobs.keep(missionOf(bead).detailed_prompt) }
  const { subject, ...batch } = await newMission(fleet, project.id, fields, starts, by(fleet, ask))
  await fleet.commit('commit.wish', batch)
  return true
}

/** Many people write beads, so no text of a bead may run as a script. */
export function requireProse(fleet: Fleet, agent: string | null | undefined): void {
  if (runsScripts(fleet, agent))
    throw new NotAllowed(`A bead cannot name ${agent}, which runs text as a script: beads are prose.`, {
      try: 'Name a coding agent, or make a mission for the script: fleet run --agent shell.',
    })
}

/** A dependency that is nowhere in the file would be lost silently. */
function requireKnown(beads: readonly Bead[], known: ReadonlySet<string>): void {
  for (const bead of beads)
    for (const other of blockersOf(bead))
      if (!known.has(other))
        throw new InvalidInput('beads', `${bead.id} waits for ${other}, which is not in the file, or is not work`, {
          try: 'Export the whole database first: bd export',
        })
}

async function addComments(fleet: Fleet, project: Project, mission_id: string, bead: Bead): Promise<void> {
  const comments = bead.comments
    .filter(({ text }) => text.trim())
    .map((comment, n) =>
      Comment.parse({
        id: derivedId('bead-comment', mission_id, String(comment.id ?? n)),
        mission_id,
        project_id: project.id,
        author: comment.author.slice(0, 120) || 'beads',
        body: comment.text.slice(0, 20_000),
        created_at: timeOf(comment.created_at) ?? fleet.now(),
      }),
    )
  const known = new Set(await Array.fromAsync(all(fleet, 'comments', 'mission', [mission_id]), ({ value }) => value.id))
  const missing = comments.filter(({ id }) => !known.has(id))
  for (let done = 0; done < missing.length; done += COMMENTS_AT_ONCE)
    await fleet.commit('commit.wish', {
      changes: missing.slice(done, done + COMMENTS_AT_ONCE).map(comment => put('comments', comment, 'absent')),
    })
}

function timeOf(text: string | undefined): string | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** The missions of a project as beads. The lines of `text` keep their order, and a bead with a mission is updated. */
export async function exportBeads(
  fleet: Fleet,
  project: Project,
  text: string,
): Promise<{ text: string; beads: number }> {
  const missions = await Array.fromAsync(all(fleet, 'missions', 'project', [project.id]), ({ value }) => value)
  const byBead = new Map(missions.map(mission => [beadIdOf(mission), mission]))
  const byMission = new Map(missions.map(mission => [mission.id, beadIdOf(mission)]))
  const told = async (mission: Mission): Promise<Told> => ({
    mission,
    prompt: await fleet.blobs.read(mission.prompt),
    comments: await Array.fromAsync(all(fleet, 'comments', 'mission', [mission.id]), ({ value }) => value),
    blockers: mission.depends_on.flatMap(id => byMission.get(id) ?? []),
    parent: (mission.parent_mission_id && byMission.get(mission.parent_mission_id)) || null,
  })
  const lines: string[] = []
  for (const line of parseBeads(text)) {
    const mission = byBead.get(line.bead.id)
    byBead.delete(line.bead.id)
    lines.push(mission ? updated(await told(mission), line) : line.text)
  }
  for (const mission of byBead.values()) lines.push(newLine(await told(mission)))
  return { text: lines.map(line => `${line}\n`).join(''), beads: lines.length }
}
