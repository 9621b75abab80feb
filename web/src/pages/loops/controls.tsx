import { Button, Flex } from '@radix-ui/themes'
import { Pause, Play, Square } from 'lucide-react'
import { useCommand } from '../../live/data.ts'
import type { TONES } from './words.ts'

/** What a person can do with a loop that is not over. */
export function Controls({ project, status }: { project: string; status: keyof typeof TONES }) {
  const pause = useCommand('pause_loop')
  const resume = useCommand('resume_loop')
  const stop = useCommand('stop_loop')
  if (status !== 'running' && status !== 'paused') return null
  return (
    <Flex gap="2">
      {status === 'running' ? (
        <Button
          variant="soft"
          color="gray"
          highContrast
          loading={pause.busy}
          onClick={() => pause.run({ project_id: project })}
        >
          <Pause size={14} /> Pause
        </Button>
      ) : (
        <Button variant="soft" highContrast loading={resume.busy} onClick={() => resume.run({ project_id: project })}>
          <Play size={14} /> Resume
        </Button>
      )}
      <Button
        variant="soft"
        color="red"
        highContrast
        loading={stop.busy}
        onClick={() => stop.runLater('Stopping the loop with its agents; their work is kept.', { project_id: project })}
      >
        <Square size={14} /> Stop
      </Button>
    </Flex>
  )
}
