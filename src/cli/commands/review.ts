import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import type { Comment } from '../../domain/records/mission.ts'
import type { ReviewView } from '../../operations/reviews.ts'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, does, inputFrom, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { addImageOption, imagesFrom } from '../images.ts'
import { tellWork } from '../landing.ts'
import { RUN_FIELDS } from '../mission-fields.ts'
import { projectRef } from '../project-here.ts'
import { age, named } from '../show.ts'
import { tellMission } from '../show-mission.ts'

const ID = '<mission>'
const ID_SUMMARY = 'id or first letters'

export function addReview(program: Command): void {
  const review = program
    .command('review')
    .description('list finished work that waits for review, riskiest first, or show one with its risk')
    .argument('[mission]', ID_SUMMARY)
    .option('--project <project>', 'only this project: id, name or path')
    .option('--limit <n>', 'maximum number', Number, 50)
  does(review, (cli, [mission], options) => (mission ? showReview(cli, mission) : listReviews(cli, options)))

  const back = review
    .command('send-back')
    .description('request changes: send your comments to the agent and let it continue')
    .argument(ID, ID_SUMMARY)
  addImageOption(addFields(back, RUN_FIELDS))
    .option('-m, --message <text>', 'message for the agent; - reads stdin')
    .option('-f, --follow', 'watch it until it ends')
  does(back, async (cli, [id], options) => {
    const message = options.message === undefined ? undefined : await textFrom(cli, String(options.message))
    const input = { mission_id: id, ...inputFrom(RUN_FIELDS, options), message, ...(await imagesFrom(cli, options)) }
    const mission = await cli.ask<MissionView>('send_back_mission', input)
    if (options.follow) return (await import('../follow.ts')).followMission(cli, mission)
    await tellMission(cli, mission, 'Sent back')
  })

  const reject = review
    .command('reject')
    .description('reject the work; it does not land and is kept')
    .argument(ID, ID_SUMMARY)
    .option('-m, --message <text>', 'why')
  does(reject, async (cli, [mission_id], { message }) => {
    await tellMission(cli, await cli.ask<MissionView>('reject_mission', { mission_id, reason: message }), 'Rejected')
  })

  does(
    review.command('reconsider').description('undo a rejection').argument(ID, ID_SUMMARY),
    async (cli, [mission_id]) => {
      await tellMission(cli, await cli.ask<MissionView>('reconsider_mission', { mission_id }), 'Reconsidering')
    },
  )
}

const COLOURS = { low: 'green', medium: 'yellow', high: 'red' } as const
const sizeOf = ({ added, deleted }: ReviewView): string => `+${added} -${deleted}`

async function listReviews(cli: Cli, { project, limit }: Record<string, unknown>): Promise<number | undefined> {
  const { terminal } = cli
  const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
  const answer = await cli.ask<{ reviews: ReviewView[]; more: number }>('list_reviews', { project_id, limit })
  if (terminal.json) return void terminal.data(answer)
  if (!answer.reviews.length) return void terminal.print('Nothing waits for your review.')
  terminal.table<ReviewView>(
    [
      { title: 'ID', value: each => shortId(each.mission.id) },
      {
        title: 'RISK',
        value: ({ risk }) => `${risk.level} ${risk.score}`,
        paint: (text, { risk }) => terminal.paint(COLOURS[risk.level], text),
      },
      { title: 'SIZE', value: sizeOf, right: true },
      { title: 'TITLE', value: each => each.mission.title, flexible: true },
      { title: 'AGE', value: each => age(each.mission.updated_at), right: true },
      { title: 'BECAUSE', value: each => each.risk.reasons[0]?.text ?? '', flexible: true },
    ],
    answer.reviews,
  )
  if (answer.more) terminal.note(`There are ${answer.more} more: add --limit ${answer.reviews.length + answer.more}`)
  return EXIT.person
}

async function showReview(cli: Cli, mission_id: string): Promise<undefined> {
  const { terminal } = cli
  const review = await cli.ask<ReviewView>('get_review', { mission_id })
  const { comments } = await cli.ask<{ comments: Comment[] }>('list_comments', { mission_id, unsent: true })
  if (terminal.json) return void terminal.data({ ...review, comments })
  const { mission, risk, checks, candidate } = review
  const [id, line] = [shortId(mission.id), (text: string) => terminal.print(`  ${terminal.foreign(text)}`)]
  terminal.print(
    `${terminal.paint('bold', terminal.foreign(named(mission)))}  ${terminal.paint(COLOURS[risk.level], `${risk.level} risk`)}, ${sizeOf(review)}`,
  )
  for (const { text } of risk.reasons) line(text)
  for (const [name, state] of [
    [checks.passed, 'passed'],
    [checks.failed, 'failed'],
    [checks.missing, 'not run'],
  ] as const)
    if (name.length) line(`checks ${state}: ${name.join(', ')}`)
  if (candidate) line(`candidate ${candidate.commit}`)
  tellWork(cli, review)
  for (const { path, line: at, body } of comments) line(`not sent yet: ${path ? `${path}:${at ?? ''} ` : ''}${body}`)
  terminal.note(
    `fleet diff ${id}; then fleet land ${id}, fleet review send-back ${id} -m "…", or fleet review reject ${id}`,
  )
}
