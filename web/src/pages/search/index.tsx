import { Badge, Button, Flex, SegmentedControl, Text, TextField } from '@radix-ui/themes'
import { Search, SearchX, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../../kit/address.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { DateInput } from '../../kit/date-input.tsx'
import { startOfDay } from '../../kit/days.ts'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { type Hit, HitText, partOf, placeOf } from '../../kit/search-hit.tsx'
import { useSettledText } from '../../kit/settled-text.ts'
import { Dot } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { outcomeOf, plural, STATUS_TONES } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { RepositoryResults } from './repositories.tsx'
import { SavedSearches } from './saved.tsx'
import './search.css'

const PLACES = {
  all: 'All',
  missions: 'Missions',
  reports: 'Reports',
  transcripts: 'Transcripts',
  files: 'Files',
  commits: 'Commits',
}
type Where = keyof typeof PLACES

const KINDS = {
  all: ['mission', 'comment', 'report', 'transcript'],
  missions: ['mission', 'comment'],
  reports: ['report'],
  transcripts: ['transcript'],
} as const

const SECTIONS = [
  ['mission', 'Missions'],
  ['comment', 'Comments'],
  ['report', 'Reports'],
  ['transcript', 'Transcripts'],
] as const

export default function SearchPage() {
  const address = useAddress()
  const [text, setText] = useState(address.get('q') ?? '')
  const words = useSettledText(text.trim())
  const where = (Object.keys(PLACES) as Where[]).find(each => each === address.get('in')) ?? 'all'
  const project = address.get('project')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const latest = useRef(address)
  latest.current = address
  useEffect(() => latest.current.set({ q: words }), [words])
  const open = (query: string) => {
    setText(new URLSearchParams(query).get('q') ?? '')
    address.set({ in: null, project: null, from: null, to: null, ...Object.fromEntries(new URLSearchParams(query)) })
  }
  const isFiltered = project || address.get('from') || address.get('to')
  return (
    <Page title="Search" about="Missions, comments, reports, transcripts of ended sessions, files and commits">
      <search className="search-form">
        <TextField.Root
          ref={field}
          size="3"
          type="search"
          aria-label="Search for"
          placeholder='Words, or "an exact phrase"'
          maxLength={200}
          value={text}
          onChange={event => setText(event.target.value)}
        >
          <TextField.Slot>
            <Search size={16} aria-hidden />
          </TextField.Slot>
        </TextField.Root>
        <div className="search-where">
          <SegmentedControl.Root
            size="1"
            aria-label="Search in"
            value={where}
            onValueChange={value => address.set({ in: value === 'all' ? null : value })}
          >
            {Object.entries(PLACES).map(([value, title]) => (
              <SegmentedControl.Item key={value} value={value}>
                {title}
              </SegmentedControl.Item>
            ))}
          </SegmentedControl.Root>
        </div>
        <div className="search-filters">
          <ProjectChooser value={project} set={id => address.set({ project: id })} none="All projects" />
          {where !== 'files' && where !== 'commits' && (
            <>
              <DateInput label="From" value={address.get('from')} set={from => address.set({ from })} />
              <DateInput label="Until" value={address.get('to')} set={to => address.set({ to })} />
            </>
          )}
          {isFiltered && (
            <Button
              variant="ghost"
              color="gray"
              highContrast
              onClick={() => address.set({ project: null, from: null, to: null })}
            >
              <X size={14} /> Clear filters
            </Button>
          )}
          <SavedSearches words={words} open={open} />
        </div>
      </search>
      {!words ? (
        <Empty icon={Search} title="Search everything">
          Type words that must all occur. Each may be the beginning of a word; “quoted words” occur exactly so.
        </Empty>
      ) : where === 'files' || where === 'commits' ? (
        <RepositoryResults text={words} of={where} project={project} />
      ) : (
        <Results
          words={words}
          kinds={[...KINDS[where]]}
          project={project}
          from={address.get('from')}
          to={address.get('to')}
        />
      )}
    </Page>
  )
}

interface ResultsProps {
  words: string
  kinds: Hit['kind'][]
  project: string | null
  from: string | null
  to: string | null
}

function Results({ words, kinds, project, from, to }: ResultsProps) {
  const found = useAsk(
    'search',
    { text: words, kinds, project_id: project ?? undefined, from: startOfDay(from), before: startOfDay(to, 1) },
    { keep: true },
  )
  return (
    <Answer of={found}>
      {({ hits, complete }) =>
        hits.length === 0 && !complete ? (
          <Empty icon={Search} title="The search index is being made">
            The server has just started. Search again in a moment.
          </Empty>
        ) : hits.length === 0 ? (
          <Empty icon={SearchX} title="No results">
            Use fewer or shorter words, or clear the filters. What a running agent says can be found once its session
            has ended.
          </Empty>
        ) : (
          SECTIONS.map(([kind, title]) => {
            const some = hits.filter(hit => hit.kind === kind)
            return some.length ? (
              <Section key={kind} title={title}>
                <ol className="hits">
                  {some.map(hit => (
                    <HitRow key={`${hit.session_id} ${hit.place}`} hit={hit} words={words} />
                  ))}
                </ol>
              </Section>
            ) : null
          })
        )
      }
    </Answer>
  )
}

function HitRow({ hit, words }: { hit: Hit; words: string }) {
  const { mission, at, kind, more } = hit
  const projectName = useProjectNames()
  // The title is there already, so the words are marked in it.
  const isTitle = hit.part === 'title' && hit.snippet === mission.title
  return (
    <li className="hit">
      <Flex gap="2" align="center" wrap="wrap">
        <Link href={placeOf(hit, words)} className="hit-title">
          {isTitle ? <HitText hit={hit} /> : plain(mission.title)}
        </Link>
        <Badge color={STATUS_TONES[mission.status]} variant="soft" highContrast>
          <Dot tone={STATUS_TONES[mission.status]} />
          {outcomeOf({ ...mission, landed: null })}
        </Badge>
        <Text size="1" color="gray" className="hit-facts">
          {plain(projectName(mission.project_id))} · <Time at={at} />
        </Text>
      </Flex>
      {!isTitle && (
        <Text as="div" size="2" color="gray">
          {kind !== 'comment' && kind !== 'report' && <span className="hit-part">{partOf(hit)}: </span>}
          <HitText hit={hit} />
          {more > 0 && ` (${plural(more, 'more match', 'more matches')} in this transcript)`}
        </Text>
      )}
    </li>
  )
}
