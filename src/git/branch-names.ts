import { type Repository, readRef } from './layout.ts'

const MAX_SLUG = 40
const PREFIXES = ['fleet', 'flotilla', 'fleet-work']

/** A title as one part of a branch name: safe for git, file systems and terminals, whatever the title contains. */
export function slug(title: string, otherwise = 'mission'): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return plain.replace(/^-/, '').slice(0, MAX_SLUG).replace(/-$/, '') || otherwise
}

/** `fleet/<agent>/<slug>/<short id>`, or another first word if an existing branch is in the way. */
export async function branchName(
  repo: Repository,
  mission: { agent: string; title: string; id: string },
): Promise<string> {
  const rest = [slug(mission.agent, 'agent'), slug(mission.title), slug(mission.id, 'id')]
  for (const prefix of PREFIXES) {
    const parts = [prefix, ...rest]
    const above = parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join('/'))
    const taken = await Promise.all(above.map(branch => readRef(repo, `refs/heads/${branch}`)))
    if (taken.every(oid => oid === undefined)) return parts.join('/')
  }
  return ['fleet', ...rest].join('-')
}
