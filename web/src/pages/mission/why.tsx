import { Button, Callout, Flex } from '@radix-ui/themes'
import { Hourglass, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { adviceForPage } from '../../api/advice.ts'
import { May } from '../../kit/may.tsx'
import { plain } from '../../kit/plain.ts'
import { asSentence, withoutIds } from '../../kit/without-ids.ts'
import { capital } from '../../kit/words.ts'
import { useCommand, useMissions } from '../../live/data.ts'
import { useWho, type Who } from '../../live/names.ts'
import { type Detail, isAsking } from './actions.ts'

/** Why it is not running, and what to do. */
export function Why({ mission }: { mission: Detail }) {
  const { status, status_reason, waits_for, warnings, taken_over } = mission
  const who = useWho()
  const on = waits_for.flatMap(each => each.on ?? [])
  const { missions } = useMissions({ ids: on, limit: 200 }, { enabled: on.length > 0 })
  if (isAsking(mission) || taken_over?.page) return null
  const advice = adviceForPage(status_reason?.try)
  const bad = status === 'failed' || status === 'needs_input' || status_reason?.code === 'checks_failed'
  const reasons = [...new Set([...waits_for.map(({ text }) => text), ...(status_reason ? [status_reason.text] : [])])]
  // Missions that were not read yet are named without a link.
  const unread = new Set(on.filter(id => !missions.some(mission => mission.id === id)))
  const lines = [...(taken_over ? [takenWords(taken_over, who)] : reasons), ...warnings].map(line =>
    asSentence(withoutIds(line, unread)),
  )
  if (!lines.length) return null
  return (
    <Callout.Root color={bad ? 'amber' : 'gray'} highContrast mb="4" role="status">
      <Callout.Icon>{bad ? <TriangleAlert size={16} /> : <Hourglass size={16} />}</Callout.Icon>
      <Callout.Text className="why">
        {lines.map(line => (
          <span key={line}>
            <Linked text={line} missions={missions} />
          </span>
        ))}
        {!taken_over && advice && <span>{plain(advice)}</span>}
        {status_reason?.code === 'checks_failed' && (
          <Link href={`/missions/${mission.id}?tab=checks`}>Show checks</Link>
        )}
        {missions
          .filter(mission => !lines.some(line => line.includes(mentionOf(mission))))
          .map(({ id, title }) => (
            <Link key={id} href={`/missions/${id}`}>
              {plain(title)}
            </Link>
          ))}
      </Callout.Text>
      {taken_over?.gone && (
        <May use="hand_back_mission" project={mission.project_id}>
          <HandBack mission={mission} />
        </May>
      )}
    </Callout.Root>
  )
}

type Named = Pick<Detail, 'id' | 'title'>

/** As the server names a mission in a sentence. */
const mentionOf = ({ id, title }: Named): string => `${title} (${id})`

/** A sentence in which the missions it names are links. */
function Linked({ text, missions }: { text: string; missions: readonly Named[] }): ReactNode {
  const found = missions.find(mission => text.includes(mentionOf(mission)))
  if (!found) return plain(text)
  const [before, ...after] = text.split(mentionOf(found))
  return (
    <>
      <Linked text={before!} missions={missions} />
      <Link href={`/missions/${found.id}`}>{plain(found.title)}</Link>
      <Linked text={after.join(mentionOf(found))} missions={missions} />
    </>
  )
}

const takenWords = ({ by, gone }: NonNullable<Detail['taken_over']>, who: Who): string =>
  gone
    ? 'The terminal that took over this mission is closed. What next?'
    : `${capital(who(by))} took this mission over in a terminal.`

/** Decides what happens with a mission that was taken over. */
export function HandBack({ mission }: { mission: Detail }) {
  const { run, busy } = useCommand('hand_back_mission')
  const give = (next: 'resume' | 'land' | 'keep') => run({ mission_id: mission.id, next })
  return (
    <Flex gap="2" align="center" wrap="wrap">
      <Button size="1" disabled={busy} onClick={() => give('resume')}>
        Let the agent continue
      </Button>
      <Button size="1" variant="soft" disabled={busy} onClick={() => give('land')}>
        Land the work
      </Button>
      <Button size="1" variant="soft" disabled={busy} onClick={() => give('keep')}>
        Keep for review
      </Button>
    </Flex>
  )
}
