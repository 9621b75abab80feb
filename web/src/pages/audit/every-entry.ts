import { ask, type Input, type Output } from '../../api/client.ts'

const PAGE = 500
/** More than this is too much for a browser. `fleet audit --json` has no limit. */
const MOST = 20_000

/** The newest last, as in a log file. */
export async function everyEntry(
  filter: Omit<Input<'list_audit'>, 'limit' | 'cursor'>,
): Promise<{ lines: object[]; isCut: boolean }> {
  const read: Output<'list_audit'>['entries'] = []
  let cursor: string | undefined
  do {
    const page = await ask('list_audit', { ...filter, limit: PAGE, cursor })
    read.push(...page.entries)
    cursor = page.cursor
  } while (cursor !== undefined && read.length < MOST)
  return { lines: read.toReversed(), isCut: cursor !== undefined }
}
