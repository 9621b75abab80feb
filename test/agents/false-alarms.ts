import type { Step } from '../model/index.ts'

/** Words that a careless reader would take for a rate limit or a missing sign-in. */
export const ALARMING = 'line 1429: rate limit exceeded, HTTP 429, authentication required, 401 Unauthorized'

/** An agent that gets them from a failing tool, and says them itself. */
export const FALSE_ALARMS: readonly Step[] = [{ run: `echo '${ALARMING}' >&2; false` }, { say: ALARMING }]
