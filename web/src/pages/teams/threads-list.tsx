import { Button } from '@radix-ui/themes'
import { Mail as MailIcon } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { Answer, Empty } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'
import { FIRST_MAIL, useMail } from './asks.ts'
import { ThreadCard } from './thread.tsx'
import { threadsOf } from './threads.ts'
import type { Member, Team } from './words.ts'

const MOST = 500

/** The mail of a team as conversations, the newest first. */
export function Threads({ team, myself }: { team: Team; myself: Member | undefined }) {
  const [search] = useSearchParams()
  const wanted = search.get('thread')
  const [limit, setLimit] = useState(FIRST_MAIL)
  const mail = useMail(team, limit)
  const threads = useMemo(() => threadsOf(mail.data?.messages ?? []), [mail.data])
  const isBeyond = !!wanted && !!mail.data && !threads.some(({ id }) => id === wanted)
  const older = useAsk('list_mail', { thread: wanted ?? '', limit: MOST }, { enabled: isBeyond })
  const linked = useMemo(() => threadsOf(older.data?.messages.toReversed() ?? []), [older.data])
  return (
    <Answer of={mail}>
      {({ cursor }) => {
        const shown = [...(isBeyond ? linked : []), ...threads]
        if (!shown.length)
          return (
            <Empty icon={MailIcon} title="No mail yet">
              What members and people of this team write to each other appears here, with what became of each message.
            </Empty>
          )
        return (
          <>
            <ul className="threads" aria-label="Threads">
              {shown.map(thread => (
                <li key={thread.id}>
                  <ThreadCard team={team} thread={thread} myself={myself} isWanted={thread.id === wanted} />
                </li>
              ))}
            </ul>
            {cursor && limit < MOST && (
              <Button variant="soft" color="gray" highContrast mt="3" onClick={() => setLimit(MOST)}>
                Show older mail
              </Button>
            )}
          </>
        )
      }}
    </Answer>
  )
}
