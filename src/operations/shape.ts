import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { problemOf } from '../domain/rules/input-words.ts'
import type { Method, Operation } from './operation.ts'

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
  /** Whether the other fields are in the query or in the body. */
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

/** The input of an operation or a tool, or a refusal that names the field. */
export function parseInput(operation: Pick<Operation, 'input'>, raw: unknown): Record<string, unknown> {
  const parsed = operation.input.safeParse(raw)
  if (!parsed.success) throw refusalOf(parsed.error)
  return parsed.data
}

/** Models write null for a field they leave out. If null is not a value of that field, treat it as left out. */
export function withoutNulls({ input }: Pick<Operation, 'input'>, raw: object): object {
  const takesNull = (name: string): boolean => input.shape[name]?.safeParse(null).success ?? true
  return Object.fromEntries(Object.entries(raw).filter(([name, value]) => value !== null || takesNull(name)))
}

function refusalOf({ issues }: z.ZodError): InvalidInput {
  const issue = issues[0]!
  if (issue.code === 'unrecognized_keys') {
    return new InvalidInput([...issue.path, issue.keys[0]].join('.'), 'is not a field of this operation', {
      try: 'docs/reference/operations.md, or /docs on the server, lists its fields.',
    })
  }
  return new InvalidInput(issue.path.join('.') || 'input', problemOf(issue))
}
