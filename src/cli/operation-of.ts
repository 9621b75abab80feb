import { NotFound } from '../domain/errors.ts'
import type { Operation } from '../operations/operation.ts'

/** The most common operations are found without loading the others, which would take longer than most answers. */
export async function operationOf(name: string): Promise<Operation> {
  const among = (operations: readonly unknown[]) =>
    (operations as readonly Operation[]).find(each => each.name === name)
  const found =
    among((await import('../operations/listing.ts')).listing) ??
    among((await import('../operations/missions.ts')).missions) ??
    (await import('../operations/index.ts')).operationNamed(name)
  if (!found) throw new NotFound('operation', name, { try: 'fleet call' })
  return found
}
