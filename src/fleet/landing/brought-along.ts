import type { Landing } from '../../domain/records/mission.ts'
import * as landings from '../../domain/rules/landing.ts'
import { changedFiles } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, put } from '../records.ts'
import { includedIn } from './included.ts'
import type { Work } from './steps.ts'

type OnBase = Pick<landings.Brought, 'commit' | 'onto' | 'branch' | 'past'>

/**
 * Gathers what a landing brings: how much it changes, the checks that passed on it, and the unlanded work it was built
 * on. That work is marked as landed first, so after a crash the landing is found again and this runs again.
 */
export async function bringAlong(fleet: Fleet, work: Work, landing: OnBase): Promise<landings.Brought> {
  const { mission, project, repository, candidate } = work
  const held = await includedIn(fleet, mission, { project, repository, base: landing.onto, candidate })
  const isWith = (id: string): Promise<boolean> => cameWith(fleet, id, mission.id)
  const includes: Landing['includes'] = []
  for (const { mission_id, title, commit, standing } of held)
    if (standing !== 'landed' || (await isWith(mission_id))) includes.push({ mission_id, title, commit })
  const checks = await Array.fromAsync(all(fleet, 'evidence', 'mission', [mission.id]))
  const evidence = checks.flatMap(({ value }) => (value.commit === landing.commit ? [value.id] : []))
  for (const each of includes) await takeAlong(fleet, each, mission.id, landing)
  const files = await changedFiles(repository, landing.onto, landing.commit)
  return { ...landing, files, evidence, includes }
}

const cameWith = async (fleet: Fleet, id: string, bringer: string): Promise<boolean> =>
  (await fleet.store.get('missions', id))?.value.landed?.with === bringer

/** Marks kept or waiting work as landed, because it is on the base branch now. */
async function takeAlong(
  fleet: Fleet,
  { mission_id, commit }: Landing['includes'][number],
  bringer: string,
  { commit: landing, onto, branch }: OnBase,
): Promise<void> {
  await retryOnConflict(async () => {
    const found = await fleet.store.get('missions', mission_id)
    if (!found || found.value.candidate?.commit !== commit || !landings.canComeAlong(found.value)) return
    const by = { actor: 'fleet', now: fleet.now() }
    const step = landings.landedWith(found.value, { commit: landing, onto, branch, with: bringer }, by)
    await fleet.commit('commit.landed-with', {
      changes: [put('missions', step.mission, found.version)],
      events: step.events,
    })
  })
}

/** Turns work that came along with an undone landing into kept work again. */
export async function takeBack(
  fleet: Fleet,
  bringer: string,
  includes: Landing['includes'],
  by: string,
): Promise<void> {
  for (const { mission_id } of includes)
    await retryOnConflict(async () => {
      const found = await fleet.store.get('missions', mission_id)
      if (found?.value.landed?.with !== bringer) return
      const step = landings.undoneWith(found.value, by, { actor: 'fleet', now: fleet.now() })
      await fleet.commit('commit.undone-with', {
        changes: [put('missions', step.mission, found.version)],
        events: step.events,
      })
    })
}
