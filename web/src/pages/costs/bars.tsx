import { Flex, Text } from '@radix-ui/themes'
import './bars.css'

interface BarsProps {
  days: string[]
  perDay: ReadonlyMap<string, ReadonlyMap<string, number>>
  series: { key: string; name: string }[]
  show(value: number): string
  title: string
}

const HEIGHT = 180
const NAMED = 5

/**
 * One stacked bar per day. The table below and the titles of the bars give the numbers, so that colours are not needed.
 */
export function Bars({ days, perDay, series, show, title }: BarsProps) {
  const totals = days.map(day => [...(perDay.get(day)?.values() ?? [])].reduce((sum, value) => sum + value, 0))
  const most = Math.max(...totals, Number.MIN_VALUE)
  const toneOf = (key: string): number =>
    Math.min(
      NAMED,
      series.findIndex(each => each.key === key),
    )
  return (
    <div>
      <Flex justify="between" mb="1">
        <Text size="1" color="gray">
          {days[0]}
        </Text>
        <Text size="1" color="gray">
          most in a day: {show(most)}
        </Text>
        <Text size="1" color="gray">
          {days.at(-1)}
        </Text>
      </Flex>
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
            <g key={day}>
              <title>{`${day}: ${show(totals[at] ?? 0)}`}</title>
              <rect className="bar-ground" x={at} y={0} width={1} height={HEIGHT} />
              {series.map(({ key }) => {
                const height = ((perDay.get(day)?.get(key) ?? 0) / most) * HEIGHT
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
