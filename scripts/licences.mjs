// The licence texts of everything in the bundle; they are distributed with it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//
const TEXTS = /^(licen[cs]e|copying|notice)/i

/** The texts of licences, for packages that only name theirs. */
const KNOWN = {
  MIT: owner => `The MIT License (MIT)

Copyright (c) ${owner}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  Unlicense: () => `This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

For more information, please refer to <https://unlicense.org>`,
}

/** The folders of the packages that are part of a bundle. */
export function packagesIn(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)))
  return [...new Set(inputs.map(path => PACKAGE.exec(path)?.[1]).filter(Boolean))].sort()
}

function licenceOf(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter(file => TEXTS.test(file))
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim())
  return { ...about, text: texts.join('\n\n') || known(about) }
}

function known({ name, license, author }) {
  const owner = author?.name ?? author
  if (!KNOWN[license] || !owner) throw new Error(`${name} is bundled and has no licence text.`)
  return KNOWN[license](owner)
}

function section(folder) {
  const { name, version, license, text } = licenceOf(folder)
  return `${name} ${version} (${license})\n\n${text}`
}

export const licencesOf = (root, metafiles) =>
  [
    'Flotilla contains the following packages. Those of its page are in web/licenses.md.',
    ...packagesIn(metafiles).map(folder => section(join(root, folder))),
  ].join(`\n\n${'-'.repeat(80)}\n\n`)

/** Vite leaves a heading without a text if a package only names its licence. */
export const completed = (root, markdown) =>
  markdown.replace(
    /^## (\S+) - .*\n(?=\s*(?:## |$(?![\s\S])))/gm,
    (heading, name) => `${heading}\n${licenceOf(join(root, 'node_modules', name)).text}\n`,
  )
