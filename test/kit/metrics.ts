/** One series of what a server exports. */
export interface Series {
  name: string
  labels: Record<string, string>
  value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads the text format of Prometheus, and fails at a line that is none. */
export function seriesIn(text: string): Series[] {
  return text
    .split('\n')
    .filter(line => line && !line.startsWith('#'))
    .map(line => {
      const [, name, labels = '', value] = LINE.exec(line) ?? []
      if (!name || value === undefined) throw new Error(`no line of Prometheus: ${line}`)
      return {
        name,
        labels: Object.fromEntries(Array.from(labels.matchAll(LABEL), ([, label, text]) => [label!, text!])),
        value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
      }
    })
}

/** A name for each series, without its value. */
export const identities = (series: readonly Series[]): string[] =>
  series.map(({ name, labels }) => `${name}${JSON.stringify(Object.entries(labels).toSorted())}`).toSorted()

/** The value of the series with these labels; undefined: there is none. */
export const valueIn = (
  series: readonly Series[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined =>
  series.find(
    each => each.name === name && Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  )?.value

/** The names that each counter of the text has: those must never decrease while the process lives. */
export const counterNames = (text: string): string[] =>
  Array.from(text.matchAll(/^# TYPE (\S+) (counter|histogram)$/gm), ([, name]) => name!)
