import { execFile } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { which } from '../agents/detect.ts'
import { Bead, isOver } from '../domain/beads.ts'
import { Refusal, Unfit } from '../domain/errors.ts'
import type { Project } from '../domain/project.ts'
import { missionIdOf } from '../fleet/beads.ts'
import type { MissionView } from '../operations/views.ts'
import { textOf } from '../whole-files.ts'
import type { Cli } from './command.ts'

const BD_TIMEOUT_MS = 60_000
const BD_OUTPUT_BYTES = 64 * 1024 * 1024

export interface Passed {
  claimed: string[]
  closed: string[]
  /** Claimed by us, and not done yet. */
  open: string[]
}

interface Bridge {
  cli: Cli
  project: Pick<Project, 'id' | 'path'>
  /** Tells our claims from those of other homes. */
  actor: string
  bd(args: readonly string[]): Promise<string>
}

export async function bridgeTo(cli: Cli, project: Pick<Project, 'id' | 'path'>, homeId: string): Promise<Bridge> {
  const { env } = cli.where
  const program = await which('bd', env)
  if (!program) throw new Unfit('bd was not found.', { try: 'Install beads, so that bd is on the PATH.' })
  const options = { cwd: project.path, env, timeout: BD_TIMEOUT_MS, maxBuffer: BD_OUTPUT_BYTES }
  const bd = async (args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, [...args], options)).stdout
  return { cli, project, actor: `fleet-${homeId}`, bd }
}

/**
 * One look at both sides: what is done here is closed there, what is ready there is claimed and made a mission here.
 * Every step can be done again, so a pass that was cut short is finished by the next.
 */
export async function pass(bridge: Bridge, atOnce: number): Promise<Passed> {
  const passed: Passed = { claimed: [], closed: [], open: [] }
  for (const bead of ourClaims(bridge)) {
    const mission = await missionFor(bridge, bead)
    if (mission?.status === 'done') {
      await close(bridge, bead, mission)
      passed.closed.push(bead)
    } else if (mission || (await take(bridge, bead))) passed.open.push(bead)
  }
  for (const bead of await readyBeads(bridge)) {
    if (passed.open.length >= atOnce) break
    if (passed.open.includes(bead.id) || !claimFile(bridge, bead.id)) continue
    if (!(await take(bridge, bead.id))) continue
    passed.claimed.push(bead.id)
    passed.open.push(bead.id)
  }
  return passed
}

/** Claims a bead in the database and makes its mission; false: someone else was first, and ours is let go. */
async function take(bridge: Bridge, id: string): Promise<boolean> {
  await bridge.bd(['update', id, '--claim', '--actor', bridge.actor]).catch(() => undefined)
  const bead = await showBead(bridge, id)
  if (bead?.assignee !== bridge.actor || isOver(bead)) {
    rmSync(fileOf(bridge, id), { force: true })
    return false
  }
  // It is ready, so what it waited for is over; the mission stands for itself.
  const jsonl = JSON.stringify({ ...bead, status: 'open', dependencies: [] })
  const client = await bridge.cli.client()
  await client.call('import_beads', { project_id: bridge.project.id, jsonl, auto_dispatch: true })
  await client.wake()
  return true
}

async function close(bridge: Bridge, id: string, mission: MissionView): Promise<void> {
  const how = mission.landed ? `landed as ${mission.landed.commit}` : (mission.result ?? 'done')
  await bridge.bd(['close', id, '--reason', `Mission ${mission.id}: ${how}`, '--actor', bridge.actor])
  rmSync(fileOf(bridge, id), { force: true })
}

const Answer = z.array(Bead)

async function readyBeads({ bd }: Bridge): Promise<Bead[]> {
  return answerOf(await bd(['ready', '--json']))
}

async function showBead({ bd }: Bridge, id: string): Promise<Bead | undefined> {
  const text = await bd(['show', id, '--json']).catch(() => '[]')
  return answerOf(text).find(bead => bead.id === id)
}

function answerOf(text: string): Bead[] {
  try {
    return Answer.parse([JSON.parse(text)].flat())
  } catch (cause) {
    throw new Unfit('bd answered with something that is no list of beads.', { try: 'bd ready --json', cause })
  }
}

async function missionFor({ cli, project }: Bridge, bead: string): Promise<MissionView | undefined> {
  try {
    return await (await cli.client()).call<MissionView>('get_mission', { mission_id: missionIdOf(project.id, bead) })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return undefined
    throw error
  }
}

// bd has been seen to give one bead to two who claim it in the same moment. A file that only one can make decides.

const folderOf = ({ project }: Bridge): string => join(project.path, '.beads', 'fleet-claims')
const fileOf = (bridge: Bridge, bead: string): string => join(folderOf(bridge), encodeURIComponent(bead))

/** True: it was free, and is ours now. Linked into place, so that it says whose it is from the first moment. */
function claimFile(bridge: Bridge, bead: string): boolean {
  const folder = folderOf(bridge)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '.gitignore'), '*\n')
  const mine = join(folder, `.${bridge.actor}.${process.pid}`)
  writeFileSync(mine, bridge.actor)
  try {
    linkSync(mine, fileOf(bridge, bead))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(mine, { force: true })
  }
}

function ourClaims(bridge: Bridge): string[] {
  const folder = folderOf(bridge)
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .filter(name => !name.startsWith('.') && textOf(join(folder, name)) === bridge.actor)
    .map(decodeURIComponent)
}
