/** The choices for some settings. They are kept apart from the schemas, which would make the page much larger. */
export const LANDING_POLICIES = ['auto', 'review', 'pull-request', 'never'] as const
export const LANDING_WORDS: Record<(typeof LANDING_POLICIES)[number], string> = {
  auto: 'Automatically, when checks pass',
  review: 'After a review',
  'pull-request': 'Through a pull request',
  never: 'Never: keep the branch',
}
export const TOOL_PRESETS = ['full', 'implement', 'review', 'test', 'explore', 'fix'] as const
export const ENGINES = ['cli', 'sdk'] as const
export const ENGINE_WORDS: Record<(typeof ENGINES)[number], string> = {
  cli: 'Command line',
  sdk: 'Claude Agent SDK (must be installed)',
}
export const APPROVAL_MODES = ['deny', 'ask'] as const
export const ISOLATIONS = ['private', 'linked'] as const
export const DECISIONS = ['allow', 'deny'] as const
