import type { FastifyRequest } from 'fastify'
import { InvalidInput } from '../domain/errors.ts'

const KEY = /^[\x21-\x7e]{1,200}$/

/** A command repeated with this key is carried out once. */
export function idempotencyKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !KEY.test(key))
    throw new InvalidInput('Idempotency-Key', 'must be 1 to 200 letters, digits or signs without spaces')
  return key
}
