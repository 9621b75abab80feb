let title = 'Flotilla'
let running = 0

function show(): void {
  document.title = `${running ? `(${running}) ` : ''}${title}`
}

/** Sets the title of the page. The number of running agents comes first, so that a background tab shows it. */
export function setTitle(page: string): void {
  title = `${page} · Flotilla`
  show()
}

export function setRunning(count: number): void {
  running = count
  show()
}
