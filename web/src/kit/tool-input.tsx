import { Text } from '@radix-ui/themes'
import { Fragment } from 'react'
import { InlineDiff } from './diff/inline.tsx'
import { Foreign } from './foreign.tsx'
import { plain } from './plain.ts'
import { changesIn } from './tool-changes.ts'
import './tool-input.css'

/** The whole input of a tool: changes to a file as a diff, everything else by field. */
export function ToolInput({ input }: { input: unknown }) {
  const changes = changesIn(input)
  if (typeof input !== 'object' || input === null) return <Foreign text={String(input ?? '')} code />
  const rest = Object.entries(input).filter(([field]) => !changes?.fields.includes(field))
  const [only] = rest
  return (
    <div className="tool-input">
      {only && rest.length === 1 && typeof only[1] === 'string' ? (
        <Foreign text={only[1]} code />
      ) : (
        <dl>
          {rest.map(([field, value]) => (
            <Fragment key={field}>
              <dt>
                <Text size="1">{plain(field)}</Text>
              </dt>
              <dd>
                <Foreign text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} code />
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      {changes?.edits.map((edit, index) => (
        <InlineDiff
          // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call never change their order
          key={index}
          edit={edit}
          named={changes.fields.includes('changes')}
          whole
        />
      ))}
    </div>
  )
}
