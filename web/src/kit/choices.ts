import { APPROVAL_MODES, ISOLATIONS, LANDING_POLICIES, LANDING_WORDS } from '../../../src/domain/choices.ts'

const optionsOf = <V extends string>(values: readonly V[], words: Record<V, string>) =>
  values.map(value => ({ value, label: words[value] }))

export const LANDINGS = optionsOf(LANDING_POLICIES, LANDING_WORDS)
export const APPROVALS = optionsOf(APPROVAL_MODES, { deny: 'Deny', ask: 'Ask a person' })
export const ISOLATION = optionsOf(ISOLATIONS, {
  private: 'A repository of its own',
  linked: 'A linked worktree (weaker)',
})
