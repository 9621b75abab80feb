import type { Project } from '../../domain/records/project.ts'
import type { Proposal } from './proposal.ts'

export type Proposed = Pick<Proposal, 'checks' | 'setup_command' | 'copy_files'> & { agent: string | null }

export interface Line {
  field: keyof Proposed
  /** kept: the project has another value, which stays. */
  what: 'set' | 'same' | 'kept' | 'replaced'
  proposed: string
  current: string
}

const FIELDS = ['agent', 'setup_command', 'checks', 'copy_files'] as const satisfies (keyof Proposed)[]

/** What happens to each setting: an empty one is filled, another value stays unless `replace` is set. */
export function settle(proposed: Proposed, current: Proposed | undefined, replace: boolean): Line[] {
  return FIELDS.flatMap(field => {
    const [next, now] = [inWords(proposed[field]), inWords(current?.[field] ?? null)]
    if (!next) return []
    const what = !now ? 'set' : now === next ? 'same' : replace ? 'replaced' : 'kept'
    return [{ field, what, proposed: next, current: now } satisfies Line]
  })
}

export const changesOf = (proposed: Proposed, lines: readonly Line[]): Partial<Project> =>
  Object.fromEntries(
    lines.filter(({ what }) => what === 'set' || what === 'replaced').map(({ field }) => [field, proposed[field]]),
  )

function inWords(value: Proposed[keyof Proposed]): string {
  if (!Array.isArray(value)) return value ?? ''
  return value.map(each => (typeof each === 'string' ? each : each.command)).join('\n')
}

export interface Candidate {
  name: string
  title: string
  engine: string
  installed: boolean
  signed_in?: boolean
  can?: { scripts: boolean }
}

/** The agents that most people want, in order; declared ones come last. */
const PREFERRED = ['claude', 'codex', 'gemini', 'opencode', 'agy']

/**
 * The best installed agent. One that is known to be signed in wins over one where that is unknown. A script runner is
 * no coding agent.
 */
export function chooseAgent(agents: readonly Candidate[]): Candidate | undefined {
  const rank = ({ name }: Candidate): number => (PREFERRED.includes(name) ? PREFERRED.indexOf(name) : PREFERRED.length)
  const here = agents
    .filter(
      ({ engine, installed, signed_in, can }) => !can?.scripts && engine === 'cli' && installed && signed_in !== false,
    )
    .toSorted((a, b) => rank(a) - rank(b))
  return here.find(({ signed_in }) => signed_in) ?? here[0]
}
