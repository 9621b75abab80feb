import { Badge, Button, Flex, Text, TextArea } from '@radix-ui/themes'
import { Check } from 'lucide-react'
import { Link } from 'wouter'
import { shown } from '../../kit/diff/shown.ts'
import { Foreign } from '../../kit/foreign.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { type ConflictedFile, type Decided, draftOf, type Place, placesOf } from './resolution.ts'

interface FileProps {
  file: ConflictedFile
  branch: string
  decided: Decided | undefined
  /** Absent: it cannot be resolved here. */
  decide?(decided: Decided): void
}

/** A file in conflict: what both sides did, and the choices for each place. */
export function FileInConflict({ file, branch, decided, decide }: FileProps) {
  const { path, about, regions, regions_omitted, landed, choices } = file
  const byPlace = decide && choices.includes('places')
  const places = placesOf(decided)
  const settle = (at: number, place: Place) => decide?.({ places: new Map(places).set(at, place) })
  return (
    <article className="conflict-file" aria-label={shown(path)}>
      <header className="conflict-head">
        <code>{shown(path)}</code>
        <Text size="2" color="gray">
          {plain(about)} {path.includes('\\x') && 'Its name is not valid UTF-8.'}
        </Text>
        <Flex gap="2" wrap="wrap" ml="auto">
          {decide &&
            choices.includes('base') &&
            (['base', 'work'] as const).map(side => (
              <Choose
                key={side}
                chosen={decided !== undefined && 'take' in decided && decided.take === side}
                choose={() => decide({ take: side })}
              >
                {wholeFile(file, side, branch)}
              </Choose>
            ))}
        </Flex>
      </header>
      {choices.length === 0 && (
        <Text as="p" size="2" mb="2">
          This kind of conflict cannot be resolved here. Ask the agent, or resolve it in the worktree.
        </Text>
      )}
      <Landed landed={landed} branch={branch} />
      {regions.map((region, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: places are known by their number
        <div key={at} className="conflict-region">
          <div className="conflict-sides">
            <Side text={region.base} label={`On ${branch}`} />
            <Side text={region.work} label="This mission" />
          </div>
          {byPlace && (
            <PlaceChoices
              label={`${shown(path)}, line ${region.line}`}
              region={region}
              branch={branch}
              place={places.get(at)}
              settle={place => settle(at, place)}
            />
          )}
        </div>
      ))}
      {regions_omitted > 0 && (
        <Text as="p" size="2" color="gray">
          {plural(regions_omitted, 'more place')} in this file.
        </Text>
      )}
    </article>
  )
}

function wholeFile({ sides }: ConflictedFile, side: 'base' | 'work', branch: string): string {
  const whose = side === 'base' ? plain(branch) : 'this mission'
  return sides[side] === 'deleted' ? `Delete it, as ${whose} did` : `Use all of ${whose}`
}

interface ChooseProps {
  chosen: boolean
  disabled?: boolean
  choose(): void
  children: string
}

const Choose = ({ chosen, disabled, choose, children }: ChooseProps) => (
  <Button
    size="1"
    variant={chosen ? 'surface' : 'soft'}
    color={chosen ? undefined : 'gray'}
    highContrast
    aria-pressed={chosen}
    disabled={disabled}
    onClick={choose}
  >
    {chosen && <Check size={13} aria-hidden />}
    {children}
  </Button>
)

interface PlaceChoicesProps {
  label: string
  region: ConflictedFile['regions'][number]
  branch: string
  place: Place | undefined
  settle(place: Place): void
}

function PlaceChoices({ label, region, branch, place, settle }: PlaceChoicesProps) {
  const edited = typeof place === 'object' ? place : undefined
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that everybody sees */}
      <div className="conflict-choices" role="group" aria-label={label}>
        <Choose chosen={place === 'base'} choose={() => settle('base')}>
          {`Use ${plain(branch)}`}
        </Choose>
        <Choose chosen={place === 'work'} choose={() => settle('work')}>
          Use this mission
        </Choose>
        <Choose chosen={place === 'both'} choose={() => settle('both')}>
          Use both
        </Choose>
        <Choose
          chosen={edited !== undefined}
          disabled={region.cut}
          choose={() => settle(edited ?? { text: draftOf(region) })}
        >
          Edit
        </Choose>
        {region.cut && (
          <Text size="1" color="gray">
            Too long, or not UTF-8: it cannot be edited here.
          </Text>
        )}
      </div>
      {edited && (
        <TextArea
          autoFocus
          className="conflict-edit"
          aria-label={`Edit ${label}`}
          rows={Math.min(16, Math.max(3, edited.text.split('\n').length + 1))}
          value={edited.text}
          onChange={event => settle({ text: event.target.value })}
        />
      )}
    </>
  )
}

const Side = ({ text, label }: { text: string; label: string }) => (
  <figure aria-label={label}>
    <Text as="div" size="1" color="gray" mb="1">
      {label}
    </Text>
    {text ? (
      <Foreign text={text} code />
    ) : (
      <Text size="1" color="gray">
        no lines
      </Text>
    )}
  </figure>
)

/** The commits on the base branch that the file is in conflict with. */
function Landed({ landed, branch }: Pick<ConflictedFile, 'landed'> & { branch: string }) {
  if (!landed.length) return null
  return (
    <Flex gap="2" align="baseline" wrap="wrap" mb="2" className="conflict-from">
      <Badge color="gray" highContrast>
        Changed on {plain(branch)} by
      </Badge>
      <ul className="conflict-landed">
        {landed.map(({ commit, subject, mission_id, title, author, at }) => (
          <li key={commit}>
            {mission_id ? (
              <Link href={`/missions/${mission_id}`}>{plain(title ?? subject)}</Link>
            ) : (
              <>
                {plain(subject)} by {plain(author)}
              </>
            )}{' '}
            <Text size="1" color="gray">
              <code>{commit.slice(0, 10)}</code> · <Time at={at} />
            </Text>
          </li>
        ))}
      </ul>
    </Flex>
  )
}
