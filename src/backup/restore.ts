import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { NotAllowed, NotFound } from '../domain/errors.ts'
import { makeFleet } from '../fleet/fleet.ts'
import { openHome } from '../platform/home.ts'
import { KEY_FILES, openKeys } from '../platform/keys.ts'
import { behindLinks, requirePlain } from '../platform/whole-files.ts'
import { isHeld, openStore } from '../store/index.ts'
import { MANIFEST } from './contents.ts'
import { type Manifest, verified } from './manifest.ts'
import { type Choice, chosen, commandsIn } from './powers.ts'
import { type Settled, settleRestored } from './restored.ts'
import { MOST_ENTRIES, unpack } from './unpack.ts'

export interface Restored {
  manifest: Manifest
  settled: Settled
  /** Restored parts that can act on this machine, and parts that were left out because nobody asked for them. */
  powers: string[]
  notTaken: string[]
}

export interface Wish extends Choice {
  env: NodeJS.ProcessEnv
  unpaused: boolean
  maxBytes: number
}

/** Makes a home from a backup. It is built beside its place and moved there last, so it is complete or not there. */
export async function restore(file: string, place: string, wish: Wish): Promise<Restored> {
  if (!existsSync(file)) throw new NotFound('file', file)
  requirePlain(file)
  const home = behindLinks(place)
  requireEmpty(home)
  mkdirSync(dirname(home), { recursive: true })
  const stage = mkdtempSync(`${home}.being-restored-`)
  try {
    await unpack(file, stage, { entries: MOST_ENTRIES, bytes: wish.maxBytes })
    const manifest = await verified(stage, file)
    rmSync(join(stage, MANIFEST))
    const { drop, notTaken, taken } = chosen(readdirSync(stage), wish)
    for (const name of drop) rmSync(join(stage, name), { recursive: true })
    const { settled, commands } = await settle(stage, home, manifest, wish)
    requireEmpty(home)
    rmSync(home, { recursive: true, force: true })
    renameSync(stage, home)
    return { manifest, settled, powers: [...taken, ...commands], notTaken }
  } finally {
    rmSync(stage, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function settle(
  stage: string,
  home: string,
  manifest: Manifest,
  wish: Wish,
): Promise<{ settled: Settled; commands: string[] }> {
  const place = openHome(stage)
  const store = await openStore({ engine: 'sqlite', file: place.storeFile }, { migrate: true })
  const fleet = makeFleet({ home: place, keys: openKeys(place), store, environment: wish.env })
  try {
    const commands = await commandsIn(fleet)
    const settled = await settleRestored(fleet, {
      madeAt: manifest.made_at,
      from: manifest.home,
      to: home,
      sameMachine: manifest.host === hostname(),
      paused: !wish.unpaused,
    })
    return { settled, commands }
  } finally {
    await fleet.close()
  }
}

/** Files that any command creates when it finds no home. */
const MADE_BY_LOOKING = ['id', ...KEY_FILES]

/** A restore never overwrites anything. */
function requireEmpty(home: string): void {
  if (!existsSync(home)) return
  if (!statSync(home).isDirectory())
    throw new NotAllowed(`${home} is not a folder.`, { try: 'fleet restore <file> --home <folder>' })
  if (isHeld(home))
    throw new NotAllowed(`The home ${home} is used by a running fleet.`, {
      try: 'Restore into another one: fleet restore <file> --home <folder>',
    })
  const isEmpty = (path: string): boolean => lstatSync(path).isDirectory() && readdirSync(path).length === 0
  const inTheWay = readdirSync(home).find(name => !MADE_BY_LOOKING.includes(name) && !isEmpty(join(home, name)))
  if (inTheWay)
    throw new NotAllowed(`The home ${home} is not empty: it contains ${inTheWay}.`, {
      try: 'Move it away, or restore into another one: fleet restore <file> --home <folder>',
    })
}
