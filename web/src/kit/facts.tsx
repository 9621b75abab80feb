import { DataList } from '@radix-ui/themes'
import type { ReactNode } from 'react'

/** Names and values, those without a value left out. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  return (
    <DataList.Root size="2" orientation={{ initial: 'vertical', sm: 'horizontal' }}>
      {Object.entries(of)
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
        .map(([name, value]) => (
          <DataList.Item key={name}>
            <DataList.Label minWidth="120px" color="gray" highContrast>
              {name}
            </DataList.Label>
            <DataList.Value>{value}</DataList.Value>
          </DataList.Item>
        ))}
    </DataList.Root>
  )
}
