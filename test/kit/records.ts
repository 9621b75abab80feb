import { onTestFinished } from 'vitest'
import { Mission } from '../../src/domain/records/mission.ts'
import { Project } from '../../src/domain/records/project.ts'
import { put } from '../../src/fleet/records.ts'
import { aFleet, type TestFleet } from './fleet.ts'

/** This many minutes after the beginning of 2026. */
export const at = (minute: number): string =>
  new Date(Date.parse('2026-01-01T00:00:00Z') + minute * 60_000).toISOString()

export const aProject = (fields: Partial<Project>): Project =>
  Project.parse({
    name: 'test',
    path: `/nowhere/${fields.id}`,
    worktree: 'git',
    base_branch: 'main',
    created_at: at(0),
    updated_at: at(0),
    ...fields,
  })

export const aMission = (id: string, minute: number, fields: Partial<Mission> = {}): Mission =>
  Mission.parse({
    id,
    project_id: 'p1',
    title: `mission ${id}`,
    prompt: { inline: `Do what ${id} says` },
    status: 'draft',
    created_at: at(minute),
    updated_at: at(minute),
    ...fields,
  })

/** A fleet without a server, with these records. */
export async function aFleetWith(missions: Mission[], projects = [aProject({ id: 'p1' })]): Promise<TestFleet> {
  const fleet = await aFleet()
  onTestFinished(() => fleet.remove())
  const changes = [
    ...projects.map(project => put('projects', project, 'absent')),
    ...missions.map(mission => put('missions', mission, 'absent')),
  ]
  for (let from = 0; from < changes.length; from += 90)
    await fleet.fleet.store.commit({ changes: changes.slice(from, from + 90) })
  return fleet
}
