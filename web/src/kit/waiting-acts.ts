import { useMemo } from 'react'
import type { Name } from '../api/client.ts'
import { useCommand } from '../live/data.ts'
import { useMayDo } from '../live/me.ts'
import type { Mission } from '../live/mending.ts'
import { useDeciding } from './deciding.ts'
import { type Entry, projectOf } from './waiting.ts'

/** An action on an entry of the inbox. */
export interface Act {
  label: string
  needs: Name
  /** Its key in a list. */
  key?: 'a' | 'd'
  tone?: 'main' | 'bad'
  /** The label of a text to enter first. */
  words?: string
  /** Without words it says nothing. */
  wordsNeeded?: true
  run(words?: string): Promise<unknown>
}

const MAIN = { key: 'a', tone: 'main' } as const

/** The actions for an entry, most likely first. */
export function useActs(): (entry: Entry) => Act[] {
  const may = useMayDo()
  const approve = useCommand('approve_plan').run
  const rejectPlan = useCommand('reject_plan').run
  const { land, sendBack, reject } = useDeciding()
  const resume = useCommand('resume_mission').run
  const retry = useCommand('retry_mission').run
  const cancel = useCommand('cancel_mission').run
  const ack = useCommand('ack_mail').run
  const reply = useCommand('reply_mail').run
  const decline = useCommand('decline_mail').run
  const release = useCommand('release_mail').run
  return useMemo(() => {
    const landing = (mission: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Land',
      needs: 'land_mission',
      run: () => land(mission),
      ...rest,
    })
    const resuming = ({ id }: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Resume…',
      needs: 'resume_mission',
      words: 'The agent continues in the same conversation and worktree. A message is optional.',
      run: message => resume({ mission_id: id, message: message || undefined }),
      ...rest,
    })
    const retrying = ({ id }: Mission, rest: Partial<Act> = {}): Act => ({
      label: 'Retry',
      needs: 'retry_mission',
      run: () => retry({ mission_id: id }),
      ...rest,
    })
    const rejecting = (mission: Mission): Act => ({
      label: 'Reject',
      needs: 'reject_mission',
      key: 'd',
      tone: 'bad',
      run: () => reject(mission),
    })
    const cancelling = ({ id }: Mission): Act => ({
      label: 'Cancel',
      needs: 'cancel_mission',
      tone: 'bad',
      run: () => cancel({ mission_id: id }),
    })
    const ofMission = (kind: Exclude<Entry['kind'], 'question' | 'plan' | 'mail'>, mission: Mission): Act[] => {
      if (kind === 'review')
        return [
          // It has no key, because work should be looked at before it is accepted.
          landing(mission, { tone: 'main' }),
          {
            label: 'Request changes…',
            needs: 'send_back_mission',
            words: 'The agent gets the new comments, then your message.',
            run: (message = '') => sendBack(mission, message),
          },
          rejecting(mission),
        ]
      if (kind === 'failure') return [retrying(mission, MAIN), resuming(mission)]
      const lands = mission.branch ? [landing(mission)] : []
      if (kind === 'conflict') return [resuming(mission, MAIN), ...lands, retrying(mission), rejecting(mission)]
      return [resuming(mission, MAIN), ...lands, retrying(mission), cancelling(mission)]
    }
    const ofMail = ({ id: mail_id, needs, from, deliveries }: Extract<Entry, { kind: 'mail' }>['mail']): Act[] => {
      if (deliveries.some(({ held }) => held !== null))
        return [{ label: 'Release', needs: 'release_mail', ...MAIN, run: () => release({ mail_id }) }]
      const isAsked = needs === 'reply' || needs === 'decision'
      const replying: Act = {
        label: 'Reply…',
        needs: 'reply_mail',
        ...(isAsked && MAIN),
        words: `${from.handle} is told, and wakes if it is idle.`,
        wordsNeeded: true,
        run: (body = '') => reply({ mail_id, body, wake: true }),
      }
      const acking: Act = {
        label: 'Acknowledge',
        needs: 'ack_mail',
        ...(!isAsked && MAIN),
        run: () => ack({ mail_id }),
      }
      const declining: Act = {
        label: 'Decline…',
        needs: 'decline_mail',
        key: 'd',
        tone: 'bad',
        words: 'Say why.',
        wordsNeeded: true,
        run: (reason = '') => decline({ mail_id, reason }),
      }
      const replies = from.member_id === null ? [] : [replying]
      if (needs === 'none') return [acking, ...replies]
      return isAsked ? [...replies, acking, declining] : [acking, ...replies, declining]
    }
    const all = (entry: Entry): Act[] => {
      // It is answered in its card, with typed words. No single key decides about a permission.
      if (entry.kind === 'question') return []
      if (entry.kind === 'plan')
        return [
          { label: 'Approve', needs: 'approve_plan', ...MAIN, run: () => approve({ plan_id: entry.id }) },
          {
            label: 'Reject…',
            needs: 'reject_plan',
            key: 'd',
            tone: 'bad',
            words: 'A reason is optional.',
            run: reason => rejectPlan({ plan_id: entry.id, reason: reason ?? '' }),
          },
        ]
      if (entry.kind === 'mail') return ofMail(entry.mail)
      return ofMission(entry.kind, entry.mission)
    }
    return entry => all(entry).filter(({ needs }) => may(needs, projectOf(entry)))
  }, [may, approve, rejectPlan, land, sendBack, reject, resume, retry, cancel, ack, reply, decline, release])
}
