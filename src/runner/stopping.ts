import { setTimeout as pause } from 'node:timers/promises'
import { effect } from '../platform/effects.ts'
import { groupOf, killGroup, removeGroup } from './groups.ts'
import { type Belonging, identitiesBelow, isAlive, membersOf, signal } from './processes.ts'

const POLL_MS = 25
const SWEEP_GRACE_MS = 500
/** How long the wrapper may take to store the output and exit of a program that ended. */
const WRAPPER_MS = 3000
/** A tree that forks faster than it is killed is given up on after this many rounds, and reported. */
const MAX_ROUNDS = 200

/** Ends a whole session: asks, waits, then kills until nothing is left. Returns how many processes had to be killed. */
export async function stopTree(belonging: () => Belonging, graceMs: number): Promise<number> {
  await effect('signal.terminate', () => {
    for (const member of membersOf(belonging())) signal(member, 'SIGTERM')
  })
  await until(() => membersOf(belonging()).length === 0, graceMs)
  return killRest(belonging)
}

/** After a session ended by itself, ends everything it started. Returns how many processes were left. */
export async function sweep(belonging: () => Belonging): Promise<number> {
  const left = membersOf(belonging()).length
  if (left > 0) await stopTree(belonging, SWEEP_GRACE_MS)
  const group = groupOf(belonging())
  if (group) removeGroup(group)
  return left
}

async function killRest(belonging: () => Belonging): Promise<number> {
  const killed = new Set<number>()
  const group = groupOf(belonging())
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const members = membersOf(belonging())
    if (members.length === 0) break
    await effect('signal.kill', () => {
      for (const member of members) if (signal(member, 'SIGKILL')) killed.add(member.pid)
      // Processes that were started while these were signalled.
      if (group) killGroup(group)
    })
    await pause(POLL_MS)
  }
  const { root } = belonging()
  if (root && !(await until(() => !isAlive(root), WRAPPER_MS)))
    for (const member of [...identitiesBelow(root), root]) signal(member, 'SIGKILL')
  return killed.size
}

async function until(condition: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  while (!condition()) {
    if (performance.now() >= end) return false
    await pause(POLL_MS)
  }
  return true
}
