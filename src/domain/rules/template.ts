/** What a prompt template may ask of a stage before it. */
export const STAGE_FACTS = ['summary', 'files', 'next_steps', 'status', 'result', 'branch'] as const
export type StageFact = (typeof STAGE_FACTS)[number]

export type Variable = { of: 'task' } | { of: 'stage'; stage: string; fact: StageFact }

const VARIABLE = new RegExp(`\\{(?:task_prompt|stage_([\\p{L}\\p{N}_-]+?)_(${STAGE_FACTS.join('|')}))\\}`, 'gu')

/** How a stage is called in a variable: by its number, or by its name with whatever else than letters as `_`. */
export const keyOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_')

const variableOf = (stage: string | undefined, fact: string | undefined): Variable =>
  stage === undefined ? { of: 'task' } : { of: 'stage', stage: keyOf(stage), fact: fact as StageFact }

export const variablesIn = (template: string): Variable[] =>
  [...template.matchAll(VARIABLE)].map(([, stage, fact]) => variableOf(stage, fact))

/** In one pass: what a value says is never taken for a variable. Any other brace stays as it is. */
export const fillIn = (template: string, value: (variable: Variable) => string): string =>
  template.replace(VARIABLE, (_, stage, fact) => value(variableOf(stage, fact)))

const NAMED = /\{([a-z][a-z0-9_]*)\}/g

/** Which of these names a text has a place for. */
export const namedIn = (text: string): Set<string> => new Set([...text.matchAll(NAMED)].map(([, name]) => name!))

/** The same for names of a person's own choice: only those that have a value are filled in. */
export const fillInNamed = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(NAMED, (whole, name) => (Object.hasOwn(values, name) ? values[name]! : whole))
