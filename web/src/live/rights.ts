import type { Permission } from '../../../src/operations/permissions.ts'
import type { Name, Output } from '../api/client.ts'

export type Me = Output<'who_am_i'>

/**
 * Whether one may use an operation, or has a permission. Without a project: anywhere. `null`: in the whole fleet. What
 * an operation needs comes from its definition, so the page and the server cannot disagree.
 */
export type May = (what: Name | Permission, projectId?: string | null) => boolean

/** The server decides. This is what the page offers. */
export function mayOf(me: Me | undefined, needs: Readonly<Record<string, string>>): May {
  if (!me || me.kind === 'owner') return () => true
  const reach = new Map(me.permissions.map(({ permission, projects }) => [permission, projects]))
  return (what, projectId) => {
    const [permission = '', concerns] = (needs[what] ?? what).split(' ')
    const projects = reach.get(permission)
    if (projects === undefined) return false
    if (projects === null || permission === 'self.manage') return true
    if (projectId === null || concerns === 'fleet') return false
    if (projectId === undefined) return concerns !== 'either'
    return projects.includes(projectId)
  }
}
