import type { FastifyRequest } from 'fastify'
import { InvalidInput } from '../domain/errors.ts'
import { asOurs } from '../operations/aliases/index.ts'
import type { Operation } from '../operations/operation.ts'
import { type JsonSchema, jsonSchema, parseInput, routeOf } from '../operations/shape.ts'

/** Reads an operation's input from a request. How to convert query strings is computed once. */
export function inputReader(operation: Operation): (request: FastifyRequest) => Record<string, unknown> {
  const { rest } = routeOf(operation)
  const fields = rest === 'query' ? (jsonSchema(operation.input, 'input').properties ?? {}) : {}
  return request => {
    const given =
      rest === 'query' ? fromQuery(request.query as Record<string, string | string[]>, fields) : fromBody(request.body)
    const resumed = operation.kind === 'stream' ? request.headers['last-event-id'] : undefined
    const raw = { ...given, ...(resumed && { after: resumed }), ...(request.params as object) }
    return parseInput(operation, asOurs(operation.name, raw))
  }
}

function fromBody(body: unknown): object {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) throw new InvalidInput('body', 'must be a JSON object')
  return body
}

function fromQuery(query: Record<string, string | string[]>, fields: Record<string, JsonSchema>): object {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, converted(value, fields[name] ?? {})]))
}

/** Converts a text in an address for a field of this kind. If it cannot, the field's own rule reports the problem. */
function converted(value: string | string[], schema: JsonSchema): unknown {
  const kinds = [schema, ...(schema.anyOf ?? [])]
  const has = (type: string) => kinds.some(kind => [kind.type].flat().includes(type))
  const list = kinds.find(kind => kind.type === 'array')
  if (list) {
    const texts = [value].flat().flatMap(text => text.split(','))
    return texts.length === 1 && has('string') ? texts[0] : texts.map(text => converted(text, list.items ?? {}))
  }
  if (Array.isArray(value) || has('string')) return value
  if ((has('number') || has('integer')) && value.trim() !== '' && !Number.isNaN(Number(value))) return Number(value)
  if (has('boolean')) return BOOLEANS[value.toLowerCase()] ?? value
  return value
}

const BOOLEANS: Record<string, boolean> = { true: true, '1': true, '': true, false: false, '0': false }
