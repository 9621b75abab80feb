/** How a stage of a workflow went, for those after it. */
export const STAGE_STATUSES = ['completed', 'blocked', 'failed', 'skipped'] as const
export type StageStatus = (typeof STAGE_STATUSES)[number]
