import { Button, Flex, Text } from '@radix-ui/themes'
import { CheckCheck, PenLine, StickyNote } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { useSwarms } from './asks.ts'
import { Filter } from './filter.tsx'
import type { PartProps } from './part.ts'
import { POST_TYPES, PostCard, PRIORITIES, WritePost } from './post.tsx'

const FIRST = 50
const MOST = 500

/** What members wrote for everybody. Each swarm has a board of its own. */
export default function Blackboard({ team, myself }: PartProps) {
  const [search, setSearch] = useSearchParams()
  const swarm = search.get('swarm')
  const [type, setType] = useState<string | null>(null)
  const [priority, setPriority] = useState<string | null>(null)
  const [show, setShow] = useState<string | null>(null)
  const [limit, setLimit] = useState(FIRST)
  const [writing, setWriting] = useState(false)
  const swarms = useSwarms(team).data?.swarms ?? []
  const mayWrite = useMay('blackboard_post', team.project_id)
  const mark = useCommand('blackboard_mark_read')
  const on = { team_id: team.id, ...(swarm && { swarm_id: swarm }) }
  const posts = useAsk(
    'blackboard_read',
    {
      ...on,
      limit,
      ...(type && { message_type: type as never }),
      ...(priority && { priority: priority as never }),
      unread_only: show === 'unread',
      archived: show === 'archived',
    },
    { keep: true },
  )
  useShortcuts(mayWrite ? [{ keys: 'p', title: 'Write on the blackboard', run: () => setWriting(true) }] : [])
  const unread = posts.data?.posts.filter(({ read }) => !read).map(({ id }) => id) ?? []
  const isNarrowed = !!(type || priority || show)
  return (
    <Section
      title="Blackboard"
      actions={
        <Flex gap="2">
          {unread.length > 0 && (
            <May use="blackboard_mark_read" project={team.project_id}>
              <Button
                size="1"
                variant="soft"
                color="gray"
                highContrast
                loading={mark.busy}
                onClick={() => mark.run({ team_id: team.id, post_ids: unread.slice(0, AT_ONCE) })}
              >
                <CheckCheck size={14} /> Mark all as read
              </Button>
            </May>
          )}
          {mayWrite && (
            <Button size="1" variant="soft" onClick={() => setWriting(true)}>
              <PenLine size={14} /> Write
            </Button>
          )}
        </Flex>
      }
    >
      <search className="team-filters">
        {swarms.length > 0 && (
          <Filter
            label="Board"
            value={swarm}
            set={chosen => setSearch({ tab: 'blackboard', ...(chosen && { swarm: chosen }) })}
            options={swarms.map(({ id, name, ended_at }) => [id, ended_at ? `${plain(name)} (ended)` : plain(name)])}
            any="Whole team"
          />
        )}
        <Filter label="Type" value={type} set={setType} options={Object.entries(POST_TYPES)} any="All types" />
        <Filter
          label="Priority"
          value={priority}
          set={setPriority}
          options={Object.entries(PRIORITIES)}
          any="All priorities"
        />
        <Filter
          label="Read"
          value={show}
          set={setShow}
          options={[
            ['unread', 'Unread'],
            ['archived', 'With archived'],
          ]}
          any="Read and unread"
        />
      </search>
      <Answer of={posts}>
        {({ posts: all, cursor }) =>
          all.length ? (
            <>
              <ul className="lines" aria-label="Posts">
                {all.map(post => (
                  <li key={post.id}>
                    <PostCard team={team} post={post} myself={myself} />
                  </li>
                ))}
              </ul>
              {cursor && limit < MOST && (
                <Button variant="soft" color="gray" highContrast mt="3" onClick={() => setLimit(MOST)}>
                  Show older posts
                </Button>
              )}
            </>
          ) : isNarrowed ? (
            <Text as="p" size="2" color="gray" mt="3">
              No post fits these filters.
            </Text>
          ) : (
            <Empty icon={StickyNote} title="Nothing is written here">
              Mail is for somebody; the blackboard is for everybody. It wakes nobody: whoever wants to know reads it.
            </Empty>
          )
        }
      </Answer>
      {writing && <WritePost team={team} on={on} close={() => setWriting(false)} />}
    </Section>
  )
}

/** One command marks at most this many. */
const AT_ONCE = 100
