import type { Step } from '../model/index.ts'

/** Words that a careless reader takes for a rate limit or a missing sign-in. */
export const ALARMING = 'line 1429: rate limit exceeded, HTTP 429, authentication required, 401 Unauthorized'

/** An agent that meets them in a tool that fails, and says them itself. */
export const FALSE_ALARMS: readonly Step[] = [{ run: `echo '${ALARMING}' >&2; false` }, { say: ALARMING }]
