import { existsSync } from 'node:fs'
import type { Project } from '../../domain/records/project.ts'
import { isOnlyOurs, throwAway } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { all, sessionsOf } from '../records.ts'
import { SAMPLE_BEGINNING } from './sample-missions.ts'

/** The commits that missions of the sample brought, by its records. */
interface SampleWork {
  landings: Set<string>
  ends: Set<string>
}

/** It is read before the missions are forgotten. */
export async function sampleWork(fleet: Fleet, { id }: Project): Promise<SampleWork> {
  const landings = new Set<string>()
  const ends = new Set<string>()
  for (const index of ['project', 'member'] as const)
    for await (const { value: mission } of all(fleet, 'missions', index, [id])) {
      for (const landing of [mission.landed, ...mission.past_landings])
        for (const made of [landing, landing?.undone]) if (made) landings.add(made.commit)
      for (const { value: session } of await sessionsOf(fleet, mission.id))
        for (const commit of [session.start_commit, session.end_commit]) if (commit) ends.add(commit)
    }
  return { landings, ends }
}

/**
 * The repository of the sample goes with it, unless it may hold something of a person. After a crash some missions are
 * forgotten already; then it stays.
 */
export async function removeSample(
  fleet: Fleet,
  { path, base_branch: branch }: Project,
  work: SampleWork,
): Promise<void> {
  const known = { branch, beginning: SAMPLE_BEGINNING, ...work }
  if (existsSync(path) && (await isOnlyOurs(path, known))) await throwAway(path, fleet.home.trash)
}
