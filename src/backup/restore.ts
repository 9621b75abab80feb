import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { NotAllowed, NotFound, Refusal } from '../domain/errors.ts'
import { makeFleet } from '../fleet/fleet.ts'
import { type Settled, settleRestored } from '../fleet/restoring.ts'
import { openHome } from '../home.ts'
import { isHeld, openSqlite } from '../store/index.ts'
import { behindLinks } from '../whole-files.ts'
import { damaged, MANIFEST, type Manifest, verified } from './manifest.ts'
import { tar } from './tar.ts'

export interface Restored {
  manifest: Manifest
  settled: Settled
}

/** Makes a home from a backup. It is put together beside its place and moved there last: it is whole, or not there. */
export async function restore(
  file: string,
  place: string,
  { env, unpaused }: { env: NodeJS.ProcessEnv; unpaused: boolean },
): Promise<Restored> {
  if (!existsSync(file)) throw new NotFound('file', file)
  const home = behindLinks(place)
  requireEmpty(home)
  mkdirSync(dirname(home), { recursive: true })
  const stage = mkdtempSync(`${home}.being-restored-`)
  try {
    await tar(['-xzf', file, '--no-same-owner', '-C', stage]).catch(error => {
      throw error instanceof Refusal ? damaged(file, error.message, error) : error
    })
    const manifest = await verified(stage, file)
    rmSync(join(stage, MANIFEST))
    const settled = await settle(stage, home, manifest, { env, unpaused })
    requireEmpty(home)
    rmSync(home, { recursive: true, force: true })
    renameSync(stage, home)
    return { manifest, settled }
  } finally {
    rmSync(stage, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function settle(
  stage: string,
  home: string,
  manifest: Manifest,
  { env, unpaused }: { env: NodeJS.ProcessEnv; unpaused: boolean },
): Promise<Settled> {
  const place = openHome(stage)
  const store = await openSqlite(place.storeFile, { migrate: true })
  const fleet = makeFleet({ home: place, store, environment: env })
  try {
    return await settleRestored(fleet, {
      madeAt: manifest.made_at,
      from: manifest.home,
      to: home,
      sameMachine: manifest.host === hostname(),
      paused: !unpaused,
    })
  } finally {
    await fleet.close()
  }
}

/** What any command makes when it looks for a home and finds none. */
const MADE_BY_LOOKING = ['id', 'token', 'key']

/** Nothing is ever restored over anything. */
function requireEmpty(home: string): void {
  if (!existsSync(home)) return
  if (!statSync(home).isDirectory())
    throw new NotAllowed(`${home} is not a folder.`, { try: 'fleet restore <file> --home <folder>' })
  if (isHeld(home))
    throw new NotAllowed(`The home ${home} is held by a running fleet.`, {
      try: 'Restore into another one: fleet restore <file> --home <folder>',
    })
  const isEmpty = (path: string): boolean => lstatSync(path).isDirectory() && readdirSync(path).length === 0
  const inTheWay = readdirSync(home).find(name => !MADE_BY_LOOKING.includes(name) && !isEmpty(join(home, name)))
  if (inTheWay)
    throw new NotAllowed(`The home ${home} is not empty: ${inTheWay} is in it.`, {
      try: 'Move it away, or restore into another one: fleet restore <file> --home <folder>',
    })
}
