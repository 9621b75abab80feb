import { Badge, Button, Card, Flex, Heading, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Link } from 'wouter'
import { CopyBox } from '../../kit/copy.tsx'
import { TextInput } from '../../kit/fields.tsx'
import { Answer, Lines } from '../../kit/page.tsx'
import { useRemembered } from '../../kit/remembered.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'

/** The way from nothing to the first mission. */
export function FirstVisit() {
  return (
    <div className="first">
      <Text as="p" size="3" color="gray">
        Flotilla sends coding agents to work on your repositories, each in a worktree of its own, checks what they did,
        and lands it. Three steps to the first mission:
      </Text>
      <Step number={1} title="Choose a repository">
        <AddProject />
      </Step>
      <Step number={2} title="Check your agents">
        <AgentsHere />
      </Step>
      <Step number={3} title="Describe the work">
        <Text as="p" size="2" color="gray">
          Once you have a project, this page has a box to type the work into. One agent does it, or plans it first, and
          you see the result here.
        </Text>
      </Step>
      <Card>
        <Heading as="h2" size="3" mb="1">
          Or watch it work first
        </Heading>
        <Text as="p" size="2" color="gray" mb="2">
          Run eight missions on a small new repository, in about a minute. You need no account, and nothing of yours is
          touched:
        </Text>
        <CopyBox text="fleet demo" label="the command" />
      </Card>
    </div>
  )
}

function Step({ number, title, children }: { number: number; title: string; children: React.ReactNode }) {
  return (
    <Card>
      <Flex gap="3">
        <span className="step-number" aria-hidden>
          {number}
        </span>
        <div className="step-body">
          <Heading as="h2" size="3" mb="2">
            {title}
          </Heading>
          {children}
        </div>
      </Flex>
    </Card>
  )
}

function AddProject() {
  const [path, setPath] = useState('')
  const [, remember] = useRemembered('project')
  const { run, busy } = useCommand('create_project')
  const place = path.trim().replace(/(.)\/+$/, '$1')
  const add = async () => {
    const project = await run({ path: place, if_exists: 'return' })
    if (!project) return
    remember(project.id)
    tell({ text: `Added project ${project.name}. Describe the work.` })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (place) add()
      }}
    >
      <TextInput
        label="Path on the machine that runs Flotilla"
        hint="A git repository with at least one commit. Agents never touch your checkout."
        placeholder="/home/me/shop"
        value={path}
        set={setPath}
      />
      <Flex mt="3" gap="3" align="center" wrap="wrap">
        <Button type="submit" disabled={!place} loading={busy}>
          Add project
        </Button>
        <Text size="1" color="gray">
          or run <code>fleet init</code> in it
        </Text>
      </Flex>
    </form>
  )
}

function AgentsHere() {
  const agents = useAsk('list_agents', {})
  return (
    <Answer of={agents} loading={<Lines rows={2} height={24} />}>
      {({ agents: list }) => {
        const names = new Map(list.map(agent => [agent.name, agent]))
        return (
          <>
            <Flex gap="2" wrap="wrap">
              {[...names.values()]
                .filter(({ installed }) => installed)
                .map(({ name, title, version, signed_in }) => (
                  <Badge key={name} color={signed_in === false ? 'amber' : 'green'} highContrast size="2">
                    {title}
                    {version && ` ${version}`}
                    {signed_in === false && ', not signed in'}
                  </Badge>
                ))}
            </Flex>
            <Text as="p" size="1" color="gray" mb="0">
              The shell agent runs a script and needs no account. <Link href="/agents">All agents</Link> says what the
              others need.
            </Text>
          </>
        )
      }}
    </Answer>
  )
}
