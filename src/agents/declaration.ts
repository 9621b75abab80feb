import { basename, dirname, isAbsolute } from 'node:path'
import * as z from 'zod'
import type { Detected } from './contract.ts'
import { versionOf, which } from './detect.ts'
import { pick } from './environment.ts'

export const Variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable, such as API_KEY')

const Environment = z.strictObject({
  pass: z.array(Variable).max(100).default([]).describe("names of the server's environment variables that it may see"),
  set: z.record(Variable, z.string().max(4000)).default({}).describe('variables with a fixed value'),
})

/** What a person declares about an agent of any kind. */
export const Declaration = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and -, beginning with a letter, at most 40'),
  title: z.string().min(1).max(80).optional(),
  provider: z.string().min(1).max(40).optional().describe('the provider whose rate limits it shares; empty: its own'),
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
    .describe('its own folders, such as ~/.liner, which it may change inside the sandbox too'),
  install: z.string().max(400).optional().describe('how to get it, for people who do not have it'),
})
export type Declaration = z.infer<typeof Declaration>

type Variables = Readonly<Record<string, string | undefined>>

/** An agent's configuration and sign-in are in its home. All other variables are named in its declaration. */
export const environmentFor = ({ environment }: Declaration, variables: Variables): Record<string, string> => ({
  ...pick(variables, ['HOME', 'PATH', ...environment.pass]),
  ...environment.set,
})

/** Nobody can tell whether an unknown client is signed in. */
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
