import { Button, Flex, Tabs, Text } from '@radix-ui/themes'
import { FolderGit2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { TextInput } from '../../kit/fields.tsx'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import './add-repository.css'
import { AddButton, type Adding } from './add-button.tsx'

const BrowseFolders = lazy(() => import('./browse-folders.tsx'))
const CloneRepository = lazy(() => import('./clone-repository.tsx'))

interface AddRepositoryProps {
  /** Called with the id of the new project. */
  added(projectId: string): void
}

/** Three ways to a project: a repository that was found, one in a folder, and one from elsewhere. */
export function AddRepository({ added }: AddRepositoryProps) {
  const { run, busy } = useCommand('create_project')
  const [adding, setAdding] = useState<string>()
  const add = async (path: string) => {
    setAdding(path)
    const project = await run({ path, if_exists: 'return' })
    setAdding(undefined)
    if (project) added(project.id)
  }
  const using = { add, adding: busy ? adding : undefined }
  return (
    <Tabs.Root defaultValue="recent">
      <Tabs.List>
        <Tabs.Trigger value="recent">Recent</Tabs.Trigger>
        <Tabs.Trigger value="browse">Browse</Tabs.Trigger>
        <Tabs.Trigger value="clone">Clone</Tabs.Trigger>
        <Tabs.Trigger value="path">Path</Tabs.Trigger>
      </Tabs.List>
      <div className="repository-ways">
        <Suspense fallback={<Lines rows={3} height={36} />}>
          <Tabs.Content value="recent">
            <Recent {...using} />
          </Tabs.Content>
          <Tabs.Content value="browse">
            <BrowseFolders {...using} />
          </Tabs.Content>
          <Tabs.Content value="clone">
            <CloneRepository added={added} />
          </Tabs.Content>
          <Tabs.Content value="path">
            <ByPath {...using} />
          </Tabs.Content>
        </Suspense>
      </div>
    </Tabs.Root>
  )
}

function Recent({ add, adding }: Adding) {
  const found = useAsk('find_repositories', { limit: 8 })
  return (
    <Answer of={found} loading={<Lines rows={3} height={36} />}>
      {({ repositories, roots, complete }) => (
        <>
          <ul className="repositories">
            {repositories.map(({ path, name, used_at }) => (
              <li key={path}>
                <FolderGit2 size={16} aria-hidden />
                <span className="repository-words">
                  <Text size="2" weight="medium" truncate>
                    {plain(name)}
                  </Text>
                  <Text size="1" color="gray" truncate title={path}>
                    {plain(path)} · used <Time at={used_at} />
                  </Text>
                </span>
                <AddButton {...{ path, name, add, adding }} />
              </li>
            ))}
          </ul>
          {repositories.length === 0 && (
            <Text as="p" size="2" color="gray" mb="0">
              No repository was found in {roots.map(plain).join(', ')}. Browse the folders, clone one, or type its path.
            </Text>
          )}
          {!complete && (
            <Text as="p" size="1" color="gray" mb="0">
              Not every folder was searched. Browse to find others.
            </Text>
          )}
        </>
      )}
    </Answer>
  )
}

function ByPath({ add, adding }: Adding) {
  const [path, setPath] = useState('')
  const place = path.trim().replace(/(.)\/+$/, '$1')
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (place) add(place)
      }}
    >
      <TextInput
        label="Path on the machine that runs Flotilla"
        hint="A git repository with at least one commit."
        placeholder="/home/me/shop"
        value={path}
        set={setPath}
      />
      <Flex mt="3">
        <Button type="submit" disabled={!place} loading={adding !== undefined}>
          Add project
        </Button>
      </Flex>
    </form>
  )
}
