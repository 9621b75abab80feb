import { shortId } from '../domain/ids.ts'
import { NotShown } from '../domain/rules/candidate.ts'
import type { ReviewView } from '../operations/reviews.ts'
import type { Cli } from './command.ts'
import { confirmed } from './confirm.ts'
import { named } from './show.ts'

const COMMANDS = { land: 'fleet land', push: 'fleet mission push' } as const

/** How much of a commit id people see, and scripts may send. */
export const SHOWN_CHARS = 12
const MOST_FILES = 40

/**
 * Shows what would land, and asks once; undefined: the person does not want it. What is shown is named in the request,
 * so nothing else can land. A script names a commit that it was shown, or says that it wants whatever is shown.
 */
export async function shown(
  cli: Cli,
  mission_id: string,
  { ask, verb = 'land' }: { ask: boolean; verb?: 'land' | 'push' },
): Promise<{ expected?: string } | undefined> {
  const { terminal } = cli
  const review = await cli.ask<ReviewView>('get_review', { mission_id })
  const { mission, candidate } = review
  // There is nothing to show. The server will say why it cannot land.
  if (!candidate) return {}
  const id = candidate.commit.slice(0, SHOWN_CHARS)
  if (ask && (!terminal.interactive || terminal.json))
    throw new NotShown(`Name the commit of mission ${mission.id} that you reviewed; it is ${candidate.commit} now.`, {
      try: `fleet diff ${shortId(mission.id)}, then ${COMMANDS[verb]} ${shortId(mission.id)} --commit ${id}`,
      facts: { candidate: candidate.commit },
    })
  if (!terminal.json) {
    terminal.print(`${terminal.paint('bold', terminal.foreign(named(mission)))}  candidate ${id}`)
    tellWork(cli, review)
  }
  if (!ask) return { expected: candidate.commit }
  return (await confirmed(terminal, verb === 'land' ? 'Land this?' : 'Push this?'))
    ? { expected: candidate.commit }
    : undefined
}

/** The files of a candidate, and the missions whose work it includes. */
export function tellWork({ terminal }: Cli, { files, files_omitted, includes }: ReviewView): void {
  const line = (text: string): void => terminal.print(`  ${terminal.foreign(text)}`)
  for (const { path, change, added, deleted } of files.slice(0, MOST_FILES))
    line(`${change} ${path}${added === null ? '' : ` +${added} -${deleted}`}`)
  const more = files.length - MOST_FILES + files_omitted
  if (more > 0) line(`and ${more} more files`)
  for (const each of includes) line(includedInWords(each))
}

export function includedInWords({
  title,
  mission_id,
  files,
  files_omitted,
  standing,
}: ReviewView['includes'][number]): string {
  const count = files.length + files_omitted
  const how = { landed: ', which has landed', approved: '', handed_on: '', unapproved: ', which is not approved' }
  return `includes ${count} file${count === 1 ? '' : 's'} of ${title} (${shortId(mission_id)})${how[standing]}`
}
