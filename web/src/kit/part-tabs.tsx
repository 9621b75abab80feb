import { Flex, TabNav, Text } from '@radix-ui/themes'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import './part-tabs.css'

export interface PartTab {
  key: string
  title: string
  address: string
  /** How much is in it. Undefined: not known yet. */
  count: number | undefined
}

/** The parts of a page, each at an address of its own. */
export function PartTabs({ label, tabs, active }: { label: string; tabs: readonly PartTab[]; active: string }) {
  const strip = useRef<HTMLElement>(null)
  // A number that arrives makes its tab wider and pushes others out of view.
  const known = tabs.filter(({ count }) => count !== undefined).length
  // On a phone the tabs are wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is active or where it is follows from them
  useEffect(() => {
    strip.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [active, known])
  return (
    <TabNav.Root ref={strip} className="part-tabs" aria-label={label}>
      {tabs.map(({ key, title, address, count }) => (
        <TabNav.Link key={key} asChild active={key === active}>
          <Link href={address}>
            <Flex gap="1" align="center">
              {title}
              {!!count && (
                <Text size="1" color="gray">
                  {count}
                </Text>
              )}
            </Flex>
          </Link>
        </TabNav.Link>
      ))}
    </TabNav.Root>
  )
}
