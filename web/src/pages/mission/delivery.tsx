import { Code, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { CopyButton } from '../../kit/copy.tsx'
import { Facts } from '../../kit/facts.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useWho } from '../../live/names.ts'
import { type Detail, isKeptRef } from './actions.ts'
import { canPropose, PullRequest } from './pull-request.tsx'
import { Pushed } from './pushed.tsx'

/** How its work reaches others: branch, landing, pull request. */
export function Delivery({ mission }: { mission: Detail }) {
  const { branch, candidate, landed, past_landings } = mission
  return (
    <Facts
      of={{
        Branch: branch && !isKeptRef(branch) && (
          <Flex align="center" gap="2" minWidth="0">
            <Code variant="ghost" truncate title={plain(branch)}>
              {plain(branch)}
            </Code>
            <CopyButton text={branch} label="Copy branch" />
          </Flex>
        ),
        Work: branch && isKeptRef(branch) && (
          <Flex align="center" gap="2">
            Kept as a ref
            <CopyButton text={branch} label="Copy ref" />
          </Flex>
        ),
        Candidate: candidate && <Code variant="ghost">{candidate.commit.slice(0, 10)}</Code>,
        Landed: landed && <Landed landing={landed} />,
        'Landed before': past_landings.length > 0 && (
          <Flex direction="column">
            {past_landings.map(landing => (
              <Landed key={landing.commit} landing={landing} />
            ))}
          </Flex>
        ),
        Pushed: (mission.pushed || canPropose(mission)) && <Pushed mission={mission} />,
        'Pull request': (mission.pull_request || canPropose(mission)) && <PullRequest mission={mission} />,
      }}
    />
  )
}

/** What landed, as which commit, and who approved it. */
function Landed({ landing }: { landing: NonNullable<Detail['landed']> }) {
  const { commit, branch, at, candidate, approved, forced, with: bringer, includes, undone } = landing
  const who = useWho()
  return (
    <Text>
      <Code variant="ghost">{commit.slice(0, 10)}</Code> on {plain(branch)}, <Time at={at} />
      {candidate && candidate !== commit && (
        <>
          , from candidate <Code variant="ghost">{candidate.slice(0, 10)}</Code>
        </>
      )}
      {bringer ? (
        <>
          , with <Link href={`/missions/${bringer}`}>another mission</Link>
        </>
      ) : (
        `, ${approved ? `approved by ${who(approved.by)}` : 'automatically'}`
      )}
      {includes.length > 0 && `, with the work of ${includes.map(({ title }) => plain(title)).join(', ')}`}
      {forced && `, forced by ${who(forced.by)} despite: ${plain(forced.past)}`}
      {undone && (
        <>
          , undone by {undone.by && `${who(undone.by)} as `}
          <Code variant="ghost">{undone.commit.slice(0, 10)}</Code>
        </>
      )}
    </Text>
  )
}
