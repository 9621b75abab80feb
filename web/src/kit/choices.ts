import {
  APPROVAL_MODES,
  ENGINE_WORDS,
  ENGINES,
  ISOLATIONS,
  LANDING_POLICIES,
  LANDING_WORDS,
  TOOL_PRESETS,
} from '../../../src/domain/choices.ts'
import { capital } from './words.ts'

const optionsOf = <V extends string>(values: readonly V[], words: Record<V, string>) =>
  values.map(value => ({ value, label: words[value] }))

export const LANDINGS = optionsOf(LANDING_POLICIES, LANDING_WORDS)
export const APPROVALS = optionsOf(APPROVAL_MODES, { deny: 'Deny', ask: 'Ask a person' })
export const ISOLATION = optionsOf(ISOLATIONS, {
  private: 'A repository of its own',
  linked: 'A linked worktree (weaker)',
})

const capitals = <V extends string>(values: readonly V[]) => values.map(value => ({ value, label: capital(value) }))

export const PRESETS = capitals(TOOL_PRESETS)
export const KINDS = capitals(['implement', 'fix', 'test', 'review', 'explore', 'plan'])

const OPTIONS: Record<string, readonly { value: string; label: string }[]> = {
  tool_preset: PRESETS,
  approvals: APPROVALS,
  landing: LANDINGS,
  engine: optionsOf(ENGINES, ENGINE_WORDS),
}

/** A value of a setting, as its field offers it. */
export const valueWords = (field: string, value: string | number): string =>
  OPTIONS[field]?.find(option => option.value === value)?.label ?? String(value)
