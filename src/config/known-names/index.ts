import { CODEFLEET } from './codefleet.ts'
import { DEVFLEET } from './devfleet.ts'
import type { KnownName } from './name.ts'
import { BEADS, TEAM_TOOLS } from './others.ts'

export { KNOWN_TOOLS, type KnownName, type KnownTool, NAME_KINDS, type NameKind } from './name.ts'

/**
 * Every name that people know from other tools. Settings take their other names from this list, and
 * docs/compatibility.md is made from it. A test sends what clients of the other tools send to every name that is kept
 * or changed. Requests and answers are translated in operations/aliases.
 */
export const KNOWN_NAMES: readonly KnownName[] = [...DEVFLEET, ...CODEFLEET, ...BEADS, ...TEAM_TOOLS]

/** Names of settings that are ours under another name. */
export const SETTING_ALIASES: readonly { kind: 'key' | 'variable'; name: string; ours: string }[] = KNOWN_NAMES.flatMap(
  ({ kind, name, fate, ours }) =>
    fate === 'kept' && ours && (kind === 'key' || kind === 'variable') ? [{ kind, name, ours }] : [],
)
