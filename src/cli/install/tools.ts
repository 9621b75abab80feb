import { ALIAS_SETS, ALIASES } from '../../operations/aliases.ts'

/** The tools of the fleet by set, for clients that want each named. */
export const TOOL_SETS: Record<string, readonly string[]> = Object.fromEntries(
  ALIAS_SETS.map(set => [set, ALIASES.filter(alias => alias.set === set).map(({ name }) => name)]),
)
