import { CAFLEET } from './cafleet.ts'
import { CLAUDE_FLEET } from './claude-fleet.ts'
import { CODEFLEET } from './codefleet.ts'
import { DEVFLEET } from './devfleet.ts'
import type { KnownName } from './name.ts'
import { OF_SETTINGS } from './of-settings.ts'
import { BEADS } from './others.ts'

export { KNOWN_TOOLS, type KnownName, type KnownTool, NAME_KINDS, type NameKind } from './name.ts'

/**
 * Every name that people know from other tools. Settings take their other names from this list, and
 * docs/compatibility.md is made from it. A test calls every kept or changed name as clients of the other tools do.
 * operations/aliases translates requests and answers.
 */
export const KNOWN_NAMES: readonly KnownName[] = [
  ...OF_SETTINGS,
  ...DEVFLEET,
  ...CODEFLEET,
  ...BEADS,
  ...CLAUDE_FLEET,
  ...CAFLEET,
]
