import { Callout, Code, Flex, Text } from '@radix-ui/themes'
import { SearchX } from 'lucide-react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { CopyButton } from '../../kit/copy.tsx'
import { Answer, Empty } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'

type RepositoryHit = Output<'search_repositories'>['hits'][number]

interface RepositoryProps {
  text: string
  of: 'files' | 'commits'
  project: string | null
}

/** What git finds in the base branches, while somebody waits. */
export function RepositoryResults({ text, of, project }: RepositoryProps) {
  const found = useAsk('search_repositories', { text, of, project_id: project ?? undefined, limit: 50 }, { keep: true })
  const projectName = useProjectNames()
  return (
    <Answer of={found}>
      {({ hits, more, unread }) => (
        <>
          {unread.length > 0 && (
            <Callout.Root size="1" color="amber" highContrast mb="3">
              <Callout.Text>
                These projects could not be searched: {unread.map(id => plain(projectName(id) || id)).join(', ')}.
              </Callout.Text>
            </Callout.Root>
          )}
          {hits.length === 0 ? (
            <Empty icon={SearchX} title="No results">
              {of === 'files'
                ? 'No file or path on the base branches contains this text.'
                : 'No commit message on the base branches contains this text.'}
            </Empty>
          ) : (
            <ol className="hits">
              {hits.map(hit => (
                <li key={`${hit.kind} ${hit.project_id} ${hit.commit} ${hit.path} ${hit.line}`} className="hit">
                  {hit.kind === 'commit' ? <CommitHit hit={hit} /> : <FileHit hit={hit} />}
                  <Text size="1" color="gray">
                    {plain(projectName(hit.project_id))}
                  </Text>
                </li>
              ))}
            </ol>
          )}
          {more && (
            <Text as="p" size="2" color="gray">
              There may be more. Choose a project or use a longer text.
            </Text>
          )}
        </>
      )}
    </Answer>
  )
}

function FileHit({ hit: { path, line, text } }: { hit: RepositoryHit }) {
  const place = line ? `${path}:${line}` : `${path}`
  return (
    <>
      <Flex gap="2" align="center">
        <Code variant="ghost" highContrast>
          {plain(place)}
        </Code>
        <CopyButton text={place} label="Copy the path" />
      </Flex>
      {text && (
        <Text as="div" size="2">
          <Code variant="ghost" className="hit-text">
            {plain(text)}
          </Code>
        </Text>
      )}
    </>
  )
}

function CommitHit({ hit: { commit, text, author, at, mission_id } }: { hit: RepositoryHit }) {
  return (
    <>
      <Text as="div" size="2" weight="medium">
        {mission_id ? <Link href={`/missions/${mission_id}`}>{plain(text)}</Link> : plain(text)}
      </Text>
      <Flex gap="2" align="center">
        <Code variant="ghost">{commit.slice(0, 10)}</Code>
        <CopyButton text={commit} label="Copy the commit id" />
        <Text size="1" color="gray">
          {plain(author ?? '')} {at && <Time at={at} />}
        </Text>
      </Flex>
    </>
  )
}
