import { NotFound } from '../domain/errors.ts'
import type { Operation } from '../operations/operation.ts'

/** The most common operations are found without loading the others, which would take longer than most answers. */
export async function operationOf(name: string): Promise<Operation> {
  const { missions } = await import('../operations/missions.ts')
  const near = (missions as unknown as readonly Operation[]).find(operation => operation.name === name)
  const found = near ?? (await import('../operations/index.ts')).operationNamed(name)
  if (!found) throw new NotFound('operation', name, { try: 'fleet call' })
  return found
}
