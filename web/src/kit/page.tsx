import { Button, Callout, Card, Flex, Heading, Skeleton, Text } from '@radix-ui/themes'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LucideIcon, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Refused } from '../api/client.ts'
import './page.css'
import { setTitle } from './title.ts'

interface PageProps {
  title: string
  /** A few words under the title. */
  about?: ReactNode
  /** Buttons to the right of the title. */
  actions?: ReactNode
  /** Uses the whole height, for views with their own scrolling. */
  filled?: boolean
  /** Uses the whole width, for wide content. */
  wide?: boolean
  children: ReactNode
}

export function Page({ title, about, actions, filled = false, wide = false, children }: PageProps) {
  useEffect(() => {
    setTitle(title)
  }, [title])
  return (
    <div className="page" data-filled={filled || undefined} data-wide={wide || undefined}>
      <header className="page-head">
        <div className="page-title">
          <Heading as="h1" size="6" truncate>
            {title}
          </Heading>
          {about && (
            <Text as="div" size="2" color="gray">
              {about}
            </Text>
          )}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface SectionProps {
  title: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className="section">
      <Flex align="center" justify="between" gap="3" mb="2" minHeight="28px">
        <Heading as="h2" size="3">
          {title}
        </Heading>
        {actions}
      </Flex>
      {children}
    </section>
  )
}

interface EmptyProps {
  icon: LucideIcon
  title: string
  /** What this list is for, and how something gets here. */
  children: ReactNode
  action?: ReactNode
}

/** An empty list explains what it is for. */
export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <Card className="empty">
      <Flex direction="column" align="center" gap="2" p="5">
        <Icon size={28} strokeWidth={1.5} aria-hidden className="empty-icon" />
        <Text size="3" weight="medium">
          {title}
        </Text>
        <Text size="2" color="gray" align="center" className="empty-text">
          {children}
        </Text>
        {action}
      </Flex>
    </Card>
  )
}

/** Grey lines in the size of the answer, so that nothing jumps when it arrives. */
export function Lines({ rows = 4, height = 44 }: { rows?: number; height?: number }) {
  return (
    <Flex direction="column" gap="2" role="status" aria-busy aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => index).map(row => (
        <Skeleton key={row} height={`${height}px`} />
      ))}
    </Flex>
  )
}

/** What went wrong and what to do. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  // The bar at the top says once that this browser is signed out.
  if (error instanceof Refused && error.status === 401) return null
  const isGone = error instanceof Refused && error.status === 404
  return (
    <Callout.Root color="red" role="alert" highContrast>
      <Callout.Icon>
        <TriangleAlert size={16} />
      </Callout.Icon>
      <Callout.Text>
        {error.message} {error instanceof Refused && error.advice}
      </Callout.Text>
      {retry && !isGone && (
        <div>
          <Button size="1" variant="soft" color="red" highContrast onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </Callout.Root>
  )
}

interface AnswerProps<T> {
  of: UseQueryResult<T, Error>
  loading?: ReactNode
  children(answer: T): ReactNode
}

/** An answer, once it is loaded. Before that a placeholder, or why it was refused. */
export function Answer<T>({ of, loading = <Lines />, children }: AnswerProps<T>) {
  // Something that was deleted must not look as if it still exists.
  const isGone = of.error instanceof Refused && of.error.status === 404
  if (of.data !== undefined && !isGone) return children(of.data)
  if (of.error) return <Problem error={of.error} retry={() => of.refetch()} />
  return loading
}
