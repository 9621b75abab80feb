import { Button, Card, Flex, Text } from '@radix-ui/themes'
import { Send } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { ChoiceInput, LongTextInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { AddressBox } from './address-box.tsx'
import { addressesIn, addressesOf, reachOf, reachWords, setGoingWords } from './addressing.ts'
import { type Mail, type Member, NEEDS, type Team } from './words.ts'

interface ComposerProps {
  team: Team
  myself: Member | undefined
  to: string
  setTo(to: string): void
}

const NEEDED = Object.entries(NEEDS).map(([value, label]) => ({ value, label }))

/** Writes to members of the team, and says before it is sent how many of them wake. */
export function Composer({ team, myself, to, setTo }: ComposerProps) {
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const [needs, setNeeds] = useState<Mail['needs']>('none')
  const [deadline, setDeadline] = useState('')
  const [wake, setWake] = useState(true)
  /** What the last message set going, until the next one is written. */
  const [setGoing, setSetGoing] = useState('')
  const mayBroadcast = useMay('mail.broadcast', team.project_id)
  const { run, busy } = useCommand('send_mail')
  const addresses = addressesIn(to, team.members)
  const reach = reachOf(addresses, team, { me: myself?.id, wakes: needs !== 'none' || wake })
  const offered = addressesOf(team.members, myself?.id, mayBroadcast)
  // Half a name is not a wrong one.
  const isTyping = reach.unknown.some(part =>
    offered.some(({ put }) => put.toLowerCase().startsWith(part.toLowerCase())),
  )
  const isReady = reach.recipients.length > 0 && !reach.unknown.length && !!body.trim()
  const send = async () => {
    if (!isReady || busy) return
    const until = deadline ? { deadline: new Date(deadline).toISOString() } : {}
    const sent = await run({ team_id: team.id, to: addresses, subject: subject.trim(), body, needs, wake, ...until })
    if (!sent) return
    setSubject('')
    setBody('')
    setDeadline('')
    setSetGoing(setGoingWords(sent))
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    void send()
  }
  return (
    <Card mb="4">
      <form
        onKeyDown={pressed}
        onSubmit={event => {
          event.preventDefault()
          void send()
        }}
      >
        <Flex direction="column" gap="3">
          <div className="composer-head">
            <AddressBox value={to} set={setTo} addresses={offered} />
            <TextInput label="Subject (optional)" value={subject} set={setSubject} />
          </div>
          <LongTextInput label="Message" value={body} set={setBody} rows={3} />
          <div className="composer-options">
            <ChoiceInput
              label="Needs"
              value={needs}
              set={chosen => setNeeds(chosen as Mail['needs'])}
              options={NEEDED}
            />
            <TextInput label="Deadline (optional)" type="datetime-local" value={deadline} set={setDeadline} />
            {needs === 'none' && (
              <SwitchInput label="Wake" hint="Otherwise it waits for the next turn." value={wake} set={setWake} />
            )}
          </div>
          <Flex gap="3" align="center" justify="between" wrap="wrap">
            <Text size="2" color="gray" role="status">
              {(!body && setGoing) || (!isTyping && reachWords(reach))}
            </Text>
            <Button type="submit" disabled={!isReady} loading={busy}>
              <Send size={14} /> Send
            </Button>
          </Flex>
        </Flex>
      </form>
    </Card>
  )
}
