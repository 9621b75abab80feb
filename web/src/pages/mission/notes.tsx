import { Code, Flex, Text } from '@radix-ui/themes'
import { NotebookPen } from 'lucide-react'
import { useState } from 'react'
import { Foreign } from '../../kit/foreign.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Answer, Empty, Lines, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { QuestionCard } from '../../kit/question.tsx'
import { bytes } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import type { Detail } from './actions.ts'

/** What its agents wrote down for later sessions. */
export function Notes({ mission }: { mission: Detail }) {
  const notes = useAsk('get_mission_notes', { mission_id: mission.id })
  return (
    <Answer of={notes}>
      {({ plan, knowledge, questions, artifacts }) => {
        if (!plan && !knowledge && !questions.length && !artifacts.files.length)
          return (
            <Empty icon={NotebookPen} title="No notes yet">
              Agents note their plan and what they learned for the next session, ask you, and leave files here.
            </Empty>
          )
        return (
          <>
            {plan && (
              <Section title="Plan">
                <Markdown text={plan} />
              </Section>
            )}
            {knowledge && (
              <Section title="Knowledge">
                <Markdown text={knowledge} />
              </Section>
            )}
            {questions.length > 0 && (
              <Section title="Questions">
                <Flex direction="column" gap="3">
                  {questions.toReversed().map(question => (
                    <QuestionCard key={question.id} question={question} />
                  ))}
                </Flex>
              </Section>
            )}
            {artifacts.files.length > 0 && (
              <Section title="Artifacts">
                <Text as="p" size="1" color="gray" mb="2">
                  in <Code variant="ghost">{plain(artifacts.folder)}</Code>
                </Text>
                <ul className="report-files">
                  {artifacts.files.map(({ path, bytes: size }) => (
                    <li key={path}>
                      <Artifact missionId={mission.id} path={path} size={size} />
                    </li>
                  ))}
                </ul>
              </Section>
            )}
          </>
        )
      }}
    </Answer>
  )
}

/** Loaded when it is opened, and at most one page of it. */
function Artifact({ missionId, path, size }: { missionId: string; path: string; size: number }) {
  const [open, setOpen] = useState(false)
  const piece = useAsk('read_artifact', { mission_id: missionId, path }, { enabled: open })
  return (
    <details className="fold" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <Code variant="ghost">{plain(path)}</Code>
        <Text size="1" color="gray">
          {bytes(size)}
        </Text>
      </summary>
      {open && (
        <Answer of={piece} loading={<Lines rows={2} height={20} />}>
          {({ encoding, content, next_offset }) => (
            <div className="artifact">
              {encoding === 'base64' ? (
                <Text size="2" color="gray">
                  This is not a text file. Open it in its folder.
                </Text>
              ) : /\.(md|markdown)$/i.test(path) ? (
                <Markdown text={content} />
              ) : (
                <Foreign text={content} code />
              )}
              {next_offset !== null && (
                <Text as="p" size="1" color="gray">
                  Only the first {bytes(next_offset)} are shown; the rest is in its folder.
                </Text>
              )}
            </div>
          )}
        </Answer>
      )}
    </details>
  )
}
