import * as z from 'zod'
import { cell, code, table } from './markdown.ts'

export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  description?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

export const schemaOf = (type: z.ZodType, io: 'input' | 'output'): Schema =>
  z.toJSONSchema(type, { io, unrepresentable: 'any' }) as Schema

export function fieldTable({ properties = {}, required = [] }: Schema, isInput: boolean): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const must = isInput && required.includes(name) ? ' **required**' : ''
    const fallback =
      isInput && schema.default !== undefined && schema.default !== null
        ? ` (default: ${code(JSON.stringify(schema.default))})`
        : ''
    return [code(name) + must, cell(typeText(schema, isInput)), cell(schema.description ?? '') + fallback]
  })
  return table([isInput ? 'input' : 'field', 'type', 'meaning'], rows)
}

/** Bounds matter to people who fill in a field, not to those who read it. */
function typeText(schema: Schema, withBounds: boolean): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' or ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map(each => typeText(each, withBounds)))].join(' or ')
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {}, withBounds)}`
  const text = [schema.type ?? 'anything'].flat().join(' or ')
  return withBounds ? text + bounds(schema) : text
}

/** The widest bounds of JSON are left out: they say nothing. */
function bounds({ minimum, maximum, maxLength }: Schema): string {
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined
  if (low !== undefined && high !== undefined) return ` ${low}–${high}`
  if (low !== undefined) return ` ≥ ${low}`
  return maxLength === undefined ? '' : `, at most ${maxLength} characters`
}
