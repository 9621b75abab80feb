/** What a prompt template may use from an earlier stage. */
export const STAGE_FACTS = ['summary', 'files', 'next_steps', 'status', 'result', 'branch'] as const
export type StageFact = (typeof STAGE_FACTS)[number]

export type Variable = { of: 'task' } | { of: 'stage'; stage: string; fact: StageFact }

const VARIABLE = new RegExp(`\\{(?:task_prompt|stage_([\\p{L}\\p{N}_-]+?)_(${STAGE_FACTS.join('|')}))\\}`, 'gu')

/** The name of a stage in a variable: its number, or its name with `_` for everything but letters and digits. */
export const keyOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_')

const variableOf = (stage: string | undefined, fact: string | undefined): Variable =>
  stage === undefined ? { of: 'task' } : { of: 'stage', stage: keyOf(stage), fact: fact as StageFact }

export const variablesIn = (template: string): Variable[] =>
  [...template.matchAll(VARIABLE)].map(([, stage, fact]) => variableOf(stage, fact))

/** Fills in all variables in one pass, so a value is never read as a variable. Other braces stay as they are. */
export const fillIn = (template: string, value: (variable: Variable) => string): string =>
  template.replace(VARIABLE, (_, stage, fact) => value(variableOf(stage, fact)))

const NAMED = /\{([a-z][a-z0-9_]*)\}/g

/** The names that a text uses. */
export const namedIn = (text: string): Set<string> => new Set([...text.matchAll(NAMED)].map(([, name]) => name!))

/** The same for names that a person chose. Only names with a value are filled in. */
export const fillInNamed = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(NAMED, (whole, name) => (Object.hasOwn(values, name) ? values[name]! : whole))
