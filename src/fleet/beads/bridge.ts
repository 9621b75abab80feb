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
  /** Whose `.beads` it is. */
  folder: string
  /** Empty for the database of the home, whose beads say themselves where they belong. */
  project: Project | null
  /** Tells our claims from those of other homes. */
  actor: string
  bd(args: readonly string[], name?: EffectName): Promise<string>
}

/** What a bead becomes a mission of, and with whom. */
interface Place {
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
 * One look at both sides: what is done here is closed there, what is ready there is claimed and made a mission here.
 * Every step can be done again, so a pass that was cut short is finished by the next.
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
      const place = await placeFor(bridge, bead)
      const mission = await missionFor(bridge, place, id)
      if (mission?.status === 'done') {
        await close(bridge, bead, mission)
        passed.closed.push(id)
      } else if (mission || (await take(bridge, id, place))) passed.open.push(id)
    })
  for (const bead of await readyBeads(bridge)) {
    if (passed.open.length >= atOnce) break
    if (passed.open.includes(bead.id)) continue
    await unlessRefused(bead.id, async () => {
      requirePlainId(bead.id)
      const place = await placeFor(bridge, bead)
      if (!(await claimFile(bridge, bead.id)) || !(await take(bridge, bead.id, place))) return
      passed.claimed.push(bead.id)
      passed.open.push(bead.id)
    })
  }
  return passed
}

/** It is an argument of bd and the name of a file: what bd itself makes will do. */
const PLAIN_ID = /^\w[\w.-]*$/

function requirePlainId(id: string): void {
  if (!PLAIN_ID.test(id))
    throw new NotAllowed('Its id has more in it than letters, digits, dots and dashes.', { try: 'Rename it in bd.' })
}

/** A database in a repository is about that one. In the home's, a bead belongs where whoever made it stood. */
async function placeFor({ fleet, ask, project }: Bridge, bead: Bead): Promise<Place> {
  // What is in a repository may have been written by anyone: only in the home it chooses the agent.
  if (project) return { project, captured: {} }
  const { directory, agent, model } = capturedIn(bead)
  const place = directory ? await locate(directory) : undefined
  if (!directory || !place)
    throw new NotAllowed(directory ? `${directory} is in no repository.` : 'It does not say where it belongs.', {
      try: 'Make it in a repository: fleet bd create',
    })
  requireProse(fleet, agent)
  const { subdirectory } = place
  for (const path of [place.top, place.main]) {
    const known = path && (await fleet.store.get('projects', derivedId('project', path)))
    if (known) return { project: known.value, captured: { agent, model, subdirectory } }
  }
  const path = place.main ?? place.top
  const made = await createProject(fleet, ask, { ...NewProject.parse({}), path }, 'return')
  return { project: made.value, captured: { agent, model, subdirectory } }
}

/**
 * Claims a bead in the database and makes its mission; false: someone else was first, and ours is let go. While bd
 * cannot tell whose it is, ours stays: a bead that is claimed there and by nobody here would never be done.
 */
async function take(bridge: Bridge, id: string, { project, captured }: Place): Promise<boolean> {
  await bridge.bd(['update', id, '--claim', '--actor', bridge.actor], 'bd.claim').catch(() => undefined)
  const bead = await showBead(bridge, id)
  if (bead.assignee !== bridge.actor || isOver(bead)) {
    rmSync(fileOf(bridge, id), { force: true })
    return false
  }
  // It is ready, so what it waited for is over; the mission stands for itself.
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

const missionFor = async ({ fleet }: Bridge, { project }: Place, bead: string): Promise<Mission | undefined> =>
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
    throw new Unfit('bd answered with something that is no list of beads.', { try: 'bd ready --json', cause })
  }
}

// bd has been seen to give one bead to two who claim it in the same moment. A file that only one can make decides.

const claimsOf = ({ folder }: Bridge): string => join(folder, '.beads', 'fleet-claims')
const fileOf = (bridge: Bridge, bead: string): string => join(claimsOf(bridge), bead)

/** True: it was free, and is ours now. Linked into place, so that it says whose it is from the first moment. */
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
