/** The result of a workflow stage, for the stages after it. */
export const STAGE_STATUSES = ['completed', 'blocked', 'failed', 'skipped'] as const
export type StageStatus = (typeof STAGE_STATUSES)[number]
