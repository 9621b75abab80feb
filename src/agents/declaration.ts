import { basename, dirname, isAbsolute } from 'node:path'
import * as z from 'zod'
import type { Detected } from './contract.ts'
import { versionOf, which } from './detect.ts'
import { pick } from './environment.ts'

export const Variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable, such as API_KEY')

const Environment = z.strictObject({
  pass: z.array(Variable).max(100).default([]).describe('variables of the server that it may see'),
  set: z.record(Variable, z.string().max(4000)).default({}).describe('variables with a fixed value'),
})

/** What a person says of an agent, whatever its kind. */
export const Declaration = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be small letters, digits and -, beginning with a letter, at most 40'),
  title: z.string().min(1).max(80).optional(),
  provider: z.string().min(1).max(40).optional().describe('whose rate limits it shares; empty: its own'),
  command: z.tuple([z.string().min(1)], z.string()).describe('the program and its arguments; no shell reads it'),
  environment: Environment.default({ pass: [], set: {} }),
  models: z
    .array(z.strictObject({ name: z.string().min(1), alias: z.string().min(1).optional() }))
    .max(100)
    .default([]),
  folders: z
    .array(z.string().regex(/^(~\/|\/)./, 'must begin with / or ~/'))
    .max(20)
    .default([])
    .describe('what it keeps for itself, such as ~/.liner, and may change also inside the sandbox'),
  install: z.string().max(400).optional().describe('how to get it, for people who do not have it'),
})
export type Declaration = z.infer<typeof Declaration>

type Variables = Readonly<Record<string, string | undefined>>

/** An agent's own configuration and sign-in lie in its home; everything else is named by whoever declared it. */
export const environmentFor = ({ environment }: Declaration, variables: Variables): Record<string, string> => ({
  ...pick(variables, ['HOME', 'PATH', ...environment.pass]),
  ...environment.set,
})

/** Whether it is signed in nobody can tell of a client that is not known. */
export async function detectDeclared(
  { command, install, title, name }: Declaration,
  variables: Variables,
): Promise<Detected> {
  const [program] = command
  const path = await pathOf(program, variables)
  if (!path)
    return {
      installed: false,
      advice: install ?? `${title ?? name} is declared, but there is no ${program} on the PATH.`,
    }
  const version = await versionOf(path, variables)
  return version ? { installed: true, path, version } : { installed: true, path }
}

const pathOf = (program: string, variables: Variables): Promise<string | undefined> =>
  isAbsolute(program) ? which(basename(program), { PATH: dirname(program) }) : which(program, variables)
