import { Button, Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { CopyBox } from '../../kit/copy.tsx'
import '../../kit/fold.css'
import { Foreign } from '../../kit/foreign.tsx'
import { Answer, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay, useMayDo } from '../../live/me.ts'
import './conflict.css'
import { FileInConflict } from './conflict-file.tsx'
import type { Decisions } from './decisions.ts'
import type { Review } from './queue.ts'
import { type Decisions as Decided, progressOf, resolutionsOf, type Standing } from './resolution.ts'

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
            // The decisions are about these two commits only.
            <Resolve
              key={`${found.base.commit} ${found.work.commit}`}
              standing={found}
              mission={mission}
              decisions={decisions}
            />
          )}
        </Answer>
      </div>
    </Section>
  )
}

interface ResolveProps extends ConflictProps {
  standing: Standing
}

function Resolve({ standing, mission, decisions }: ResolveProps) {
  const [decided, setDecided] = useState<Decided>(new Map())
  const { files, files_omitted, in_conflict, base } = standing
  const branch = plain(base.branch)
  const mayResolve = useMay('resolve_conflict', mission.project_id)
  const canResolve = mayResolve && files_omitted === 0 && files.every(({ choices }) => choices.length > 0)
  return (
    <>
      <Text as="p" size="2">
        {in_conflict
          ? `This mission and ${branch} changed the same places. ${plural(files.length + files_omitted, 'file')} cannot be merged.`
          : `The work merges with ${branch} now and can land.`}
      </Text>
      {files.map(file => (
        <FileInConflict
          key={file.path}
          file={file}
          branch={base.branch}
          decided={decided.get(file.path)}
          decide={canResolve ? one => setDecided(before => new Map(before).set(file.path, one)) : undefined}
        />
      ))}
      {files_omitted > 0 && (
        <Text as="p" size="2" color="gray">
          {plural(files_omitted, 'more file')} in conflict. Ask the agent, or resolve them in the worktree.
        </Text>
      )}
      <Rounds standing={standing} />
      <WaysOut
        standing={standing}
        mission={mission}
        decisions={decisions}
        decided={canResolve && in_conflict ? decided : undefined}
      />
    </>
  )
}

const times = (count: number): string => ({ 1: 'once', 2: 'twice' })[count] ?? `${count} times`

function Rounds({ standing: { told, rounds } }: { standing: Standing }) {
  return (
    <>
      <Text as="p" size="2" color="gray">
        {rounds.used
          ? `The agent tried to resolve it ${times(rounds.used)}.`
          : 'The agent has not tried to resolve it yet.'}
        {rounds.left > 0 && ` If it is still there when you land, the agent tries ${times(rounds.left)} more.`}
      </Text>
      {told.map(({ session_id, number, text, outcome, outcome_reason, at }) => (
        <details key={session_id} className="fold">
          <summary>
            <Text size="2">
              Instructions for session {number} (<Time at={at} />
              {outcome && `, ${outcome}`})
            </Text>
          </summary>
          {outcome_reason && <Text size="2">{plain(outcome_reason)}</Text>}
          <Foreign text={text ?? ''} code />
          <Link href={`/sessions/${session_id}`}>Transcript</Link>
        </details>
      ))}
    </>
  )
}

interface WaysOutProps extends ResolveProps {
  /** Absent: it cannot be resolved here. */
  decided: Decided | undefined
}

function WaysOut({ standing, mission, decisions, decided }: WaysOutProps) {
  const [, go] = useLocation()
  const may = useMayDo()
  const resume = useCommand('resume_mission')
  const resolve = useCommand('resolve_conflict')
  const { branch, commit } = standing.base
  const askAgent = async () => {
    const message = `Your work is in conflict with ${branch}. Merge ${branch} into your branch, resolve the conflicts in ${standing.files.map(({ path }) => path).join(', ')} so that both changes are kept, and commit.`
    if (!(await resume.run({ mission_id: mission.id, message }))) return
    tell({
      text: 'The agent resolves the conflict',
      action: { label: 'Watch', run: () => go(`/missions/${mission.id}`) },
    })
    decisions.goOn(1)
  }
  const { done, all } = progressOf(standing.files, decided ?? new Map())
  const files = decided && resolutionsOf(standing.files, decided)
  const byHand = async () => {
    if (!files) return
    const { work } = standing
    if (!(await resolve.run({ mission_id: mission.id, expected: work.commit, base: commit, files }))) return
    tell({ text: 'Conflict resolved. Review the result, then land it.' })
  }
  return (
    <Flex direction="column" gap="3" mt="3">
      <Flex gap="2" wrap="wrap" align="center">
        {decided && (
          <Button loading={resolve.busy} disabled={!files} onClick={byHand}>
            Resolve ({done} of {all})
          </Button>
        )}
        {standing.in_conflict && may('resume_mission', mission.project_id) && (
          <Button
            variant={decided ? 'soft' : 'solid'}
            highContrast={!!decided}
            loading={resume.busy}
            onClick={askAgent}
          >
            Ask the agent
          </Button>
        )}
        {may('land_mission', mission.project_id) && (
          <>
            <Button
              variant={standing.in_conflict ? 'soft' : 'solid'}
              highContrast={standing.in_conflict}
              disabled={decisions.busy}
              onClick={() => decisions.land()}
            >
              {standing.in_conflict ? 'Try to land again' : 'Land'}
            </Button>
            <Button
              variant="soft"
              color="red"
              highContrast
              disabled={decisions.busy}
              onClick={() => decisions.reject()}
            >
              Reject
            </Button>
          </>
        )}
      </Flex>
      {standing.in_conflict && standing.work.worktree && (
        <details className="fold">
          <summary>
            <Text size="2">Resolve it in the worktree</Text>
          </summary>
          <Text as="p" size="2" mb="2">
            The worktree is on the machine of this fleet. Merge there, edit the files until no markers are left, then
            land. Uncommitted changes are committed for you.
          </Text>
          <CopyBox label="the commands" text={commandsFor(standing)} />
        </details>
      )}
    </Flex>
  )
}

/** A path, quoted for a shell if needed. */
const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

function commandsFor({ work, base, files }: Standing): string {
  return [
    `cd ${quoted(work.worktree!)}`,
    `git merge ${quoted(base.branch)}   # skip this if a merge is already in progress`,
    `\${EDITOR:-vi} ${files.map(({ path }) => quoted(path)).join(' ')}`,
  ].join('\n')
}
