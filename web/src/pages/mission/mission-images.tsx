import { Button, Dialog, Flex } from '@radix-ui/themes'
import '../../kit/pictures.css'
import { sourceOf } from '../../kit/pictures.ts'
import { useAsk } from '../../live/data.ts'
import type { Detail } from './actions.ts'

/** What the agent is shown together with the prompt. */
export function MissionImages({ mission }: { mission: Detail }) {
  if (!mission.images.length) return null
  return (
    <ul className="pictures" aria-label="Images">
      {mission.images.map((image, index) => (
        <li key={image}>
          <MissionImage missionId={mission.id} image={image} name={`Image ${index + 1}`} />
        </li>
      ))}
    </ul>
  )
}

function MissionImage({ missionId, image, name }: { missionId: string; image: string; name: string }) {
  const { data, isError } = useAsk('get_mission_image', { mission_id: missionId, image })
  if (!data) return <span className="picture-missing">{isError ? 'Missing' : ''}</span>
  const src = sourceOf(data.type, data.data)
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <button type="button" className="picture-open" aria-label={`Show ${name.toLowerCase()}`}>
          <img src={src} alt={name} />
        </button>
      </Dialog.Trigger>
      <Dialog.Content maxWidth="min(1100px, 94vw)" aria-describedby={undefined}>
        <Dialog.Title size="3">
          {name} · {data.width} × {data.height}
        </Dialog.Title>
        <img src={src} alt={name} className="picture-whole" />
        <Flex justify="end" mt="3">
          <Dialog.Close>
            <Button variant="soft" color="gray" highContrast>
              Close
            </Button>
          </Dialog.Close>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}
