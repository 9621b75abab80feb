import { Badge, Button, Callout, Text } from '@radix-ui/themes'
import { FileLock2, Plus, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useReservations } from './asks.ts'
import type { PartProps } from './part.ts'
import type { Member, Team } from './words.ts'

type Reservation = Output<'team_reservations'>['reservations'][number]

const UNTIL: Record<Reservation['until'], string> = {
  task: 'until its task ends',
  session: 'until its session ends',
  released: 'until it is released',
}

/** Which files members are about to change, and where they overlap. */
export default function Files({ team, myself }: PartProps) {
  const [reserving, setReserving] = useState(false)
  return (
    <Section
      title="Reserved files"
      actions={
        <May use="team_claim" project={team.project_id}>
          <Button size="1" variant="soft" onClick={() => setReserving(true)}>
            <Plus size={14} /> Reserve
          </Button>
        </May>
      }
    >
      <Answer of={useReservations(team)}>
        {({ reservations }) => {
          if (!reservations.length)
            return (
              <Empty icon={FileLock2} title="Nothing is reserved">
                Members say which file, folder or pattern they are about to change. That keeps nobody from writing: it
                lets them agree before they work on the same thing.
              </Empty>
            )
          const overlapping = reservations.filter(({ overlaps }) => overlaps.length > 0)
          const others = reservations.filter(({ overlaps }) => !overlaps.length)
          return (
            <>
              {overlapping.length > 0 && (
                <Callout.Root color="amber" highContrast size="1" mb="2">
                  <Callout.Icon>
                    <TriangleAlert size={16} />
                  </Callout.Icon>
                  <Callout.Text>
                    {plural(overlapping.length, 'reservation overlaps', 'reservations overlap')}. Both sides were told.
                  </Callout.Text>
                </Callout.Root>
              )}
              <ul className="lines" aria-label="Reservations">
                {[...overlapping, ...others].map(each => (
                  <li key={each.id}>
                    <Line team={team} reservation={each} myself={myself} />
                  </li>
                ))}
              </ul>
            </>
          )
        }}
      </Answer>
      {reserving && <Reserve team={team} close={() => setReserving(false)} />}
    </Section>
  )
}

function Line({ team, reservation, myself }: { team: Team; reservation: Reservation; myself: Member | undefined }) {
  const { file, handle, reason, until, created_at, overlaps } = reservation
  const { run, busy } = useCommand('team_release')
  const maySteer = useMay('mail.broadcast', team.project_id)
  return (
    <article className="line" aria-label={plain(file)}>
      <div className="line-head">
        <code className="break">{plain(file)}</code>
        <Text size="2">{plain(handle)}</Text>
        <Text size="1" color="gray">
          <Time at={created_at} /> · {UNTIL[until]}
        </Text>
        {(handle === myself?.handle || maySteer) && (
          <May use="team_release" project={team.project_id}>
            <span className="line-acts">
              <Button
                size="1"
                variant="ghost"
                color="gray"
                highContrast
                loading={busy}
                onClick={() => run({ team_id: team.id, file, handle })}
              >
                Release
              </Button>
            </span>
          </May>
        )}
      </div>
      {reason && (
        <Text as="div" size="2" color="gray" className="break">
          {plain(reason)}
        </Text>
      )}
      {overlaps.map(other => (
        <Text as="div" size="2" key={`${other.handle} ${other.file}`} className="break" mt="1">
          <Badge color="amber" highContrast>
            Overlaps
          </Badge>{' '}
          {plain(other.handle)}: <code>{plain(other.file)}</code>
          {other.reason && ` (${plain(other.reason)})`}
        </Text>
      ))}
    </article>
  )
}

function Reserve({ team, close }: { team: Team; close(): void }) {
  const [file, setFile] = useState('')
  const [reason, setReason] = useState('')
  const { run, busy } = useCommand('team_claim', { done: close })
  return (
    <FormDialog
      title="Reserve files"
      about="Members learn that you are about to change them. It keeps nobody from writing."
      act="Reserve"
      busy={busy}
      ready={!!file.trim()}
      close={close}
      submit={() => run({ team_id: team.id, file: file.trim(), reason: reason.trim() })}
    >
      <TextInput
        label="Files"
        hint="A file, a folder or a pattern with * and **, from the root of the project"
        value={file}
        set={setFile}
        placeholder="src/parser/**"
        required
      />
      <TextInput label="Reason (optional)" value={reason} set={setReason} />
    </FormDialog>
  )
}
