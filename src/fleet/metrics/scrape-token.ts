import { createHash, randomBytes } from 'node:crypto'
import { same } from '../../platform/keys.ts'
import { type Ask, by } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { fleetState, put } from '../records.ts'

/** So that people and scanners for secrets know what it is. */
const PREFIX = 'fleet_scrape_'
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Makes the token with which a scraper reads measurements, and nothing else. The one before it ends. */
export async function makeScrapeToken(fleet: Fleet, ask: Ask): Promise<{ token: string; replaced: boolean }> {
  const token = PREFIX + randomBytes(32).toString('base64url')
  return retryOnConflict(async () => {
    const { value, expects } = await fleetState(fleet)
    const { now, actor } = by(fleet, ask)
    const scrape_token = { hash: hashOf(token), created_at: now }
    await fleet.commit('commit.wish', {
      changes: [put('fleet', { ...value, scrape_token, updated_at: now }, expects)],
      events: [{ kind: 'scrape_token_made', time: now, actor }],
    })
    return { token, replaced: value.scrape_token !== null }
  })
}

/** Returns whether there was one. */
export async function revokeScrapeToken(fleet: Fleet, ask: Ask): Promise<boolean> {
  return retryOnConflict(async () => {
    const { value, expects } = await fleetState(fleet)
    if (!value.scrape_token) return false
    const { now, actor } = by(fleet, ask)
    await fleet.commit('commit.wish', {
      changes: [put('fleet', { ...value, scrape_token: null, updated_at: now }, expects)],
      events: [{ kind: 'scrape_token_revoked', time: now, actor }],
    })
    return true
  })
}

export async function isScrapeToken(fleet: Fleet, token: string): Promise<boolean> {
  if (!token.startsWith(PREFIX)) return false
  const { value } = await fleetState(fleet)
  return value.scrape_token !== null && same(hashOf(token), value.scrape_token.hash)
}
