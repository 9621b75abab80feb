/** The choices for some settings. They are kept apart from the schemas, which would make the page much larger. */
export const LANDING_POLICIES = ['auto', 'review', 'pull-request', 'never'] as const
export const TOOL_PRESETS = ['full', 'implement', 'review', 'test', 'explore', 'fix'] as const
export const ENGINES = ['cli', 'sdk'] as const
export const APPROVAL_MODES = ['deny', 'ask'] as const
export const ISOLATIONS = ['private', 'linked'] as const
