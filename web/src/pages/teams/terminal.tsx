import { Badge, Button, Dialog, Flex, Text } from '@radix-ui/themes'
import { useLayoutEffect, useRef, useState } from 'react'
import type { Input } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { TextInput } from '../../kit/fields.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { type Member, SCREENS, type Team } from './words.ts'

/** No event tells what a terminal shows. */
const LOOK_MS = 1000
const LINES = 60
type Key = NonNullable<Input<'send_member_input'>['keys']>[number]
/** What clients ask for. Everything else is typed in the window itself. */
const KEYS: Partial<Record<Key, string>> = {
  ...{ 1: '1', 2: '2', 3: '3', y: 'y', n: 'n' },
  ...{ Up: '↑', Down: '↓', Enter: 'Enter', Escape: 'Escape' },
}

interface TerminalProps {
  team: Team
  member: Member
  close(): void
}

/** What the window of a member in tmux shows, and what a person answers there. */
export default function Terminal({ team, member: { id, handle }, close }: TerminalProps) {
  const of = { team_id: team.id, member: id }
  const seen = useAsk('capture_member', { ...of, lines: LINES }, { everyMs: () => LOOK_MS })
  const reopen = useCommand('open_member', { done: () => seen.refetch() })
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="860px" aria-describedby={undefined}>
        <Dialog.Title size="4" mb="2">
          Terminal of {plain(handle)}
        </Dialog.Title>
        <Flex direction="column" gap="3">
          {seen.error && seen.data && <Problem error={seen.error} />}
          <Answer of={seen}>
            {({ state, text, lines }) => (
              <>
                {!seen.error && (
                  <Flex gap="2" align="center" wrap="wrap">
                    <Badge color={SCREENS[state].tone} highContrast>
                      <Dot tone={SCREENS[state].tone} alive={state === 'busy'} />
                      {SCREENS[state].word}
                    </Badge>
                    {text && <Text size="2">{plain(text)}</Text>}
                  </Flex>
                )}
                <Screen label={`Screen of ${handle}`} lines={lines} />
              </>
            )}
          </Answer>
          {seen.error ? (
            <May use="open_member" project={team.project_id}>
              <div>
                <Button loading={reopen.busy} onClick={() => reopen.run(of)}>
                  Open it again
                </Button>
              </div>
            </May>
          ) : (
            <Answering team={team} of={of} look={() => seen.refetch()} />
          )}
          <CopyBox text={`fleet member attach ${team.name} ${handle}`} label="the command" />
          <Flex justify="end">
            <Button variant="soft" color="gray" highContrast onClick={close}>
              Close
            </Button>
          </Flex>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}

/** The newest lines stay in view. */
function Screen({ label, lines }: { label: string; lines: readonly string[] }) {
  const at = useRef<HTMLPreElement>(null)
  const text = plain(lines.join('\n'))
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves when the text does
  useLayoutEffect(() => {
    at.current?.scrollTo(0, at.current.scrollHeight)
  }, [text])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and those without a mouse must reach it
    <pre ref={at} className="member-screen" role="log" aria-label={plain(label)} aria-live="off" tabIndex={0}>
      {text}
    </pre>
  )
}

interface AnsweringProps {
  team: Team
  of: { team_id: string; member: string }
  look(): void
}

/** Keys and lines of a person. Agents cannot do this. */
function Answering({ team: { project_id }, of, look }: AnsweringProps) {
  const [line, setLine] = useState('')
  const mayAnswer = [useMay('send_member_input', project_id), useMay('takeover.use', project_id)].every(Boolean)
  const { run, busy } = useCommand('send_member_input', { done: look })
  if (!mayAnswer) return null
  const type = async () => {
    if (await run({ ...of, text: line })) setLine('')
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (line.trim() && !busy) void type()
      }}
    >
      <Flex direction="column" gap="2">
        <Flex gap="2" wrap="wrap" role="group" aria-label="Keys">
          {(Object.keys(KEYS) as Key[]).map(key => (
            <Button
              key={key}
              type="button"
              size="1"
              variant="soft"
              color="gray"
              highContrast
              disabled={busy}
              aria-label={`Press ${key}`}
              onClick={() => run({ ...of, keys: [key] })}
            >
              {KEYS[key]}
            </Button>
          ))}
        </Flex>
        <TextInput
          label="A line to type"
          hint="It is typed there as it is, and sent with Enter, whatever the terminal shows. Mail waits until the terminal is idle."
          value={line}
          set={setLine}
        />
        <div>
          <Button type="submit" disabled={!line.trim()} loading={busy}>
            Type it
          </Button>
        </div>
      </Flex>
    </form>
  )
}
