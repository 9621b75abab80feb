import type { Event } from '../../domain/records/event.ts'
import { teamOfMission } from '../../domain/records/mission.ts'
import { type Notification, type NotificationSettings, whoseSettings } from '../../domain/records/notification.ts'
import type { Grant } from '../../domain/records/principal.ts'
import { neededBy, rightsFor } from '../../domain/rules/needs.ts'
import { quietUntil } from '../../domain/rules/quiet-hours.ts'
import { clipped, headOf, withoutControls } from '../../domain/text.ts'
import type { Fleet } from '../fleet.ts'
import { derivedId, readable } from '../records.ts'
import type { Destination } from './settings.ts'

/** The notifications about an event: one for each destination that wants to know. */
export async function madeOf(
  fleet: Fleet,
  event: Event,
  where: readonly Destination[],
  settings: NotificationSettings,
  may: Rights,
): Promise<Notification[]> {
  const needed = neededBy(event)
  if (!needed) return []
  const { need, words, path, question_id, plan_id } = needed
  const wanting = where.filter(({ channel, since }) => settings[channel].needs.includes(need) && event.time >= since)
  if (!wanting.length) return []
  const mission = event.mission_id ? (await readable(fleet, 'missions', event.mission_id))?.value : undefined
  const plan = plan_id ? (await readable(fleet, 'plans', plan_id))?.value : undefined
  if (!mission && !plan) return []
  // The agent of the parent is told first, and a loop decides about its own plans.
  if ((need === 'failed' && mission?.parent_mission_id) || plan?.loop_id) return []
  const principal_id = whoseSettings(settings.id)
  if (!(await concerns(fleet, { principal_id, need, question_id, plan_id, mission_id: event.mission_id }, may)))
    return []
  const now = fleet.now()
  const made = wanting.map(
    ({ channel, device_id }): Notification => ({
      id: derivedId('notification', event.cursor, channel, device_id ?? '', ...(principal_id ? [principal_id] : [])),
      ...{ principal_id, channel, device_id, event: event.cursor, need, question_id, plan_id },
      mission_id: event.mission_id,
      waits_in: typeof event.data.status === 'string' ? event.data.status : null,
      title: words,
      about: line(plan ? headOf(plan.goal) : (mission?.title ?? ''), 200),
      detail: line(event.cause ?? '', 500),
      path,
      status: 'waiting',
      ...{ tries: 0, outcome: null, created_at: now, updated_at: now },
      due_at: quietUntil(settings.quiet, now) ?? now,
    }),
  )
  const known = await Promise.all(made.map(({ id }) => fleet.store.get('notifications', id)))
  return made.filter((_, index) => !known[index])
}

/** Text of agents as one line without control characters: it becomes a subject, or a notification. */
const line = (text: string, max: number): string => clipped(withoutControls(text).replace(/\s+/g, ' ').trim(), max)

/** Whether these roles include one of these permissions in a project, for what is of this team in it. */
export type Rights = (grants: readonly Grant[], anyOf: readonly string[], projectId: string, teamId?: string) => boolean

/** Whether it concerns whom it is for: they may see it, and may do something about it. Everything concerns the owner. */
export async function concerns(
  fleet: Fleet,
  {
    principal_id,
    need,
    question_id,
    plan_id,
    mission_id,
  }: Pick<Notification, 'principal_id' | 'need' | 'question_id' | 'plan_id' | 'mission_id'>,
  may: Rights,
): Promise<boolean> {
  if (principal_id === null) return true
  const person = (await readable(fleet, 'principals', principal_id))?.value
  if (!person || person.ended_at) return false
  if (need === 'many' || need === 'test') return true
  const about = plan_id ? await readable(fleet, 'plans', plan_id) : await readable(fleet, 'missions', mission_id ?? '')
  const question = question_id ? (await readable(fleet, 'questions', question_id))?.value.kind : undefined
  if (!about) return false
  const { project_id } = about.value
  const team = 'task' in about.value ? teamOfMission(about.value) : undefined
  return may(person.grants, rightsFor({ need, plan_id }, question), project_id, team)
}

/** Whether it still waits for a person: they may have answered meanwhile. */
export async function stillNeeded(fleet: Fleet, notification: Notification): Promise<boolean> {
  const { need, question_id, plan_id, mission_id, waits_in } = notification
  if (need === 'many' || need === 'test') return true
  if (question_id) return (await readable(fleet, 'questions', question_id))?.value.status === 'open'
  if (plan_id) return (await readable(fleet, 'plans', plan_id))?.value.status === 'proposed'
  const mission = mission_id ? (await readable(fleet, 'missions', mission_id))?.value : undefined
  return mission !== undefined && (waits_in === null || mission.status === waits_in)
}
