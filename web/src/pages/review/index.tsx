import { Text } from '@radix-ui/themes'
import { GitPullRequestArrow } from 'lucide-react'
import { useRef } from 'react'
import { useSearchParams } from 'wouter'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { takeLastBack } from '../../kit/deciding.ts'
import { KeyHelp } from '../../kit/key-help.tsx'
import { Answer, Empty, Lines, Page, Section } from '../../kit/page.tsx'
import { plural } from '../../kit/words.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { GROUPS, grouped, useQueue } from './queue.ts'
import './queue.css'
import { QueueRow } from './queue-row.tsx'

/** Finished work that waits for a person, the riskiest first. */
export default function ReviewQueue() {
  const [search, setSearch] = useSearchParams()
  const project = search.get('project')
  const queue = useQueue(project ?? undefined)
  const nameOf = useProjectNames()
  const list = useRef<HTMLDivElement>(null)
  const move = (step: 1 | -1) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('.queue-title') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links.at(at === -1 ? (step === 1 ? 0 : -1) : (at + step) % links.length)?.focus()
  }
  useShortcuts([
    { keys: 'j', title: 'Next mission to review', run: () => move(1) },
    { keys: 'k', title: 'Previous mission to review', run: () => move(-1) },
    { keys: 'u', title: 'Undo the last decision', run: takeLastBack },
  ])
  return (
    <Page
      title="Review"
      about="Finished work that waits for your decision, the riskiest first."
      actions={<ProjectChooser value={project} none="All projects" set={id => setSearch(id ? { project: id } : {})} />}
    >
      <div ref={list}>
        <Answer of={queue} loading={<Lines rows={5} height={92} />}>
          {({ reviews, more }) =>
            reviews.length === 0 ? (
              <Empty icon={GitPullRequestArrow} title="Nothing waits for you">
                Work appears here when its landing policy is review, when a check fails, or when two missions change the
                same lines. You see its diff, its checks and what makes it risky.
              </Empty>
            ) : (
              <>
                <KeyHelp keys={{ 'j k': 'up and down', Enter: 'look at it', u: 'undo' }} />
                {grouped(reviews).map(([name, those]) => (
                  <Section key={name} title={`${GROUPS[name]} (${those.length})`}>
                    <ul className="queue">
                      {those.map(review => (
                        <QueueRow key={review.mission.id} review={review} project={nameOf(review.mission.project_id)} />
                      ))}
                    </ul>
                  </Section>
                ))}
                {more > 0 && (
                  <Text as="p" size="2" color="gray" mt="3">
                    {plural(more, 'more mission')} waiting.
                  </Text>
                )}
              </>
            )
          }
        </Answer>
      </div>
    </Page>
  )
}
