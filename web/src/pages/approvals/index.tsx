import { Badge, Button, Flex, Table, Text } from '@radix-ui/themes'
import { ShieldCheck } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { allowanceOf } from '../../../../src/domain/rules/tool-words.ts'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { ToolInput } from '../../kit/tool-input.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useWho } from '../../live/names.ts'
import './approvals.css'

type Rule = Output<'list_approval_rules'>['rules'][number]

const SHOWN = 500

/** What agents may do without asking again. */
export default function Approvals() {
  const [search, setSearch] = useSearchParams()
  const project = search.get('project')
  const rules = useAsk('list_approval_rules', { limit: SHOWN, ...(project && { project_id: project }) }, { keep: true })
  return (
    <Page
      title="Approvals"
      about="What agents may do without asking again. A rule covers exactly the command or the files it was made for."
    >
      <div className="approvals-filter">
        <ProjectChooser value={project} set={id => setSearch(id ? { project: id } : {})} none="All projects" />
      </div>
      <Answer of={rules}>
        {({ rules: list, cursor }) =>
          list.length === 0 ? (
            <Empty icon={ShieldCheck} title="No approval rules">
              When an agent asks for permission, you can allow it once, for its session, or always in its project. The
              last two make a rule, which is listed here until you revoke it.
            </Empty>
          ) : (
            <>
              <RuleTable rules={list} />
              {cursor && (
                <Text as="p" size="2" color="gray">
                  The newest {SHOWN} rules. Choose a project to see its older ones.
                </Text>
              )}
            </>
          )
        }
      </Answer>
    </Page>
  )
}

const COLUMNS = ['Allowed', 'Where', 'Agent', 'Since', 'Last used']

function RuleTable({ rules }: { rules: Rule[] }) {
  return (
    <Table.Root variant="surface" className="approvals">
      <Table.Header>
        <Table.Row>
          {COLUMNS.map(title => (
            <Table.ColumnHeaderCell key={title}>{title}</Table.ColumnHeaderCell>
          ))}
          <Table.ColumnHeaderCell>
            <span className="visually-hidden">Revoke</span>
          </Table.ColumnHeaderCell>
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {rules.map(rule => (
          <RuleRow key={rule.id} rule={rule} />
        ))}
      </Table.Body>
    </Table.Root>
  )
}

function RuleRow({ rule }: { rule: Rule }) {
  const who = useWho()
  const titleOf = useAgentTitle()
  const { id, scope, project_id, mission_id, mission_title, tool, agent, created_at, created_by, uses, last_used_at } =
    rule
  const projectName = useProjectNames()
  const revoke = useCommand('revoke_approval_rule', {
    done: () => tell({ text: 'Rule revoked. Agents will ask again.' }),
  })
  return (
    <Table.Row>
      <Table.RowHeaderCell>
        <Text as="div" size="2" mb="1">
          {allowanceOf(tool)}
        </Text>
        <Covered rule={rule} />
      </Table.RowHeaderCell>
      <Table.Cell>
        <Flex direction="column" gap="1" align="start">
          <Link href={`/projects/${project_id}`}>{plain(projectName(project_id))}</Link>
          {scope === 'project' ? (
            <Badge color="amber" highContrast>
              Always in this project
            </Badge>
          ) : (
            <>
              <Badge color="gray" highContrast>
                One session
              </Badge>
              {mission_id && <Link href={`/missions/${mission_id}`}>{plain(mission_title ?? 'Its mission')}</Link>}
            </>
          )}
        </Flex>
      </Table.Cell>
      <Table.Cell>{agent === null ? 'Unknown' : plain(titleOf(agent))}</Table.Cell>
      <Table.Cell>
        <Time at={created_at} />
        <Text as="div" size="1" color="gray">
          by {who(created_by)}
        </Text>
      </Table.Cell>
      <Table.Cell>
        {last_used_at ? (
          <>
            <Time at={last_used_at} />
            <Text as="div" size="1" color="gray">
              {plural(uses, 'time')}
            </Text>
          </>
        ) : (
          'Never'
        )}
      </Table.Cell>
      <Table.Cell>
        <Button
          size="1"
          variant="soft"
          color="red"
          highContrast
          loading={revoke.busy}
          onClick={() => revoke.run({ rule_id: id })}
        >
          Revoke
        </Button>
      </Table.Cell>
    </Table.Row>
  )
}

/** Exactly what the rule covers. */
function Covered({ rule: { subject } }: { rule: Rule }) {
  const { files, ...rest } = JSON.parse(subject) as { files?: string[] }
  if (!files || Object.keys(rest).length > 0) return <ToolInput input={JSON.parse(subject)} />
  return (
    <>
      <ToolInput input={files.join('\n')} />
      <Text as="div" size="1" color="gray">
        Any change to {files.length === 1 ? 'this file' : 'these files'}
      </Text>
    </>
  )
}
