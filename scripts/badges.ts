/** The badges of the README, made from package.json, so that they are true and need no service. */
export function badges({ license, engines }: { license: string; engines: { node: string } }): Record<string, string> {
  return {
    'docs/images/licence.svg': badge('licence', license),
    'docs/images/node.svg': badge('node', engines.node),
  }
}

const HEIGHT = 20
const LETTER = 6.6
const PADDING = 10

const escaped = (text: string): string => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)

function badge(name: string, value: string): string {
  const [left, right] = [name, value].map(text => Math.round(text.length * LETTER + 2 * PADDING)) as [number, number]
  const text = (words: string, middle: number): string => `<text x="${middle}" y="14">${escaped(words)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${escaped(`${name}: ${value}`)}">
<clipPath id="round"><rect width="${left + right}" height="${HEIGHT}" rx="4"/></clipPath>
<g clip-path="url(#round)"><rect width="${left}" height="${HEIGHT}" fill="#43484e"/><rect x="${left}" width="${right}" height="${HEIGHT}" fill="#3a5bc7"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">${text(name, left / 2)}${text(value, left + right / 2)}</g>
</svg>
`
}
