import { Badge, Button, Flex, Text } from '@radix-ui/themes'
import { Link, useLocation } from 'wouter'
import type { Output } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { shown } from '../../kit/diff/shown.ts'
import '../../kit/fold.css'
import { Foreign } from '../../kit/foreign.tsx'
import { Answer, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural, shortId } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import './conflict.css'
import type { Decisions } from './decisions.ts'
import type { Review } from './queue.ts'

type Standing = Output<'get_conflict'>

interface ConflictProps {
  mission: Review['mission']
  decisions: Decisions
}

/** A conflict: who changed which lines, and how to resolve it. */
export function Conflict({ mission, decisions }: ConflictProps) {
  const standing = useAsk('get_conflict', { mission_id: mission.id })
  return (
    <Section title="Conflict">
      <div className="conflict">
        <Answer of={standing}>
          {found => (
            <>
              <Text as="p" size="2">
                {found.in_conflict
                  ? `Its work and ${plain(found.base.branch)} changed the same places since it started; ${plural(found.files.length + found.files_omitted, 'file')} cannot be merged.`
                  : `Its work now merges with ${plain(found.base.branch)} and can land.`}
              </Text>
              {found.files.map(file => (
                <ConflictedFile key={file.path} file={file} standing={found} title={plain(mission.title)} />
              ))}
              {found.files_omitted > 0 && (
                <Text as="p" size="2" color="gray">
                  {plural(found.files_omitted, 'more file')} in conflict.
                </Text>
              )}
              <Rounds standing={found} />
              <WaysOut standing={found} mission={mission} decisions={decisions} />
            </>
          )}
        </Answer>
      </div>
    </Section>
  )
}

interface FileProps {
  file: Standing['files'][number]
  standing: Standing
  title: string
}

function ConflictedFile({ file, standing, title }: FileProps) {
  const { path, kind, regions, regions_omitted, landed } = file
  return (
    <article className="conflict-file">
      <header className="conflict-head">
        <code>{shown(path)}</code>{' '}
        <Badge color="red" highContrast>
          {plain(kind)}
        </Badge>
      </header>
      <div className="conflict-sides">
        <div>
          <Text size="2" weight="medium">
            On {plain(standing.base.branch)}
          </Text>
          <ul className="conflict-landed">
            {landed.map(({ commit, subject, mission_id, title: theirs, author, at }) => (
              <li key={commit}>
                {mission_id ? (
                  <Link href={`/missions/${mission_id}`}>{plain(theirs ?? subject)}</Link>
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
        </div>
        <div>
          <Text size="2" weight="medium">
            Here
          </Text>
          <ul className="conflict-landed">
            <li>
              {title}{' '}
              <Text size="1" color="gray">
                by {plain(standing.work.agent)},{' '}
                <Link href={`/sessions/${standing.work.session_id}`}>session {shortId(standing.work.session_id)}</Link>,{' '}
                <code>{standing.work.commit.slice(0, 10)}</code>
              </Text>
            </li>
          </ul>
        </div>
      </div>
      {regions.map(({ line, base, work }) => (
        <div key={line} className="conflict-sides conflict-region">
          <Side text={base} label={`On ${plain(standing.base.branch)}`} />
          <Side text={work} label="Here" />
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

const Side = ({ text, label }: { text: string; label: string }) => (
  <figure aria-label={label}>
    {text ? (
      <Foreign text={text} code />
    ) : (
      <Text size="1" color="gray">
        nothing here
      </Text>
    )}
  </figure>
)

const times = (count: number): string => ({ 1: 'once', 2: 'twice' })[count] ?? `${count} times`

function Rounds({ standing: { told, rounds } }: { standing: Standing }) {
  return (
    <>
      <Text as="p" size="2">
        {rounds.used
          ? `Its agent was sent to resolve it ${times(rounds.used)}`
          : 'Its agent was not sent to resolve it'}
        ;{' '}
        {rounds.left
          ? `if the conflict is still there when you land, the agent is sent ${times(rounds.left)} more.`
          : 'it is not sent again automatically, so you decide.'}
      </Text>
      {told.map(({ session_id, number, text, outcome, outcome_reason, at }) => (
        <details key={session_id} className="fold">
          <summary>
            <Text size="2">
              What it was told in session {number} (<Time at={at} />
              {outcome && `, ${outcome}`})
            </Text>
          </summary>
          {outcome_reason && <Text size="2">{plain(outcome_reason)}</Text>}
          <Foreign text={text ?? ''} code />
          <Link href={`/sessions/${session_id}`}>Its transcript</Link>
        </details>
      ))}
    </>
  )
}

interface WaysOutProps extends ConflictProps {
  standing: Standing
}

function WaysOut({ standing, mission, decisions }: WaysOutProps) {
  const [, go] = useLocation()
  const resume = useCommand('resume_mission')
  const { branch } = standing.base
  const resolve = async () => {
    const message = `Your work is in conflict with ${branch}. Merge ${branch} into your branch, resolve the conflicts in ${standing.files.map(({ path }) => path).join(', ')} so that both changes are kept, and commit.`
    if (!(await resume.run({ mission_id: mission.id, message }))) return
    tell({
      text: 'Its agent resolves the conflict',
      action: { label: 'Watch', run: () => go(`/missions/${mission.id}`) },
    })
    decisions.goOn(1)
  }
  return (
    <Flex direction="column" gap="3" mt="3">
      <Flex gap="2" wrap="wrap">
        <Button loading={resume.busy} onClick={resolve}>
          Have its agent resolve it
        </Button>
        <Button variant="soft" highContrast disabled={decisions.busy} onClick={() => decisions.land()}>
          {standing.in_conflict ? 'It is resolved: land it' : 'Land it'}
        </Button>
        <Button variant="soft" color="red" highContrast disabled={decisions.busy} onClick={() => decisions.reject()}>
          Reject
        </Button>
      </Flex>
      {standing.work.worktree && (
        <details className="fold">
          <summary>
            <Text size="2">Resolve it by hand</Text>
          </summary>
          <Text as="p" size="2" mb="2">
            Its worktree is on this fleet’s machine. Merge there, edit the files until no markers are left, and land.
            Uncommitted changes are committed for you.
          </Text>
          <CopyBox label="the commands" text={commandsFor(standing, mission.id)} />
        </details>
      )}
    </Flex>
  )
}

/** A path, quoted for a shell if needed. */
const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

function commandsFor({ work, base, files }: Standing, missionId: string): string {
  return [
    `cd ${quoted(work.worktree!)}`,
    `git merge ${quoted(base.branch)}   # skip this if a merge is already in progress`,
    `\${EDITOR:-vi} ${files.map(({ path }) => quoted(path)).join(' ')}`,
    `fleet mission land ${missionId}`,
  ].join('\n')
}
