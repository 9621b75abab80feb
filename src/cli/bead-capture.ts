import type { Agents } from '../agents/index.ts'
import { InvalidInput } from '../domain/errors.ts'
import { asMetadata } from '../domain/rules/beads.ts'

/** Options that make many beads from a file. bd accepts no metadata with them. */
const FROM_A_FILE = ['-f', '--file', '--graph']
const METADATA = '--metadata'

/** The arguments of `bd create`. The metadata of the bead records where the person is and what they chose. */
export function capturing(args: readonly string[], directory: string, agents: Agents): readonly string[] {
  const end = args.indexOf('--')
  const [options, rest] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end)]
  const coder = taken(options, '--coder')
  const model = taken(coder.left, '--model')
  const isFile = model.left.some(arg => FROM_A_FILE.some(flag => arg === flag || arg.startsWith(`${flag}=`)))
  if (isFile && (coder.value ?? model.value) === undefined) return args
  if (isFile) throw new InvalidInput('--coder', 'beads that come from a file cannot be given an agent or a model')
  if (coder.value !== undefined && agents.named(coder.value).can.scripts)
    throw new InvalidInput('--coder', `cannot be ${coder.value}, which runs text as a script: beads are prose`, {
      try: `For a script: fleet run --agent ${coder.value}`,
    })
  const own = taken(model.left, METADATA)
  const metadata = {
    ...(own.value === undefined ? {} : objectIn(own.value)),
    ...asMetadata({ directory, agent: coder.value, model: model.value }),
  }
  const [create, ...left] = own.left
  return [create!, METADATA, JSON.stringify(metadata), ...left, ...rest]
}

/** The value of an option, and the arguments without it. */
function taken(args: readonly string[], name: string): { value?: string; left: readonly string[] } {
  const at = args.findIndex(arg => arg === name || arg.startsWith(`${name}=`))
  if (at < 0) return { left: args }
  const inline = args[at] !== name
  const value = inline ? args[at]!.slice(name.length + 1) : args[at + 1]
  if (!value) throw new InvalidInput(name, 'needs a value')
  return { value, left: [...args.slice(0, at), ...args.slice(at + (inline ? 1 : 2))] }
}

function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Reported below, like any other invalid value.
  }
  throw new InvalidInput(METADATA, 'must be a JSON object, so that the folder and the agent can be added to it')
}
