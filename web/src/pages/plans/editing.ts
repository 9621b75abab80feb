import type { Output } from '../../api/client.ts'

type Shown = Output<'get_plan'>['missions'][number]
export type Planned = Omit<Shown, 'mission_id' | 'status'>

/** In the form that the server accepts, without its results. */
export const editable = ({ mission_id, status, ...planned }: Shown): Planned => planned

export const changed = (plan: readonly Planned[], key: string, change: Partial<Planned>): Planned[] =>
  plan.map(each => (each.key === key ? { ...each, ...change } : each))

/** Removes a mission. Its dependents get its dependencies. */
export function removed(plan: readonly Planned[], key: string): Planned[] {
  const before = plan.find(each => each.key === key)?.depends_on ?? []
  return plan
    .filter(each => each.key !== key)
    .map(each =>
      each.depends_on.includes(key)
        ? { ...each, depends_on: [...new Set([...each.depends_on.filter(other => other !== key), ...before])] }
        : each,
    )
}

export function added(plan: readonly Planned[]): { plan: Planned[]; key: string } {
  const taken = new Set(plan.map(each => each.key))
  let number = plan.length + 1
  while (taken.has(`m${number}`)) number++
  const key = `m${number}`
  const mission: Planned = {
    key,
    title: 'New mission',
    prompt: '',
    acceptance_criteria: '',
    mission_type: 'implement',
    depends_on: [],
    agent: null,
    model: null,
    priority: 0,
    estimate_minutes: null,
    estimate_usd: null,
  }
  return { plan: [...plan, mission], key }
}

/** Whether the first depends, directly or not, on the second. */
export function reaches(plan: readonly Planned[], from: string, to: string): boolean {
  const needs = new Map(plan.map(each => [each.key, each.depends_on]))
  const seen = new Set<string>()
  const look = (key: string): boolean => {
    if (key === to) return true
    if (seen.has(key)) return false
    seen.add(key)
    return (needs.get(key) ?? []).some(look)
  }
  return look(from)
}

/** Makes `to` depend on `from`; undefined if that would close a cycle. */
export function connected(plan: readonly Planned[], from: string, to: string): Planned[] | undefined {
  if (reaches(plan, from, to)) return undefined
  return plan.map(each => (each.key === to ? { ...each, depends_on: [...new Set([...each.depends_on, from])] } : each))
}

export const disconnected = (plan: readonly Planned[], from: string, to: string): Planned[] =>
  plan.map(each => (each.key === to ? { ...each, depends_on: each.depends_on.filter(key => key !== from) } : each))
