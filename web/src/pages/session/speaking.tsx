import { Badge, Button, Flex, Text, TextArea } from '@radix-ui/themes'
import { Send } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import type { Output } from '../../api/client.ts'
import { useImageRefusal } from '../../kit/choosers.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { PictureButton, PictureField } from '../../kit/picture-field.tsx'
import { usePictures } from '../../kit/pictures.ts'
import { onEvents, useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { type Abilities, actionsFor, type Detail } from '../mission/actions.ts'

type Session = Output<'get_session'>

const HEARD = {
  'mid-turn': 'The agent reads your message while it works.',
  'next-turn': 'The agent reads your message after this turn.',
  no: 'This agent cannot receive messages while it works. Stop it, or wait; then resume it with a message.',
}

interface Sent {
  id: string
  text: string
  heard: 'mid-turn' | 'next-turn'
  state: 'waiting' | 'arrived' | 'missed'
}

interface SpeakingProps {
  session: Session
  mission: Detail
  can: Abilities | undefined
}

/** Sends messages to the running agent. If its session has ended, a message starts the next one. */
export function Speaking({ session, mission, can }: SpeakingProps) {
  const id = useId()
  const [text, setText] = useState('')
  const pictures = usePictures()
  const takesNone = useImageRefusal()(session.agent)
  const refusal = pictures.list.length > 0 ? takesNone : undefined
  const say = useCommand('say_to_mission')
  const resume = useCommand('resume_mission')
  const reopen = useCommand('reopen_mission')
  const [sent, note] = useSent()
  const isNewest = mission.session_id === session.id
  const offered = actionsFor(mission, useMayDo(), can)
  const way = !isNewest
    ? undefined
    : offered.includes('say')
      ? 'say'
      : offered.includes('resume')
        ? 'resume'
        : offered.includes('reopen')
          ? 'reopen'
          : undefined
  const busy = say.busy || resume.busy || reopen.busy
  const speak = async () => {
    const words = text.trim()
    if (!words || busy || !way || pictures.busy || refusal) return
    const images = pictures.list.map(({ image }) => image)
    const it = { mission_id: mission.id, ...(images.length && { images }) }
    if (way === 'say') {
      const said = await say.run({ ...it, text: words })
      if (!said) return
      note({ id: said.message_id, text: words, heard: said.heard, state: 'waiting' })
    } else if (!(await (way === 'resume' ? resume : reopen).run({ ...it, message: words }))) return
    setText('')
    pictures.clear()
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    speak()
  }
  if (session.status !== 'ended' && can?.liveMessages === 'no')
    return (
      <Text as="p" size="1" color="gray" className="speaking-hint">
        {HEARD.no}
      </Text>
    )
  if (!way) return null
  const label = { say: 'Send', resume: 'Resume', reopen: 'Reopen' }[way]
  return (
    <div className="speaking">
      {sent.map(each => (
        <div key={each.id} className="sent" role="status">
          <Foreign text={each.text} lines={3} chars={400} />
          <Badge color={each.state === 'missed' ? 'amber' : each.state === 'arrived' ? 'green' : 'gray'} highContrast>
            {STATES[each.state](each.heard)}
          </Badge>
        </div>
      ))}
      <label htmlFor={id} className="speaking-hint">
        {way === 'say'
          ? HEARD[can?.liveMessages ?? 'next-turn']
          : 'The session has ended. Your message starts it again.'}
      </label>
      <PictureField pictures={pictures} refusal={refusal}>
        <Flex gap="2" align="end">
          <TextArea
            id={id}
            className="speaking-text"
            rows={1}
            resize="vertical"
            value={text}
            placeholder="Message the agent…"
            onChange={event => setText(event.target.value)}
            onKeyDown={pressed}
          />
          {!takesNone && <PictureButton pictures={pictures} />}
          <Button disabled={!text.trim() || pictures.busy || !!refusal} loading={busy} onClick={speak}>
            <Send size={14} /> {label}
          </Button>
        </Flex>
      </PictureField>
    </div>
  )
}

const STATES: Record<Sent['state'], (heard: Sent['heard']) => string> = {
  waiting: heard => (heard === 'mid-turn' ? 'sending' : 'waiting for the end of the turn'),
  arrived: () => 'received',
  missed: () => 'the session ended first; the next one gets it',
}
const SHOWN_MS = 6000

/** Messages that were sent here, until they are in the transcript. */
function useSent(): [Sent[], (sent: Sent) => void] {
  const [sent, setSent] = useState<Sent[]>([])
  useEffect(
    () =>
      onEvents(events => {
        for (const { kind, data } of events) {
          const state = kind === 'message_arrived' ? 'arrived' : kind === 'message_missed' ? 'missed' : undefined
          if (!state) continue
          setSent(all => all.map(each => (each.id === data.message ? { ...each, state } : each)))
          setTimeout(() => setSent(all => all.filter(({ id }) => id !== data.message)), SHOWN_MS)
        }
      }),
    [],
  )
  return [sent, each => setSent(all => [...all, each])]
}
