/** Editors that open a folder by a link, and how the link is made from an encoded path. */
export const EDITORS = {
  vscode: { title: 'VS Code', link: (path: string) => `vscode://file${path}` },
  cursor: { title: 'Cursor', link: (path: string) => `cursor://file${path}` },
  zed: { title: 'Zed', link: (path: string) => `zed://file${path}` },
  jetbrains: { title: 'JetBrains IDE', link: (path: string) => `idea://open?file=${path}` },
} as const
export type Editor = keyof typeof EDITORS

/** A link that opens a folder of this machine in an editor. */
export const editorLink = (editor: Editor, path: string): string =>
  EDITORS[editor].link(path.split('/').map(encodeURIComponent).join('/'))

/** Links open programs of the machine that the browser runs on, so they help only where the fleet runs too. */
export const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)
