import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from './scene.ts'

/** The key with which the real Claude client asks the scripted model. */
export const CLAUDE_KEY = 'test-key-0123456789012345678901234567'

/** Answers what the Claude client asks a person once: the theme, and whether to trust the key and the folder. */
export function asKnownPerson({ fleet, repo }: Scene, worktree: string): void {
  const settings = join(fleet.root, '.claude.json')
  const trusted = { hasTrustDialogAccepted: true }
  const known = {
    ...(existsSync(settings) && JSON.parse(readFileSync(settings, 'utf8'))),
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [CLAUDE_KEY.slice(-20)], rejected: [] },
    projects: { [worktree]: trusted, [repo.path]: trusted },
  }
  writeFileSync(settings, JSON.stringify(known))
}
