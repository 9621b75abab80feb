import { Button, Card, Flex, Heading, Text } from '@radix-ui/themes'
import { Sparkles } from 'lucide-react'
import { useRemembered } from '../../kit/remembered.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { AddRepository } from './add-repository.tsx'
import { AgentsHere } from './agents-here.tsx'

/** The way from nothing to the first mission. */
export function FirstVisit() {
  const [, remember] = useRemembered('project')
  const added = (id: string) => {
    remember(id)
    tell({ text: 'Project added. Describe the first task.' })
  }
  const sample = useCommand('create_sample_project', { done: ({ id }) => remember(id) })
  return (
    <div className="first">
      <Text as="p" size="3" color="gray">
        Flotilla runs coding agents on your repositories. Each works in a folder of its own, and nothing changes on your
        branch until it lands.
      </Text>
      <Step number={1} title="Choose a repository">
        <AddRepository added={added} />
      </Step>
      <Step number={2} title="Check your agents">
        <AgentsHere />
      </Step>
      <Card>
        <Flex gap="3" align="center" justify="between" wrap="wrap">
          <div className="step-body">
            <Heading as="h2" size="3" mb="1">
              Or start with a sample project
            </Heading>
            <Text as="p" size="2" color="gray" mb="0">
              Eight scripts build a small ship: side by side, with a retry, a conflict and a review for you. It takes a
              minute and needs no account, and you can delete it at any time.
            </Text>
          </div>
          <Button variant="soft" highContrast loading={sample.busy} onClick={() => sample.run({})}>
            <Sparkles size={16} /> Create sample project
          </Button>
        </Flex>
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
