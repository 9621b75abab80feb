/** Events that may need somebody's attention, and ends. */
export const NEWSWORTHY = [
  'asked',
  'needs_input',
  'conflict',
  'limit_reached',
  'review_wanted',
  'landing_waits',
  'pull_request_opened',
  'landed',
  'kept',
  'failed',
  'plan_proposed',
  'workflow_ended',
  'loop_ended',
] as const
