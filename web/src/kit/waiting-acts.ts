import { useMemo } from 'react'
import { useCommand } from '../live/data.ts'
import type { Mission } from '../live/mending.ts'
import { useDeciding } from './deciding.ts'
import type { Entry } from './waiting.ts'

/** Something that can be done about what waits. */
export interface Act {
  label: string
  /** In a list, the key that does it. */
  key?: 'a' | 'd'
  tone?: 'main' | 'bad'
  /** Asked for before it is done; what they are for. */
  words?: string
  run(words?: string): Promise<unknown>
}

const MAIN = { key: 'a', tone: 'main' } as const

/** What can be done about an entry, the likeliest first. */
export function useActs(): (entry: Entry) => Act[] {
  const approve = useCommand('approve_plan').run
  const rejectPlan = useCommand('reject_plan').run
  const { land, sendBack, reject } = useDeciding()
  const resume = useCommand('resume_mission').run
  const retry = useCommand('retry_mission').run
  const cancel = useCommand('cancel_mission').run
  return useMemo(() => {
    const landing = (mission: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Land',
      run: () => land(mission),
      ...rest,
    })
    const resuming = ({ id }: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Resume…',
      words: 'What the agent is told; it goes on in the same conversation and worktree.',
      run: message => resume({ mission_id: id, message: message || undefined }),
      ...rest,
    })
    const retrying = ({ id }: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Retry',
      run: () => retry({ mission_id: id }),
      ...rest,
    })
    const rejecting = (mission: Mission): Act => ({
      label: 'Reject',
      key: 'd',
      tone: 'bad',
      run: () => reject(mission),
    })
    const cancelling = ({ id }: Mission): Act => ({
      label: 'Cancel',
      tone: 'bad',
      run: () => cancel({ mission_id: id }),
    })
    const ofMission = (kind: Exclude<Entry['kind'], 'question' | 'plan'>, mission: Mission): Act[] => {
      if (kind === 'review')
        return [
          // No key of its own: what a key accepts is looked at first.
          landing(mission, { tone: 'main' }),
          {
            label: 'Send back…',
            words: 'What the agent is told, after the remarks it was not told yet.',
            run: (message = '') => sendBack(mission, message),
          },
          rejecting(mission),
        ]
      if (kind === 'failure') return [retrying(mission, MAIN), resuming(mission)]
      const lands = mission.branch ? [landing(mission)] : []
      if (kind === 'conflict') return [resuming(mission, MAIN), ...lands, retrying(mission), rejecting(mission)]
      return [resuming(mission, MAIN), ...lands, retrying(mission), cancelling(mission)]
    }
    return entry => {
      // Answered in its card: words are typed there, and no single key decides about a permission.
      if (entry.kind === 'question') return []
      if (entry.kind === 'plan')
        return [
          { label: 'Approve', ...MAIN, run: () => approve({ plan_id: entry.id }) },
          {
            label: 'Reject…',
            key: 'd',
            tone: 'bad',
            words: 'Why, if you like.',
            run: reason => rejectPlan({ plan_id: entry.id, reason: reason ?? '' }),
          },
        ]
      return ofMission(entry.kind, entry.mission)
    }
  }, [approve, rejectPlan, land, sendBack, reject, resume, retry, cancel])
}
