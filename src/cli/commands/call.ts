import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { type Cli, does, textFrom } from '../command.ts'

export function addCall(program: Command): void {
  const call = program
    .command('call')
    .description('call any operation by name, or list them all')
    .argument('[operation]', 'operation name, or <plugin>.<tool>')
    .argument('[input]', 'input as JSON; - reads stdin, @file reads a file')
    .option('--json <input>', 'same as [input]')
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
    // Anything that is not an object is refused below.
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
