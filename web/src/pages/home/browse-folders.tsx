import { Button, Flex, Text } from '@radix-ui/themes'
import { ChevronRight, Folder, FolderGit2, FolderUp } from 'lucide-react'
import { useState } from 'react'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk } from '../../live/data.ts'
import { AddButton, type Adding } from './add-button.tsx'

/** Walks through the folders that are allowed. */
export default function BrowseFolders({ add, adding }: Adding) {
  const [path, setPath] = useState<string>()
  const listing = useAsk('browse_folders', { path }, { keep: true })
  return (
    <Answer of={listing} loading={<Lines rows={4} height={32} />}>
      {({ path: here, parent, roots, folders, more }) => (
        <>
          <Flex align="center" gap="2" mb="2" wrap="wrap">
            <Button
              size="1"
              variant="soft"
              color="gray"
              highContrast
              disabled={parent === null}
              onClick={() => setPath(parent ?? undefined)}
            >
              <FolderUp size={14} /> Up
            </Button>
            <Text size="2" truncate title={here} className="here" role="status">
              {plain(here)}
            </Text>
            {roots
              .filter(root => roots.length > 1 && root !== here)
              .map(root => (
                <Button key={root} size="1" variant="ghost" color="gray" highContrast onClick={() => setPath(root)}>
                  {plain(root)}
                </Button>
              ))}
          </Flex>
          <ul className="repositories folders">
            {folders.map(folder => (
              <li key={folder.path}>
                {folder.is_repository ? <FolderGit2 size={16} aria-hidden /> : <Folder size={16} aria-hidden />}
                <button type="button" className="folder" onClick={() => setPath(folder.path)}>
                  {plain(folder.name)}
                </button>
                {folder.is_repository ? (
                  <AddButton path={folder.path} name={folder.name} add={add} adding={adding} />
                ) : (
                  <ChevronRight size={14} aria-hidden />
                )}
              </li>
            ))}
          </ul>
          {folders.length === 0 && (
            <Text size="2" color="gray">
              No folders here.
            </Text>
          )}
          {more && (
            <Text size="1" color="gray">
              Some folders are not shown. Type the path instead.
            </Text>
          )}
        </>
      )}
    </Answer>
  )
}
