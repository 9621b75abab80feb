import type { Resource } from './offer.ts'

export const isTemplate = ({ uri }: Resource): boolean => uri.includes('{')

/**
 * The fields of an address that matches this template. Undefined: it does not match. Written by hand, because the SDK's
 * UriTemplate wants every field of a query, in its order, and decodes none: `diff{?offset}` would not match `diff`.
 */
export function fieldsOf(template: string, uri: string): Record<string, string> | undefined {
  const [form, optional = ''] = template.split('{?') as [string, string?]
  const [path, query = ''] = optional ? (uri.split('?') as [string, string?]) : [uri]
  const names: string[] = []
  const pattern = form.split(/\{(\w+)\}/).map((part, at) => {
    if (at % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    names.push(part)
    return '([^/?]+)'
  })
  const match = new RegExp(`^${pattern.join('')}$`).exec(path)
  if (!match) return undefined
  const known = optional.replace('}', '').split(',')
  const given = [...new URLSearchParams(query)].filter(([name]) => known.includes(name))
  try {
    return Object.fromEntries([...given, ...names.map((name, at) => [name, decodeURIComponent(match[at + 1]!)])])
  } catch {
    return undefined
  }
}
