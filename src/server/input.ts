import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import type { Method, Operation } from '../operations/operation.ts'

export interface JsonSchema {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  description?: string
  [keyword: string]: unknown
}

export interface Route {
  method: Method
  path: string
  /** The fields of the input that the path names. */
  pathFields: string[]
  /** Where the other fields travel. */
  rest: 'query' | 'body'
}

export function routeOf({ http }: Pick<Operation, 'http'>): Route {
  const [method, path] = http.split(' ') as [Method, string]
  const pathFields = Array.from(path.matchAll(/:(\w+)/g), match => match[1]!)
  return { method, path, pathFields, rest: method === 'GET' || method === 'DELETE' ? 'query' : 'body' }
}

export function jsonSchema(type: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(type, { io, unrepresentable: 'any' })
  return schema as JsonSchema
}

/** Reads an operation's input out of a request; the conversion of query strings is worked out once. */
export function inputReader(operation: Operation): (request: FastifyRequest) => unknown {
  const { rest } = routeOf(operation)
  const fields = rest === 'query' ? (jsonSchema(operation.input, 'input').properties ?? {}) : {}
  return request => {
    const given =
      rest === 'query' ? fromQuery(request.query as Record<string, string | string[]>, fields) : fromBody(request.body)
    const resumed = operation.kind === 'stream' ? request.headers['last-event-id'] : undefined
    const raw = { ...given, ...(resumed && { after: resumed }), ...(request.params as object) }
    return parseInput(operation, raw)
  }
}

/** The input as the operation takes it, or a refusal that names the field. */
export function parseInput(operation: Operation, raw: unknown): unknown {
  const parsed = operation.input.safeParse(raw)
  if (!parsed.success) throw refusalOf(parsed.error)
  return parsed.data
}

function fromBody(body: unknown): object {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) throw new InvalidInput('body', 'must be a JSON object')
  return body
}

function fromQuery(query: Record<string, string | string[]>, fields: Record<string, JsonSchema>): object {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, converted(value, fields[name] ?? {})]))
}

/** What a text in an address means to a field of this kind; where it means nothing, the field's own rule says so. */
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

function refusalOf({ issues }: z.ZodError): InvalidInput {
  const issue = issues[0]!
  const field = issue.path.join('.') || 'input'
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  return new InvalidInput(field, missing ? `is missing; it must be of type ${issue.expected}` : issue.message)
}
