import { keyOf, STAGE_FACTS, type StageFact, type Variable } from './template.ts'

/** Values that others wrote reach a script as data: in environment variables and files, never in its text. */

const MENTIONED = new RegExp(
  `FLEET_(?:TASK_PROMPT|STAGE_([A-Z0-9_]+?)_(${STAGE_FACTS.join('|').toUpperCase()}))(?:_FILE)?(?![A-Za-z0-9_])`,
  'g',
)

/** The workflow variables that a script names, without `_FILE`. */
export function mentionedIn(script: string): Map<string, Variable> {
  const found = [...script.matchAll(MENTIONED)].map(([, stage, fact]): [string, Variable] =>
    stage === undefined
      ? ['FLEET_TASK_PROMPT', { of: 'task' }]
      : [`FLEET_STAGE_${stage}_${fact}`, { of: 'stage', stage: keyOf(stage), fact: fact!.toLowerCase() as StageFact }],
  )
  return new Map(found)
}

/**
 * The environment variable that replaces a variable in braces. A stage whose name has other than plain letters goes by
 * its number.
 */
export function nameOf(variable: Variable, number: number | undefined): string {
  if (variable.of === 'task') return 'FLEET_TASK_PROMPT'
  const stage = /^[a-z0-9_]+$/.test(variable.stage) ? variable.stage : String(number ?? variable.stage)
  return `FLEET_STAGE_${stage}_${variable.fact}`.toUpperCase()
}

/** The variable that stands for a value of a saved template. */
export const valueName = (name: string): string => `FLEET_VAR_${name.toUpperCase()}`

/**
 * The most that one variable, and all together, may hold, because an environment is small. The files hold everything.
 */
const MOST_BYTES = 32 * 1024
const MOST_TOGETHER = 256 * 1024

interface Given {
  env: Record<string, string>
  /** By file name. */
  files: Record<string, string>
}

/** Gives values to a script: each in a file, and in the environment as far as there is room. */
export function givenTo(values: Readonly<Record<string, string>>, pathOf: (file: string) => string): Given {
  const given: Given = { env: {}, files: {} }
  let room = MOST_TOGETHER
  for (const [name, value] of Object.entries(values)) {
    const file = `variable-${name}`
    given.files[file] = value
    given.env[`${name}_FILE`] = pathOf(file)
    const text = fitting(value, `${name}_FILE`)
    room -= Buffer.byteLength(text)
    if (room >= 0) given.env[name] = text
  }
  return given
}

/** A program's environment ends at a null character, so none may be in it. */
function fitting(value: string, whole: string): string {
  const plain = value.replaceAll('\0', '\u{FFFD}')
  if (Buffer.byteLength(plain) <= MOST_BYTES) return plain
  const head = Buffer.from(plain)
    .subarray(0, MOST_BYTES)
    .toString('utf8')
    .replace(/\u{FFFD}+$/u, '')
  return `${head}\n… (cut here: all of it is in the file $${whole})`
}
