import { Badge, Button, Card, Flex, IconButton, Text } from '@radix-ui/themes'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { LongTextInput } from '../../kit/fields.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { May } from '../../kit/may.tsx'
import { Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useWho } from '../../live/names.ts'
import type { Detail } from './actions.ts'

type Comment = Detail['comments'][number]

/** Comments on the mission and on lines of its diff; “Request changes” sends the agent those it has not read. */
export function Comments({ mission }: { mission: Detail }) {
  const { run, busy } = useCommand('comment_mission')
  const [body, setBody] = useState('')
  const say = async () => {
    if (await run({ mission_id: mission.id, body: body.trim() })) setBody('')
  }
  return (
    <Section title="Comments">
      <Flex direction="column" gap="2" mb="3">
        {mission.comments.map(comment => (
          <CommentLine key={comment.id} comment={comment} />
        ))}
      </Flex>
      <May use="comment_mission" project={mission.project_id}>
        <LongTextInput
          label="Add a comment"
          hint="The agent gets it when you request changes"
          value={body}
          set={setBody}
          rows={2}
        />
        <Button mt="2" variant="soft" disabled={!body.trim()} loading={busy} onClick={say}>
          Comment
        </Button>
      </May>
    </Section>
  )
}

function CommentLine({ comment }: { comment: Comment }) {
  const { run } = useCommand('delete_comment')
  const mayDelete = useMay('delete_comment', comment.project_id)
  const who = useWho()
  const { path, line, author, created_at, sent_at, body } = comment
  return (
    <Card size="1">
      <Flex gap="2" align="center" wrap="wrap" mb="1">
        <Text size="1" color="gray">
          {who(author)} · <Time at={created_at} />
        </Text>
        {path && (
          <code className="comment-place">
            {plain(path)}
            {line ? `:${line}` : ''}
          </code>
        )}
        {sent_at ? (
          <Badge color="green" highContrast>
            sent
          </Badge>
        ) : (
          !author.startsWith('session:') &&
          mayDelete && (
            <IconButton
              size="1"
              variant="ghost"
              color="gray"
              aria-label="Delete this comment"
              onClick={() => run({ comment_id: comment.id })}
            >
              <Trash2 size={12} />
            </IconButton>
          )
        )}
      </Flex>
      <Markdown text={body} />
    </Card>
  )
}
