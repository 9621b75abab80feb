import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const LOOKS = ['light', 'dark', 'phone'] as const
export type Look = (typeof LOOKS)[number]

const escaped = (text: string): string => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)

/** A page that shows all pictures of a folder, beside those of an earlier one. */
export function writeIndex(folder: string, titles: ReadonlyMap<string, string>, before?: string): void {
  const taken = readdirSync(folder).filter(name => name.endsWith('.png'))
  const names = [...titles.keys()].filter(name => taken.some(file => file.startsWith(`${name}.`)))
  const picture = (from: string, name: string, look: Look, word: string): string => {
    const file = `${name}.${look}.png`
    if (!existsSync(join(from, file))) return `<figure><figcaption>${word}: no such page</figcaption></figure>`
    const address = escaped(join(relative(folder, from), file))
    return `<figure><figcaption>${word}</figcaption><a href="${address}"><img loading="lazy" src="${address}" alt=""></a></figure>`
  }
  const rows = names.map(name => {
    const figures = LOOKS.flatMap(look =>
      before
        ? [picture(before, name, look, `${look}, before`), picture(folder, name, look, `${look}, after`)]
        : [picture(folder, name, look, look)],
    )
    return `<section id="${escaped(name)}"><h2>${escaped(titles.get(name)!)}</h2><div>${figures.join('')}</div></section>`
  })
  const links = names.map(name => `<a href="#${escaped(name)}">${escaped(titles.get(name)!)}</a>`)
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Flotilla, every page</title><style>
:root { color-scheme: light dark } body { font: 15px/1.5 system-ui, sans-serif; margin: 24px }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px } section > div { display: flex; gap: 12px; overflow-x: auto; align-items: start }
figure { margin: 0; flex: none } figcaption { font-size: 13px; opacity: .8 } img { height: 420px; border: 1px solid #8886 }
</style><h1>Every page</h1><nav>${links.join('')}</nav>${rows.join('')}</html>\n`,
  )
}
