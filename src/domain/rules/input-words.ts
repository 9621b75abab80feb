import type { z } from 'zod'

type Issue = z.ZodError['issues'][number]

/** What is wrong with an input, as the end of a sentence that begins with its field. */
export function problemOf(issue: Issue): string {
  // If a union does not match, report the problem with its first shape, which people usually mean.
  if (issue.code === 'invalid_union' && issue.errors[0]?.[0]) return problemOf(issue.errors[0][0])
  // A schema that has words of its own knows better.
  return /^(Too (small|big)|Invalid )/.test(issue.message) ? wordsFor(issue) : issue.message
}

function wordsFor(issue: Issue): string {
  switch (issue.code) {
    case 'too_small':
      if (counts(issue.origin) && Number(issue.minimum) <= 1) return 'must not be empty'
      return counts(issue.origin)
        ? `must have at least ${amount(issue.minimum, issue.origin)}`
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
    case 'too_big':
      return counts(issue.origin)
        ? `may have at most ${amount(issue.maximum, issue.origin)}`
        : `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`
    case 'invalid_type': {
      const type = TYPES[issue.expected] ?? `of type ${issue.expected}`
      return issue.message.endsWith('received undefined') ? `is missing; it must be ${type}` : `must be ${type}`
    }
    case 'invalid_value':
      return `must be ${issue.values
        .map(String)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not in the right form'
    default:
      return 'is not valid'
  }
}

const counts = (origin: string): boolean => origin === 'string' || origin === 'array' || origin === 'set'

const amount = (count: number | bigint, origin: string): string => {
  const [one, many] = origin === 'string' ? ['character', 'characters'] : ['entry', 'entries']
  return `${count} ${Number(count) === 1 ? one : many}`
}

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const FORMATS: Record<string, string> = {
  datetime: 'must be a time such as 2026-11-18T09:30:00Z',
  date: 'must be a date such as 2026-11-18',
  url: 'must be a web address such as https://example.com',
  email: 'must be an e-mail address',
}

/** Fields whose names in the API are not the words of the page and the terminal. */
const NAMES: Record<string, string> = {
  handle: 'name',
  grants: 'roles',
  principal_id: 'person or service',
  detailed_prompt: 'task',
  default_agent: 'agent',
  daily_budget_usd: 'daily budget',
  budget_usd: 'budget',
}

/** The refusal of a field as a sentence for a person. Programs get it with the name of the field as they wrote it. */
export function forPeople(message: string, field: string | undefined): string {
  const prefix = `${field}: `
  if (!field || !/^[a-z][a-z_]*$/.test(field) || !message.startsWith(prefix)) return message
  const problem = ended(message.slice(prefix.length).replace(/(^is missing); it must be .*/, '$1'))
  if (/^is not a (setting|field)\b/.test(problem)) return `"${field}" ${problem}`
  if (/^[A-Z/"]/.test(problem)) return problem
  const name = NAMES[field] ?? field.replace(/_ids?$/, '').replaceAll('_', ' ')
  if (CONTINUES.test(problem)) return `The ${name} ${problem}`
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${problem}`
}

/** The problem goes on from its field: "must not be empty". */
const CONTINUES = /^(is|are|must|may|can|cannot|has|have|needs|names|belongs|sets|would|does)\b/

const ended = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)
