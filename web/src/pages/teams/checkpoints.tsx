import { Button, Text } from '@radix-ui/themes'
import { Flag, Forward } from 'lucide-react'
import { useState } from 'react'
import { ChoiceInput, LongTextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { CheckpointCard, STATES } from './checkpoint.tsx'
import { Filter } from './filter.tsx'
import type { PartProps } from './part.ts'
import type { Team } from './words.ts'

const FIRST = 30
const MOST = 500

/** How work stands, for whoever goes on with it. */
export default function Checkpoints({ team, myself }: PartProps) {
  const [state, setState] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [limit, setLimit] = useState(FIRST)
  const [handing, setHanding] = useState(false)
  const list = useAsk(
    'checkpoint_list',
    { team_id: team.id, limit, ...(state && { state: state as never }), ...(to && { to_handle: to }) },
    { keep: true },
  )
  return (
    <Section
      title="Checkpoints"
      actions={
        <May use="team_handoff" project={team.project_id}>
          <Button size="1" variant="soft" onClick={() => setHanding(true)}>
            <Forward size={14} /> Hand off
          </Button>
        </May>
      }
    >
      <search className="team-filters">
        <Filter
          label="State"
          value={state}
          set={setState}
          options={Object.entries(STATES).map(([value, { word }]) => [value, word] as const)}
          any="All states"
        />
        <Filter
          label="Addressee"
          value={to}
          set={setTo}
          options={team.members.map(({ id, handle }) => [id, plain(handle)] as const)}
          any="To anybody"
        />
      </search>
      <Answer of={list}>
        {({ checkpoints, cursor }) =>
          checkpoints.length ? (
            <>
              <ul className="lines" aria-label="Checkpoints">
                {checkpoints.map(each => (
                  <li key={each.id}>
                    <CheckpointCard team={team} checkpoint={each} myself={myself} />
                  </li>
                ))}
              </ul>
              {cursor && limit < MOST && (
                <Button variant="soft" color="gray" highContrast mt="3" onClick={() => setLimit(MOST)}>
                  Show older checkpoints
                </Button>
              )}
            </>
          ) : state || to ? (
            <Text as="p" size="2" color="gray" mt="3">
              No checkpoint fits these filters.
            </Text>
          ) : (
            <Empty icon={Flag} title="No checkpoints yet">
              A member writes down how its work stands: goal, what was done, what failed, what comes next, with a commit
              of its worktree. Whoever it is addressed to accepts it and goes on from there.
            </Empty>
          )
        }
      </Answer>
      {handing && <HandOff team={team} me={myself?.id} close={() => setHanding(false)} />}
    </Section>
  )
}

function HandOff({ team, me, close }: { team: Team; me: string | undefined; close(): void }) {
  const [to, setTo] = useState<string | null>(null)
  const [text, setText] = useState('')
  const { run, busy } = useCommand('team_handoff', { done: close })
  return (
    <FormDialog
      title="Hand off"
      about="A checkpoint for a member, and mail that wakes it."
      act="Hand off"
      busy={busy}
      ready={!!to && !!text.trim()}
      close={close}
      submit={() => run({ team_id: team.id, to: to!, context: text })}
    >
      <ChoiceInput
        label="To"
        value={to}
        set={setTo}
        options={team.members
          .filter(({ id }) => id !== me)
          .map(({ id, handle }) => ({ value: id, label: plain(handle) }))}
      />
      <LongTextInput
        label="How it stands"
        hint="And what is to be done. The first line becomes the goal."
        value={text}
        set={setText}
        rows={6}
      />
    </FormDialog>
  )
}
