import { useState } from 'react'
import { useLocation } from 'wouter'
import { useDraft } from '../../kit/draft.ts'
import { LongTextInput, SwitchInput } from '../../kit/fields.tsx'
import '../../kit/fold.css'
import { useImageRefusal } from '../../kit/choosers.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { PictureButton, PictureField } from '../../kit/picture-field.tsx'
import { usePictures } from '../../kit/pictures.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import type { Detail } from './actions.ts'
import { SettingsFields } from './settings-fields.tsx'

export type Sending = 'dispatch' | 'resume' | 'retry' | 'reopen' | 'send_back' | 'fork'

const WORDS: Record<Sending, { title: string; about: string; act: string; told: string }> = {
  dispatch: {
    title: 'Start',
    about: 'Sends an agent to work on it. Settings changed here stay with the mission.',
    act: 'Start',
    told: 'It is queued and starts as soon as it can.',
  },
  resume: {
    title: 'Resume',
    about: 'Continues in the same worktree and conversation.',
    act: 'Resume',
    told: 'It continues as soon as it can.',
  },
  retry: {
    title: 'Retry',
    about: 'Starts over on a new branch. The old one is kept.',
    act: 'Retry',
    told: 'It starts over as soon as it can.',
  },
  reopen: {
    title: 'Reopen',
    about: 'Sends done work back to its agent.',
    act: 'Reopen',
    told: 'It continues as soon as it can.',
  },
  send_back: {
    title: 'Request changes',
    about: 'Sends new comments and your message to the agent, which then continues.',
    act: 'Request changes',
    told: 'It was sent back.',
  },
  fork: {
    title: 'Fork',
    about: 'Starts a second mission with this work and a copy of its conversation. This one stays as it is.',
    act: 'Fork',
    told: 'Forked.',
  },
}

/** These are settings of the mission, not of one dispatch. */
const NOT_HERE = ['approvals', 'max_retries'] as const

interface SendDialogProps {
  sending: Sending
  mission: Detail
  close(): void
}

/** Starts an agent, with a message and new settings. */
export function SendDialog({ sending, mission, close }: SendDialogProps) {
  const [, go] = useLocation()
  const words = WORDS[sending]
  const [message, setMessage] = useState('')
  const [fresh, setFresh] = useState(false)
  const { value, changes, set } = useDraft(mission)
  const { run, busy } = useSending(sending)
  const pictures = usePictures()
  const takesNone = useImageRefusal()(value.agent ?? mission.sessions.at(-1)?.agent)
  const refusal = pictures.list.length > 0 ? takesNone : undefined
  const send = async () => {
    const images = pictures.list.length ? pictures.list.map(({ image }) => image) : undefined
    const sent = await run({ mission_id: mission.id, ...changes, message: message.trim() || undefined, images, fresh })
    if (!sent) return
    close()
    tell({ text: words.told })
    if (sending === 'fork') go(`/missions/${sent.id}`)
  }
  return (
    <FormDialog
      title={words.title}
      about={words.about}
      act={words.act}
      busy={busy}
      ready={!pictures.busy && !refusal}
      close={close}
      submit={send}
    >
      <PictureField pictures={pictures} refusal={refusal}>
        <LongTextInput
          label="Message for the agent"
          hint="Optional; this time only"
          value={message}
          set={setMessage}
          rows={4}
        />
      </PictureField>
      {sending !== 'dispatch' && !takesNone && <PictureButton pictures={pictures} labelled />}
      {sending === 'fork' && (
        <SwitchInput
          label="New conversation"
          hint="With a written summary instead of a copy; needed for another agent"
          value={fresh}
          set={setFresh}
        />
      )}
      <details className="fold">
        <summary>Options: agent, model, tools, limits</summary>
        <SettingsFields value={value} set={set as never} holds={mission.holds} without={NOT_HERE} />
      </details>
    </FormDialog>
  )
}

interface Wish {
  mission_id: string
  message: string | undefined
  images: string[] | undefined
  fresh: boolean
}

/** The commands have different names for the message to the agent. */
function useSending(sending: Sending) {
  const dispatch = useCommand('dispatch_mission')
  const resume = useCommand('resume_mission')
  const retry = useCommand('retry_mission')
  const reopen = useCommand('reopen_mission')
  const sendBack = useCommand('send_back_mission')
  const fork = useCommand('fork_mission')
  const commands = { resume, retry, reopen, send_back: sendBack }
  const run = ({ fresh, message, images, ...wish }: Wish) => {
    if (sending === 'dispatch') return dispatch.run({ ...wish, append_system_prompt: message })
    if (sending === 'fork') return fork.run({ ...wish, message, images, fresh })
    return commands[sending].run({ ...wish, message, images })
  }
  const busy = [dispatch, resume, retry, reopen, sendBack, fork].some(each => each.busy)
  return { run, busy }
}
