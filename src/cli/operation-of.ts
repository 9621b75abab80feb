import { NotFound } from '../domain/errors.ts'
import { type Operation, operationNamed } from '../operations/index.ts'

export function operationOf(name: string): Operation {
  const found = operationNamed(name)
  if (!found) throw new NotFound('operation', name, { try: 'fleet call' })
  return found
}
