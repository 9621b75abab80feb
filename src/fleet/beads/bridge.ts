import { linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { which } from '../../agents/detect.ts'
import { NotAllowed, NotFound, Refusal, Unfit } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { NewProject, type Project } from '../../domain/records/project.ts'
import { Bead, capturedIn, isOver } from '../../domain/rules/beads.ts'
import { clipped } from '../../domain/text.ts'
import { locate } from '../../git/index.ts'
import { type EffectName, effect } from '../../platform/effects.ts'
import { textOf } from '../../platform/whole-files.ts'
import { runProgram } from '../../spawning/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { createProject } from '../projects/projects.ts'
import { derivedId } from '../records.ts'
import { sentence } from '../sentences.ts'
import { importBeads, missionIdOf, requireProse } from './beads.ts'

const BD_TIMEOUT_MS = 60_000
const BD_OUTPUT_BYTES = 64 * 1024 * 1024
const TOLD_CHARS = 400

export interface Passed {
  claimed: string[]
  closed: string[]
  /** Claimed by us, and not done yet. */
  open: string[]
  /** Ready, but no mission can be made of them here. */
  refused: { bead: string; reason: string }[]
}

interface Bridge {
  fleet: Fleet
  ask: Ask
  /** The folder that has `.beads` in it. */
  folder: string
  /** Null for the database of the home, whose beads name their own folders. */
  project: Project | null
  /** Tells our claims from those of other homes. */
  actor: string
  bd(args: readonly string[], name?: EffectName): Promise<string>
}

/** The project in which a bead becomes a mission, and the settings that the bead names. */
interface Target {
  project: Project
  captured: { agent?: string; model?: string; subdirectory?: string }
}

export async function bridgeTo(fleet: Fleet, ask: Ask, project: Project | null): Promise<Bridge> {
  const { environment, home } = fleet
  const program = await which('bd', environment)
  if (!program) throw new Unfit('bd was not found.', { try: 'Install beads, so that bd is on the PATH.' })
  const folder = project?.path ?? home.path
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined))
  const run = async (args: readonly string[]): Promise<string> => {
    const limits = { maxBytes: BD_OUTPUT_BYTES, timeoutMs: BD_TIMEOUT_MS }
    const ran = await runProgram({ command: program, args, cwd: folder, env: env as Record<string, string>, ...limits })
    if (ran.code === 0 && !ran.stopped) return ran.stdout.toString('utf8')
    const why = ran.failure ?? ran.stopped ?? (ran.stderr.trim() || `exit code ${ran.code}`)
    throw new Unfit(`bd ${args[0]} failed in ${folder}: ${clipped(why, TOLD_CHARS)}`)
  }
  return {
    fleet,
    ask,
    folder,
    project,
    actor: `fleet-${home.id}`,
    bd: (args, name) => (name ? effect(name, () => run(args)) : run(args)),
  }
}

/**
 * One look at both sides: a mission that is done here closes its bead there, and a bead that is ready there is claimed
 * and becomes a mission here. Every step can be repeated, so the next pass finishes one that was cut short.
 */
export async function pass(bridge: Bridge, atOnce: number): Promise<Passed> {
  const passed: Passed = { claimed: [], closed: [], open: [], refused: [] }
  const unlessRefused = async (bead: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      passed.refused.push({ bead, reason: sentence(error) })
    }
  }
  for (const id of ourClaims(bridge))
    await unlessRefused(id, async () => {
      const bead = await showBead(bridge, id)
      const target = await targetFor(bridge, bead)
      const mission = await missionFor(bridge, target, id)
      if (mission?.status === 'done') {
        await close(bridge, bead, mission)
        passed.closed.push(id)
      } else if (mission || (await take(bridge, id, target))) passed.open.push(id)
    })
  for (const bead of await readyBeads(bridge)) {
    if (passed.open.length >= atOnce) break
    if (passed.open.includes(bead.id)) continue
    await unlessRefused(bead.id, async () => {
      requirePlainId(bead.id)
      const target = await targetFor(bridge, bead)
      if (!(await claimFile(bridge, bead.id)) || !(await take(bridge, bead.id, target))) return
      passed.claimed.push(bead.id)
      passed.open.push(bead.id)
    })
  }
  return passed
}

/** The id becomes an argument of bd and a file name. The ids that bd makes are plain. */
const PLAIN_ID = /^\w[\w.-]*$/

function requirePlainId(id: string): void {
  if (!PLAIN_ID.test(id))
    throw new NotAllowed('Its id may contain only letters, digits, dots, dashes and underscores.', {
      try: 'Rename it in bd.',
    })
}

/** A bead in a repository's database belongs to that repository, and one in the home's to the folder it was made in. */
async function targetFor({ fleet, ask, project }: Bridge, bead: Bead): Promise<Target> {
  // Anyone may have written what is in a repository, so only a bead in the home may choose the agent.
  if (project) return { project, captured: {} }
  const { directory, agent, model } = capturedIn(bead)
  const location = directory ? await locate(directory) : undefined
  if (!directory || !location)
    throw new NotAllowed(directory ? `${directory} is not inside a repository.` : 'It does not name a folder.', {
      try: 'Create it in a repository: fleet bd create',
    })
  requireProse(fleet, agent)
  const { subdirectory } = location
  for (const path of [location.top, location.main]) {
    const known = path && (await fleet.store.get('projects', derivedId('project', path)))
    if (known) return { project: known.value, captured: { agent, model, subdirectory } }
  }
  const path = location.main ?? location.top
  const made = await createProject(fleet, ask, { ...NewProject.parse({}), path }, 'return')
  return { project: made.value, captured: { agent, model, subdirectory } }
}

/**
 * Claims a bead in the database and makes its mission. False: someone else was first, and our claim file is removed. If
 * bd cannot say whose the bead is, our claim file stays: a bead that is claimed there but not here would never be done.
 */
async function take(bridge: Bridge, id: string, { project, captured }: Target): Promise<boolean> {
  await bridge.bd(['update', id, '--claim', '--actor', bridge.actor], 'bd.claim').catch(() => undefined)
  const bead = await showBead(bridge, id)
  if (bead.assignee !== bridge.actor || isOver(bead)) {
    rmSync(fileOf(bridge, id), { force: true })
    return false
  }
  // It is ready, so nothing blocks it any more, and its mission needs no dependencies.
  const jsonl = JSON.stringify({ ...bead, status: 'open', dependencies: [] })
  await importBeads(bridge.fleet, bridge.ask, project, jsonl, { dispatch: true, captured })
  return true
}

async function close(bridge: Bridge, bead: Bead, mission: Mission): Promise<void> {
  const how = mission.landed ? `landed as ${mission.landed.commit}` : (mission.result ?? 'done')
  const reason = `Mission ${mission.id}: ${how}`
  if (!isOver(bead)) await bridge.bd(['close', bead.id, '--reason', reason, '--actor', bridge.actor], 'bd.close')
  rmSync(fileOf(bridge, bead.id), { force: true })
}

const missionFor = async ({ fleet }: Bridge, { project }: Target, bead: string): Promise<Mission | undefined> =>
  (await fleet.store.get('missions', missionIdOf(project.id, bead)))?.value

const Answer = z.array(Bead)

async function readyBeads({ bd }: Bridge): Promise<Bead[]> {
  return answerOf(await bd(['ready', '--json']))
}

async function showBead({ bd }: Bridge, id: string): Promise<Bead> {
  const bead = answerOf(await bd(['show', id, '--json'])).find(each => each.id === id)
  if (!bead) throw new NotFound('bead', id)
  return bead
}

function answerOf(text: string): Bead[] {
  try {
    return Answer.parse([JSON.parse(text)].flat())
  } catch (cause) {
    throw new Unfit('bd answered with something that is not a list of beads.', { try: 'bd ready --json', cause })
  }
}

// bd was seen to give one bead to two that claimed it at the same moment. A file that only one can make decides.

const claimsOf = ({ folder }: Bridge): string => join(folder, '.beads', 'fleet-claims')
const fileOf = (bridge: Bridge, bead: string): string => join(claimsOf(bridge), bead)

/**
 * True: it was free, and is ours now. The file is linked into place, so that it names its owner from the first moment.
 */
async function claimFile(bridge: Bridge, bead: string): Promise<boolean> {
  const folder = claimsOf(bridge)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '.gitignore'), '*\n')
  const mine = join(folder, `.${bridge.actor}.${process.pid}`)
  writeFileSync(mine, bridge.actor)
  try {
    await effect('beads.claim', () => linkSync(mine, fileOf(bridge, bead)))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(mine, { force: true })
  }
}

function ourClaims(bridge: Bridge): string[] {
  const folder = claimsOf(bridge)
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder).filter(name => PLAIN_ID.test(name) && textOf(join(folder, name)) === bridge.actor)
}
