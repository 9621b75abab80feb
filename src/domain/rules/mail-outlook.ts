import type { Mission } from '../records/mission.ts'
import type { Delivery, Member } from '../records/team.ts'
import { notTold, stateOf } from './member-state.ts'

/** So many messages fit into one prompt. Of those after them the prompt has a list. */
export const MOST_IN_PROMPT = 50

export interface Recipient {
  member: Member
  /** What it works at, or else the mission that waits for its mail. A person has none. */
  mission: Mission | undefined
  /** Its session at work: since when, and whether its client takes messages in the middle of a turn. */
  atWork: { since: string; listens: boolean } | undefined
  /** How many unread messages came before; no more than fit into one prompt are counted. */
  ahead: number
}

/** Why a queued message was not told yet, for its sender. Null: it is on its way, or a person reads it. */
export function whyQueued({ wakes }: Pick<Delivery, 'wakes'>, recipient: Recipient, now: string): string | null {
  const { member, ahead } = recipient
  if (member.person !== null) return null
  if (member.placement !== 'headless') return notTold(member)
  const full =
    ahead >= MOST_IN_PROMPT
      ? `At least ${MOST_IN_PROMPT} messages came before it: ${member.handle} is given so many at a time, and a list of the rest.`
      : null
  return [waitOf(wakes, recipient, now), full].filter(Boolean).join(' ') || null
}

function waitOf(wakes: boolean, { member, mission, atWork }: Recipient, now: string): string | null {
  if (atWork) return atWork.listens ? null : `It waits for the end of a turn${soFar(atWork.since, now)}.`
  const { state, waits_for } = stateOf(member, mission)
  // What is queued starts by itself.
  if (mission?.status === 'queued') return null
  if (waits_for) return waits_for
  if (state === 'paused') return `${member.handle} is paused.`
  return wakes ? null : `It wakes nobody: it waits for the next turn of ${member.handle}.`
}

const MINUTE_MS = 60_000

function soFar(since: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(since)) / MINUTE_MS)
  return minutes < 1 ? '' : `, ${minutes} min so far`
}

/**
 * What it will probably cost to wake some members: for each the average of its last sessions, or of those of the others
 * if it had none. Null: nothing is known.
 */
export function likelyCost(lastCosts: readonly (readonly number[])[]): number | null {
  const all = lastCosts.flat()
  if (!all.length) return null
  return lastCosts.reduce((sum, own) => sum + average(own.length ? own : all), 0)
}

const average = (costs: readonly number[]): number => costs.reduce((sum, cost) => sum + cost, 0) / costs.length
