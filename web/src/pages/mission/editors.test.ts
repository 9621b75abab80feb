import { expect, test } from 'vitest'
import { EDITORS, type Editor, editorLink, isThisMachine } from './editors.ts'

test('a link names the folder, whatever characters are in it', () => {
  const links = (Object.keys(EDITORS) as Editor[]).map(editor => editorLink(editor, '/home/ann/a b/#1?x=%20'))
  expect(links).toEqual([
    'vscode://file/home/ann/a%20b/%231%3Fx%3D%2520',
    'cursor://file/home/ann/a%20b/%231%3Fx%3D%2520',
    'zed://file/home/ann/a%20b/%231%3Fx%3D%2520',
    'idea://open?file=/home/ann/a%20b/%231%3Fx%3D%2520',
  ])
  expect(links.every(link => URL.canParse(link))).toBe(true)
})

test('editors are offered only where the folder is on the same machine', () => {
  expect(['127.0.0.1', 'localhost', '[::1]'].map(isThisMachine)).toEqual([true, true, true])
  expect(['192.168.1.5', 'fleet.example.org', '127.evil.org'].map(isThisMachine)).toEqual([false, false, false])
})
