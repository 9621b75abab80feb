import { Button, IconButton, SegmentedControl, Select, TextField } from '@radix-ui/themes'
import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { plain } from '../../kit/plain.ts'
import { namesOf } from '../../kit/project-names.ts'
import { STATUS_WORDS, STATUSES } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { type Filters, type Narrowing, SINCE } from './filters.ts'
import { SavedViews } from './saved-views.tsx'

const TYPING_MS = 200
const ANY = ' '

export function FilterBar({ filters, isPhone }: { filters: Filters; isPhone: boolean }) {
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const agents = useAsk('list_agents', {}).data?.agents ?? []
  const agentNames = [...new Map(agents.map(({ name, title }) => [name, title]))]
  return (
    <search className="filters">
      <WordsFilter filters={filters} />
      <Choice
        filters={filters}
        name="project"
        any="All projects"
        options={[...namesOf(projects)].map(([id, name]) => [id, plain(name)])}
      />
      <Choice filters={filters} name="agent" any="All agents" options={agentNames} />
      <Choice
        filters={filters}
        name="state"
        any="All states"
        options={STATUSES.map(status => [status, STATUS_WORDS[status]])}
      />
      <Choice filters={filters} name="since" any="Any time" options={SINCE} />
      <TagFilter filters={filters} />
      <SavedViews search={filters.search} isNarrowed={filters.isNarrowed} />
      {filters.isNarrowed && (
        <Button variant="ghost" color="gray" highContrast onClick={filters.clear}>
          Clear filters
        </Button>
      )}
      {!isPhone && (
        <SegmentedControl.Root
          value={filters.view}
          onValueChange={view => filters.set('view', view === 'list' ? view : null)}
          className="view-choice"
        >
          <SegmentedControl.Item value="board">Board</SegmentedControl.Item>
          <SegmentedControl.Item value="list">List</SegmentedControl.Item>
        </SegmentedControl.Root>
      )}
    </search>
  )
}

/** Shows typed text at once, and updates the address when typing pauses. */
function WordsFilter({ filters }: { filters: Filters }) {
  const field = useRef<HTMLInputElement>(null)
  const inAddress = filters.get('q')
  const [text, setText] = useState(inAddress)
  const sent = useRef(inAddress)
  const latest = useRef(filters)
  latest.current = filters
  useEffect(() => {
    // Going back in history, or clearing the filters, changes the address from outside.
    if (inAddress !== sent.current) {
      sent.current = inAddress
      setText(inAddress)
    }
  }, [inAddress])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      latest.current.set('q', text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  useShortcuts([{ keys: '/', title: 'Find missions', run: () => field.current?.focus() }])
  return (
    <TextField.Root
      ref={field}
      type="search"
      value={text}
      placeholder="Title, prompt or id"
      aria-label="Find missions"
      className="words"
      onChange={event => setText(event.target.value)}
      onKeyDown={event => event.key === 'Escape' && field.current?.blur()}
    >
      <TextField.Slot>
        <Search size={14} aria-hidden />
      </TextField.Slot>
    </TextField.Root>
  )
}

interface ChoiceProps {
  filters: Filters
  name: Narrowing
  any: string
  options: readonly (readonly [string, string])[]
}

function Choice({ filters, name, any, options }: ChoiceProps) {
  return (
    <Select.Root
      value={filters.get(name) || ANY}
      onValueChange={value => filters.set(name, value === ANY ? null : value)}
    >
      <Select.Trigger
        aria-label={any.replace('All ', 'Filter by ').replace('Any ', 'Filter by ')}
        variant={filters.get(name) ? 'soft' : 'surface'}
      />
      <Select.Content position="popper">
        <Select.Item value={ANY}>{any}</Select.Item>
        {options.map(([value, label]) => (
          <Select.Item key={value} value={value}>
            {label}
          </Select.Item>
        ))}
      </Select.Content>
    </Select.Root>
  )
}

/** There is no list of tags, so they are typed. */
function TagFilter({ filters }: { filters: Filters }) {
  const tag = filters.get('tag')
  const [typed, setTyped] = useState('')
  if (tag)
    return (
      <span className="tag-chosen">
        #{plain(tag)}
        <IconButton
          size="1"
          variant="ghost"
          color="gray"
          aria-label={`Remove the tag ${tag}`}
          onClick={() => filters.set('tag', null)}
        >
          <X size={14} />
        </IconButton>
      </span>
    )
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (typed.trim()) filters.set('tag', typed.trim())
        setTyped('')
      }}
    >
      <TextField.Root
        value={typed}
        placeholder="Tag"
        aria-label="Filter by tag; press Enter to apply"
        className="tag-field"
        onChange={event => setTyped(event.target.value)}
      />
    </form>
  )
}
