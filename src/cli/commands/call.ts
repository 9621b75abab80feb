import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { type Cli, does, textFrom } from '../command.ts'

export function addCall(program: Command): void {
  const call = program
    .command('call')
    .description('ask for any operation by name; alone, list them')
    .argument('[operation]', 'its name, or <plugin>.<tool>')
    .argument('[input]', 'its input as JSON; - reads it from the input, @file from a file')
    .option('--json <input>', 'the same')
  does(call, async (cli, [name, input], options) => {
    if (!name) return listOperations(cli)
    const given = inputOf(await textFrom(cli, input ?? (typeof options.json === 'string' ? options.json : '{}')))
    const client = await cli.client()
    const [plugin, tool] = name.split('.')
    if (tool) return void cli.terminal.data(await client.call('call_plugin_tool', { plugin, tool, input: given }))
    const { operationOf } = await import('../operation-of.ts')
    const operation = await operationOf(name)
    if (operation.kind !== 'stream') return void cli.terminal.data(await client.call(name, given))
    const leaving = new AbortController()
    process.once('SIGINT', () => leaving.abort())
    for await (const item of client.stream(name, given, leaving.signal))
      if (item.kind !== 'ping') cli.terminal.print(JSON.stringify(item))
  })
}

function inputOf(text: string): object {
  try {
    const input: unknown = JSON.parse(text)
    if (input && typeof input === 'object' && !Array.isArray(input)) return input
  } catch {
    // Said below: anything but an object is refused in the same words.
  }
  throw new InvalidInput('input', 'must be a JSON object', {
    try: `fleet call get_mission --json '{"mission_id": "…"}'`,
  })
}

async function listOperations({ terminal }: Cli): Promise<undefined> {
  const { OPERATIONS } = await import('../../operations/index.ts')
  const list = OPERATIONS.map(({ name, kind, summary, http }) => ({ name, kind, summary, http }))
  if (terminal.json) return void terminal.data({ operations: list })
  terminal.table(
    [
      { title: 'OPERATION', value: (each: (typeof list)[number]) => each.name },
      { title: 'KIND', value: each => each.kind },
      { title: 'WHAT IT DOES', value: each => each.summary, flexible: true },
    ],
    list,
  )
}
