import { Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import './bars.css'
import { axisTop } from './sums.ts'

interface BarsProps {
  days: string[]
  perDay: ReadonlyMap<string, ReadonlyMap<string, number>>
  series: { key: string; name: string }[]
  show(value: number): string
  title: string
}

const HEIGHT = 180
const NAMED = 5
const STEPS = [1, 0.75, 0.5, 0.25, 0]

const dayNames = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const shortDay = (day: string | undefined): string => (day ? dayNames.format(new Date(day)) : '')

/** One stacked bar per day, with axes. The table below gives the same numbers, so that colours are not needed. */
export function Bars({ days, perDay, series, show, title }: BarsProps) {
  const [pointed, setPointed] = useState<string>()
  const totalOf = (day: string): number => [...(perDay.get(day)?.values() ?? [])].reduce((sum, each) => sum + each, 0)
  const most = Math.max(...days.map(totalOf))
  const top = axisTop(most)
  const toneOf = (key: string): number =>
    Math.min(
      NAMED,
      series.findIndex(each => each.key === key),
    )
  const labels = [...new Set([0, 0.25, 0.5, 0.75, 1].map(part => Math.round(part * (days.length - 1))))]
  return (
    <div>
      <div className="chart">
        <div className="chart-scale" aria-hidden>
          {STEPS.map(step => (
            <span key={step}>{show(step * top)}</span>
          ))}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: pointing shows what the table below says too */}
        <div className="chart-ground" onMouseLeave={() => setPointed(undefined)}>
          {STEPS.map(step => (
            <span key={step} className="chart-line" style={{ bottom: `${step * 100}%` }} />
          ))}
          <svg
            className="bars"
            viewBox={`0 0 ${days.length} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title} by day, at most ${show(most)}`}
          >
            {days.map((day, at) => {
              let below = 0
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: as above
                <g key={day} onMouseEnter={() => setPointed(day)} data-pointed={day === pointed || undefined}>
                  <rect className="bar-ground" x={at} y={0} width={1} height={HEIGHT} />
                  {series.map(({ key }) => {
                    const height = ((perDay.get(day)?.get(key) ?? 0) / top) * HEIGHT
                    below += height
                    return (
                      <rect
                        key={key}
                        className="bar"
                        data-tone={toneOf(key)}
                        x={at + 0.1}
                        y={HEIGHT - below}
                        width={0.8}
                        height={height}
                      />
                    )
                  })}
                </g>
              )
            })}
          </svg>
        </div>
        <div className="chart-days" aria-hidden>
          {labels.map(at => (
            <span key={at}>{shortDay(days[at])}</span>
          ))}
        </div>
      </div>
      <Text as="div" size="1" className="chart-told">
        {pointed ? (
          <>
            <b>{shortDay(pointed)}</b>: {show(totalOf(pointed))}
            {series
              .filter(({ key }) => perDay.get(pointed)?.get(key))
              .slice(0, NAMED)
              .map(({ key, name }) => ` · ${name} ${show(perDay.get(pointed)?.get(key) ?? 0)}`)}
          </>
        ) : (
          `Most in a day: ${show(most)}`
        )}
      </Text>
      <Flex gap="3" mt="2" wrap="wrap">
        {series.slice(0, NAMED).map(({ key, name }) => (
          <Text key={key} size="1" className="bar-name">
            <span className="bar-swatch" data-tone={toneOf(key)} aria-hidden /> {name}
          </Text>
        ))}
        {series.length > NAMED && (
          <Text size="1" className="bar-name">
            <span className="bar-swatch" data-tone={NAMED} aria-hidden /> {series.length - NAMED} more
          </Text>
        )}
      </Flex>
    </div>
  )
}
